package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// windowFunction is what a name with OVER stands for, besides the aggregates.
type windowFunction struct {
	name string
	kind expr.WindowKind
	call string // of the list of functions
	// min and max are how many arguments there are.
	min, max int
}

var windowFunctions = []windowFunction{
	{"row_number", expr.RowNumber, "row_number() OVER (ORDER BY x)", 0, 0},
	{"rank", expr.Rank, "rank() OVER (ORDER BY x)", 0, 0},
	{"dense_rank", expr.DenseRank, "dense_rank() OVER (ORDER BY x)", 0, 0},
	{"percent_rank", expr.PercentRank, "percent_rank() OVER (ORDER BY x)", 0, 0},
	{"cume_dist", expr.CumeDist, "cume_dist() OVER (ORDER BY x)", 0, 0},
	{"ntile", expr.Ntile, "ntile(n) OVER (ORDER BY x)", 1, 1},
	{"lag", expr.Lag, "lag(x [, n [, other]]) OVER (ORDER BY y)", 1, 3},
	{"lead", expr.Lead, "lead(x [, n [, other]]) OVER (ORDER BY y)", 1, 3},
	{"first_value", expr.FirstValue, "first_value(x) OVER (ORDER BY y)", 1, 1},
	{"last_value", expr.LastValue, "last_value(x) OVER (ORDER BY y)", 1, 1},
	{"nth_value", expr.NthValue, "nth_value(x, n) OVER (ORDER BY y)", 2, 2},
}

// windowOf is the window function of a name; nil for none.
func windowOf(name string) *windowFunction {
	if i := slices.IndexFunc(windowFunctions, func(f windowFunction) bool { return f.name == name }); i >= 0 {
		return &windowFunctions[i]
	}
	return nil
}

// places name the clauses in which neither aggregates nor window functions stand.
var places = map[place]string{inWhere: "WHERE", inJoin: "ON", inGroup: "GROUP BY", inLimit: "LIMIT or OFFSET",
	inSet: "UPDATE", inValues: "VALUES", inTable: "the definition of a table", inUsing: "USING"}

// windowed binds a call with OVER, or of a function that needs one.
func (c *call) windowed() expr.Expr {
	f := windowOf(c.name)
	switch {
	case c.Over == nil:
		panic(c.coded(sqlstate.WrongObjectType, "window function %s requires an OVER clause", c.name))
	case c.place == inAggregate:
		panic(c.coded(sqlstate.GroupingError, "aggregate function calls cannot contain window function calls"))
	case c.place != inItems:
		panic(c.coded(sqlstate.WindowingError, "window functions are not allowed in %s", places[c.place]))
	case c.inWindow:
		panic(c.coded(sqlstate.WindowingError, "window function calls cannot be nested"))
	case f == nil && c.bind == nil:
		panic(c.coded(sqlstate.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", clipped(c.name)))
	case c.AggDistinct:
		panic(c.coded(sqlstate.FeatureNotSupported, "DISTINCT is not supported for window functions"))
	case c.within || c.kind == expr.Selectivity && f == nil:
		panic(c.coded(sqlstate.FeatureNotSupported, "OVER is not supported for %s", c.name))
	case len(c.AggOrder) > 0:
		panic(c.coded(sqlstate.FeatureNotSupported, "ORDER BY inside %s is not supported with OVER: the window's ORDER BY says it", c.name))
	case f != nil && c.AggFilter != nil:
		panic(c.coded(sqlstate.FeatureNotSupported, "FILTER is not supported for non-aggregate window functions"))
	}
	c.inWindow = true
	defer func() { c.inWindow = false }()
	if f == nil {
		return c.bind(c) // which ends in finished, and that in over
	}
	if n := len(c.Args); c.AggStar || n < f.min || n > f.max {
		panic(c.coded(sqlstate.UndefinedFunction, "%s: want %s", c.name, f.call))
	}
	w := &expr.Window{Kind: f.kind, T: bigint, P: c.at}
	for _, a := range c.Args {
		w.Args = append(w.Args, c.expr(a))
	}
	whole := func(i int) {
		if w.Args[i] = coerce(w.Args[i], bigint); !w.Args[i].Type().IsInteger() {
			panic(c.coded(sqlstate.UndefinedFunction, "function %s(%s) does not exist: its number is an integer", c.name, typeName(w.Args[i].Type())))
		}
	}
	switch f.kind {
	case expr.PercentRank, expr.CumeDist:
		w.T = double
	case expr.Ntile:
		whole(0)
		w.T = table.Type{Kind: table.Integer}
	case expr.NthValue:
		whole(1)
	}
	if f.kind >= expr.Lag {
		w.Args[0] = asText(w.Args[0])
		if len(w.Args) > 1 {
			whole(1)
		}
		if len(w.Args) > 2 {
			list := oneType(unified(c.name, []expr.Expr{w.Args[0], w.Args[2]}, c.at))
			w.Args[0], w.Args[2] = list[0], list[1]
		}
		w.T = w.Args[0].Type()
	}
	return c.over(w)
}

// over is a window function with what its OVER says.
func (c *call) over(w *expr.Window) expr.Expr {
	w.Frame = expr.DefaultFrame
	def := c.Over
	if def.Name != "" {
		def = c.namedWindow(def.Name, nil, int(def.Location))
	}
	c.window(w, def, false)
	return w
}

// namedWindow is the window that WINDOW names, before another one of these; nil for any.
func (b *binder) namedWindow(name string, before *pg.WindowDef, loc int) *pg.WindowDef {
	for _, n := range b.sel.WindowClause {
		w := n.GetWindowDef()
		if w == before {
			break
		}
		if w.Name == name {
			return w
		}
	}
	panic(b.coded(sqlstate.UndefinedObject, loc, "window %q does not exist", clipped(name)))
}

// window adds what a window definition says, after what the one says that it refers to; it reports an ORDER BY.
func (c *call) window(w *expr.Window, def *pg.WindowDef, copied bool) (ordered bool) {
	loc := int(def.Location)
	if def.Refname != "" {
		base := c.namedWindow(def.Refname, def, loc)
		ordered = c.window(w, base, true)
		switch {
		case len(def.PartitionClause) > 0:
			panic(c.binder.coded(sqlstate.WindowingError, loc, "cannot override PARTITION BY clause of window %q", clipped(def.Refname)))
		case len(def.OrderClause) > 0 && ordered:
			panic(c.binder.coded(sqlstate.WindowingError, loc, "cannot override ORDER BY clause of window %q", clipped(def.Refname)))
		case base.FrameOptions&frameNonDefault != 0:
			panic(c.binder.coded(sqlstate.WindowingError, loc, "cannot copy window %q because it has a frame clause", clipped(def.Refname)))
		}
	}
	for _, n := range def.PartitionClause {
		if e := asText(c.expr(n)); !isConstant(e) && at(e, w.Partition) < 0 {
			w.Partition = append(w.Partition, e)
		}
	}
	for _, n := range def.OrderClause {
		by := n.GetSortBy()
		if by.SortbyDir == pg.SortByDir_SORTBY_USING {
			panic(c.binder.coded(sqlstate.FeatureNotSupported, int(by.Location), "ORDER BY ... USING is not supported; write ASC or DESC"))
		}
		if e := asText(c.expr(by.Node)); !isConstant(e) {
			w.Order = append(w.Order, directed(e, by))
		}
	}
	ordered = ordered || len(def.OrderClause) > 0
	if !copied {
		c.frame(w, def, ordered)
	}
	return ordered
}

// The bits of a frame's options, as PostgreSQL's parser has them.
const (
	frameNonDefault            = 0x1
	frameRows                  = 0x4
	frameGroups                = 0x8
	frameStartUnbounded        = 0x20
	frameEndUnboundedPreceding = 0x40
	frameStartUnboundedFollow  = 0x80
	frameEndUnbounded          = 0x100
	frameStartCurrent          = 0x200
	frameEndCurrent            = 0x400
	frameStartPreceding        = 0x800
	frameEndPreceding          = 0x1000
	frameStartFollowing        = 0x2000
	frameEndFollowing          = 0x4000
	frameExcludeCurrent        = 0x8000
	frameExcludeGroup          = 0x10000
	frameExcludeTies           = 0x20000
)

// frame binds the frame of a window definition.
func (c *call) frame(w *expr.Window, def *pg.WindowDef, ordered bool) {
	o, loc := def.FrameOptions, int(def.Location)
	has := func(bit int32) bool { return o&bit != 0 }
	f := &w.Frame
	switch {
	case has(frameRows):
		f.Mode = expr.FrameRows
	case has(frameGroups):
		f.Mode = expr.FrameGroups
		if !ordered {
			panic(c.binder.coded(sqlstate.WindowingError, loc, "GROUPS mode requires an ORDER BY clause"))
		}
	}
	bound := func(preceding, current, following, unboundedFollowing int32, offset *pg.Node, which string) expr.Bound {
		switch {
		case has(current):
			return expr.Bound{Kind: expr.CurrentRow}
		case has(preceding):
			return expr.Bound{Kind: expr.Preceding, Offset: c.offset(w, offset, which)}
		case has(following):
			return expr.Bound{Kind: expr.Following, Offset: c.offset(w, offset, which)}
		case has(unboundedFollowing):
			return expr.Bound{Kind: expr.UnboundedFollowing}
		}
		return expr.Bound{Kind: expr.UnboundedPreceding}
	}
	f.Start = bound(frameStartPreceding, frameStartCurrent, frameStartFollowing, frameStartUnboundedFollow, def.StartOffset, "starting")
	f.End = bound(frameEndPreceding, frameEndCurrent, frameEndFollowing, frameEndUnbounded, def.EndOffset, "ending")
	switch {
	case has(frameExcludeCurrent):
		f.Exclude = expr.ExcludeCurrentRow
	case has(frameExcludeGroup):
		f.Exclude = expr.ExcludeGroup
	case has(frameExcludeTies):
		f.Exclude = expr.ExcludeTies
	}
}

// offset binds the distance of a bound: a constant, of rows or groups, or one that ORDER BY's values move by.
func (c *call) offset(w *expr.Window, n *pg.Node, which string) expr.Expr {
	if w.Frame.Mode == expr.FrameRange && len(w.Order) != 1 {
		panic(expr.Coded(sqlstate.WindowingError, c.at, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"))
	}
	e := c.expr(n)
	want := bigint
	if w.Frame.Mode == expr.FrameRange {
		switch key := w.Order[0].E.Type(); {
		case key.Kind == table.Date || key.Kind == table.Timestamp || key.Kind == table.Interval:
			want = table.Type{Kind: table.Interval}
		case key.IsFloat():
			want = double
		case key.IsNumeric():
			want = key
			if t := e.Type(); t.IsNumeric() && !isUnknown(e) {
				want = t
			}
		default:
			panic(expr.Coded(sqlstate.FeatureNotSupported, c.at, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", typeName(key)))
		}
	}
	e = coerce(e, want)
	if want == double && e.Type().IsNumeric() {
		e = convert(e, double, e.Pos())
	}
	k, ok := e.(*expr.Const)
	switch t := e.Type(); {
	case !ok:
		panic(expr.Coded(sqlstate.InvalidColumnReference, e.Pos(), "the frame %s offset is no constant", which))
	case want.Kind == table.Interval != (t.Kind == table.Interval), want == bigint && !t.IsInteger(), want.IsNumeric() && !t.IsNumeric():
		panic(expr.Coded(sqlstate.SyntaxError, e.Pos(), "a frame %s offset of type %s does not go with %s", which, typeName(t), map[bool]string{true: "ROWS and GROUPS, which count", false: "the type of ORDER BY"}[w.Frame.Mode != expr.FrameRange]))
	case k.V.Null:
		panic(expr.Coded(sqlstate.NullNotAllowed, e.Pos(), "frame %s offset must not be null", which))
	case t.IsFloat() && !(k.V.F >= 0), !t.IsFloat() && (k.V.I < 0 || k.V.Months < 0 || k.V.Big != nil):
		if w.Frame.Mode == expr.FrameRange {
			panic(expr.Coded(sqlstate.InvalidFrameOffset, e.Pos(), "invalid preceding or following size in window function"))
		}
		panic(expr.Coded(sqlstate.InvalidFrameOffset, e.Pos(), "frame %s offset must not be negative", which))
	}
	return k
}

// noWindow fails where an expression has a window function.
func noWindow(e expr.Expr, clause string) {
	expr.Walk(e, func(e expr.Expr) {
		if w, ok := e.(*expr.Window); ok {
			panic(expr.Coded(sqlstate.WindowingError, w.P, "window functions are not allowed in %s", clause))
		}
	})
}
