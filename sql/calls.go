package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// aggregate is what a name in the select list stands for.
type aggregate struct {
	name string
	kind expr.AggKind
	bind func(*call) expr.Expr
	// takes reports a type of the argument; nil for any.
	takes func(t table.Type) bool
	// within says that the argument stands in WITHIN GROUP (ORDER BY x).
	within bool
}

// aggregates lists what there is. It is filled here, since binding arguments leads back to it.
var aggregates []aggregate

func init() {
	whole := table.Type.IsInteger
	number, ordered, truth := table.Type.IsNumeric, func(t table.Type) bool { return t.Kind != table.Boolean }, func(t table.Type) bool { return t.Kind == table.Boolean }
	summed := func(t table.Type) bool { return t.IsNumeric() || t.Kind == table.Interval }
	of := func(name string, kind expr.AggKind, takes func(table.Type) bool) aggregate {
		return aggregate{name: name, kind: kind, bind: (*call).ofOne, takes: takes}
	}
	pair := func(name string, kind expr.AggKind) aggregate {
		return aggregate{name: name, kind: kind, bind: (*call).ofTwo, takes: number}
	}
	aggregates = []aggregate{
		{name: "count", kind: expr.Count, bind: (*call).count},
		of("sum", expr.Sum, summed), of("avg", expr.Avg, summed), of("min", expr.Min, ordered), of("max", expr.Max, ordered),
		of("median", expr.Percentile, nil), of("any_value", expr.AnyValue, nil),
		of("bool_and", expr.BoolAnd, truth), of("every", expr.BoolAnd, truth), of("bool_or", expr.BoolOr, truth),
		of("bit_and", expr.BitAnd, whole), of("bit_or", expr.BitOr, whole), of("bit_xor", expr.BitXor, whole),
		of("var_pop", expr.VarPop, number), of("var_samp", expr.VarSamp, number), of("variance", expr.VarSamp, number),
		of("stddev_pop", expr.StddevPop, number), of("stddev_samp", expr.StddevSamp, number), of("stddev", expr.StddevSamp, number),
		pair("corr", expr.Corr), pair("covar_pop", expr.CovarPop), pair("covar_samp", expr.CovarSamp),
		pair("regr_count", expr.RegrCount), pair("regr_avgx", expr.RegrAvgX), pair("regr_avgy", expr.RegrAvgY),
		pair("regr_sxx", expr.RegrSXX), pair("regr_syy", expr.RegrSYY), pair("regr_sxy", expr.RegrSXY),
		pair("regr_slope", expr.RegrSlope), pair("regr_intercept", expr.RegrIntercept), pair("regr_r2", expr.RegrR2),
		{name: "string_agg", kind: expr.StringAgg, bind: (*call).texts, takes: func(t table.Type) bool { return t.Kind == table.Varchar }},
		{name: "percentile_disc", kind: expr.Percentile, bind: (*call).percentile, within: true},
		{name: "percentile_cont", kind: expr.PercentileCont, bind: (*call).percentile, takes: number, within: true},
		{name: "mode", kind: expr.Mode, bind: (*call).mode, within: true},
		{name: "kth_largest", kind: expr.KthLargest, bind: (*call).kth}, {name: "kth_smallest", kind: expr.KthSmallest, bind: (*call).kth},
		{name: "selectivity", kind: expr.Selectivity, bind: (*call).selectivity},
	}
}

// call is a function call that is being bound.
type call struct {
	*binder
	*pg.FuncCall
	aggregate
	at       int       // where it stands in the text
	fraction expr.Expr // of percentiles of an array, the one that is bound; else nil
}

func (c *call) errorf(format string, args ...any) error {
	return c.coded(sqlstate.SyntaxError, format, args...)
}

func (c *call) coded(code sqlstate.Code, format string, args ...any) error {
	return expr.Coded(code, c.at, format, args...)
}

func (b *binder) call(n *pg.FuncCall) expr.Expr { return b.callAt(n, nil) }

// callAt is call, for one fraction of an array of them where that is not nil.
func (b *binder) callAt(n *pg.FuncCall, fraction expr.Expr) expr.Expr {
	c := &call{b, n, aggregate{name: lastName(n.Funcname)}, b.pos(int(n.Location)), fraction}
	if i := slices.IndexFunc(aggregates, func(a aggregate) bool { return a.name == c.name }); i >= 0 {
		c.aggregate = aggregates[i]
	}
	c.supported()
	if c.Over != nil || windowOf(c.name) != nil {
		return c.windowed()
	}
	if c.bind == nil {
		return c.scalar()
	}
	if o, level := b.aggregates(n); level > 0 {
		return &expr.Outer{X: o.callAt(n, fraction), Level: level}
	}
	switch {
	case b.place == inAggregate:
		panic(c.coded(sqlstate.GroupingError, "aggregate function calls cannot be nested"))
	case b.place != inItems:
		panic(c.coded(sqlstate.GroupingError, "aggregate functions are not allowed in %s", places[b.place]))
	case b.merged:
		panic(c.coded(sqlstate.GroupingError, "aggregate functions are not allowed in %s", places[inValues]))
	}
	b.place = inAggregate
	defer func() { b.place = inItems }()
	return c.bind(c)
}

// supported fails at the first part of the call that is not.
func (c *call) supported() {
	switch {
	case len(c.Funcname) > 1 && c.Funcname[0].GetString_().GetSval() != "pg_catalog":
		panic(c.coded(sqlstate.FeatureNotSupported, "a schema before a function's name is not supported"))
	case whyNot[c.name] != "":
		panic(c.coded(sqlstate.FeatureNotSupported, "%s() is not supported: %s", c.name, whyNot[c.name]))
	case c.bind == nil && !slices.Contains(Functions(), c.name):
		panic(c.coded(sqlstate.UndefinedFunction, "function %s is not supported%s", clipped(c.name), suggest(c.name, Functions(), "functions")))
	case c.bind == nil && c.Over == nil && (c.AggFilter != nil || c.AggDistinct || len(c.AggOrder) > 0):
		panic(c.coded(sqlstate.WrongObjectType, "%s is no aggregate function: DISTINCT, ORDER BY and FILTER do not belong to it", c.name))
	case c.AggDistinct && (c.kind == expr.KthLargest || c.kind == expr.KthSmallest || c.kind == expr.Selectivity || c.kind >= expr.Corr):
		panic(c.coded(sqlstate.FeatureNotSupported, "%s(DISTINCT ...) is not supported", c.name))
	case c.FuncVariadic:
		panic(c.coded(sqlstate.FeatureNotSupported, "VARIADIC is not supported"))
	case c.AggWithinGroup && !c.within:
		panic(c.coded(sqlstate.UndefinedFunction, "WITHIN GROUP belongs to percentile_disc, percentile_cont and mode, not to %s", c.name))
	case !c.AggWithinGroup && c.within:
		panic(c.coded(sqlstate.UndefinedFunction, "%s needs WITHIN GROUP: %s WITHIN GROUP (ORDER BY x)", c.name, map[bool]string{true: "mode()", false: c.name + "(0.5)"}[c.kind == expr.Mode]))
	case len(c.AggOrder) > 0 && !c.within && c.kind != expr.StringAgg:
		panic(c.coded(sqlstate.FeatureNotSupported, "ORDER BY inside %s is not supported", c.name))
	}
}

// of binds what the aggregate is of: the argument n.
func (c *call) of(n *pg.Node) expr.Aggregate {
	e := c.expr(n)
	if isUnknown(e) && c.takes != nil && !c.takes(varchar) { // a NULL, or text
		t := boolean
		switch {
		case c.kind >= expr.Corr:
			t = double
		case c.takes(bigint):
			t = bigint
		}
		e = coerce(e, t)
	}
	e = asText(e)
	if c.takes != nil && !c.takes(e.Type()) {
		panic(c.coded(sqlstate.UndefinedFunction, "function %s(%s) does not exist%s", c.name, typeName(e.Type()), c.instead(e.Type())))
	}
	a := expr.Aggregate{Kind: c.kind, Col: -1, Name: e.String(), Arg: e.Type(), P: c.at}
	if col, ok := e.(*expr.Column); ok {
		a.Col, a.Name, a.Table = col.Index, col.Name, col.Table
	} else {
		a.X = e
	}
	return a
}

// instead says what there is for an argument of a type that the aggregate does not take.
func (c *call) instead(t table.Type) string {
	switch isOrder := c.kind == expr.Min || c.kind == expr.Max; {
	case isOrder && t.Kind == table.Boolean:
		return "; there are bool_and and bool_or"
	case c.kind == expr.BitAnd || c.kind == expr.BitOr || c.kind == expr.BitXor:
		return "; it takes integers: write " + c.name + "(x::bigint)"
	case (c.kind == expr.Sum || c.kind == expr.Avg) && t.Kind == table.Boolean:
		return "; write " + c.name + "(x::int)"
	case (c.kind == expr.Sum || c.kind == expr.Avg) && t.Kind == table.Varchar:
		return "; of text that is numbers write " + c.name + "(x::numeric(18, 2))"
	case c.kind == expr.StringAgg:
		return "; it takes text: write string_agg(x::text, ', ')"
	case c.kind == expr.PercentileCont:
		return "; it takes numbers, percentile_disc any type"
	}
	return ""
}

// finished is the aggregate with its DISTINCT and FILTER.
func (c *call) finished(a expr.Aggregate) expr.Expr {
	switch a.Kind {
	case expr.CountAll, expr.Min, expr.Max, expr.BoolAnd, expr.BoolOr, expr.BitAnd, expr.BitOr, expr.AnyValue: // as well of values that come more often
	default:
		a.Distinct = c.AggDistinct
	}
	if c.AggFilter != nil {
		f := c.boolean(c.AggFilter, "FILTER")
		if k, ok := f.(*expr.Const); !ok || k.V.Null || k.V.I == 0 {
			a.Filter = f
		}
	}
	if c.Over != nil {
		return c.over(&expr.Window{Kind: expr.OfAggregate, Agg: a, T: a.Type(), P: c.at})
	}
	return c.binder.aggregate(a)
}

// ofOne binds the aggregates of one argument.
func (c *call) ofOne() expr.Expr {
	if most := map[string]string{"max": "greatest", "min": "least"}[c.name]; most != "" && len(c.Args) > 1 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes one argument; write %s(x, y) for that of several", c.name, most))
	}
	if c.AggStar || len(c.Args) != 1 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes one argument", c.name))
	}
	a := c.of(c.Args[0])
	if a.Arg.Kind == table.Interval && (a.Kind == expr.Sum || a.Kind == expr.Avg) {
		return c.ofIntervals(a)
	}
	if a.Kind == expr.Percentile {
		a.F, a.Median = 0.5, true
	}
	return c.finished(a)
}

// ofIntervals is the sum or the mean of intervals: of their months, their days and their times of day, each for itself.
func (c *call) ofIntervals(a expr.Aggregate) expr.Expr {
	mean, x := a.Kind == expr.Avg, a.Argument()
	if c.AggDistinct {
		panic(c.coded(sqlstate.FeatureNotSupported, "%s(DISTINCT ...) of intervals is not supported; write SELECT %s(d) FROM (SELECT DISTINCT %s AS d FROM ...) s", c.name, c.name, x))
	}
	sum := func(part string) expr.Expr {
		of := function(part, []expr.Expr{x}, c.at)
		return c.finished(expr.Aggregate{Kind: expr.Sum, Col: -1, X: of, Name: of.String(), Arg: of.Type(), P: c.at})
	}
	all := function("interval_of", []expr.Expr{sum("interval_months"), sum("interval_days"), sum("interval_clock")}, c.at)
	if !mean {
		return all
	}
	a.Kind = expr.Count
	return function("/", []expr.Expr{all, c.finished(a)}, c.at)
}

// ofTwo binds the aggregates of pairs of numbers, which are of DOUBLE PRECISION.
func (c *call) ofTwo() expr.Expr {
	if c.AggStar || len(c.Args) != 2 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes two arguments: %s(y, x)", c.name, c.name))
	}
	x, y := c.of(c.Args[0]), c.of(c.Args[1])
	a := expr.Aggregate{Kind: c.kind, Col: -1, X: widen(x.Argument(), double), Y: widen(y.Argument(), double), Arg: double, P: c.at}
	a.Name = a.X.String()
	return c.finished(a)
}

// texts binds string_agg(x, separator [ORDER BY ...]).
func (c *call) texts() expr.Expr {
	if c.AggStar || len(c.Args) != 2 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes a text and what separates it from the one before: %s(x, ', ')", c.name, c.name))
	}
	a := c.of(c.Args[0])
	a.Separator = coerce(c.expr(c.Args[1]), varchar)
	if t := a.Separator.Type(); t.Kind != table.Varchar {
		panic(expr.Coded(sqlstate.SyntaxError, a.Separator.Pos(), "what separates the texts of %s is text, not %s", c.name, typeName(t)))
	}
	for _, n := range c.AggOrder {
		by := n.GetSortBy()
		if by.SortbyDir == pg.SortByDir_SORTBY_USING {
			panic(c.coded(sqlstate.FeatureNotSupported, "ORDER BY ... USING is not supported; write ASC or DESC"))
		}
		if e := asText(c.expr(by.Node)); !isConstant(e) {
			a.Order = append(a.Order, directed(e, by))
		}
	}
	if c.AggDistinct {
		x := a.Argument()
		switch {
		case !isConstant(a.Separator):
			panic(c.coded(sqlstate.FeatureNotSupported, "%s(DISTINCT ...) takes a constant to separate the texts", c.name))
		case len(a.Order) == 0:
			a.Order = []expr.SortKey{{E: x}}
		case len(a.Order) > 1 || a.Order[0].E.String() != x.String():
			panic(c.coded(sqlstate.InvalidColumnReference, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list: write ORDER BY %s", x))
		}
	}
	return c.finished(a)
}

func (c *call) selectivity() expr.Expr {
	if len(c.Args) > 0 || c.AggStar {
		panic(c.coded(sqlstate.UndefinedFunction, "%s() takes no argument; it is the fraction of the table's records that WHERE selects", c.name))
	}
	if len(c.scope.tables) > 1 {
		panic(c.coded(sqlstate.FeatureNotSupported, "%s() is of one table; of a join take COUNT(*)", c.name))
	}
	return c.finished(expr.Aggregate{Kind: c.kind, Col: -1, P: c.at})
}

// wholeRow reports t.*, or t where that is a table and no column.
func (b *binder) wholeRow(n *pg.ColumnRef) bool {
	fields := n.GetFields()
	switch {
	case len(fields) == 0 || b.scope == nil:
		return false
	case fields[len(fields)-1].GetAStar() != nil:
		if len(fields) == 2 {
			b.qualified(b.spelled(int(n.Location), fields[0].GetString_().GetSval())[0], int(n.Location))
		}
		return true
	}
	return len(fields) == 1 && b.isTable(b.parts(int(n.Location), fields)[0])
}

// isTable reports the name of a table in FROM that no column has.
func (b *binder) isTable(n name) bool {
	if b.scope == nil {
		return false
	}
	column, columns := lookup(n, b.scope.visibleNames())
	table, _ := lookup(n, b.scope.aliases())
	return column < 0 && columns == 0 && table >= 0
}

// joinsOuter reports an outer join in FROM.
func (b *binder) joinsOuter() (found bool) {
	for _, item := range b.sel.FromClause {
		eachNode(item, func(m proto.Message) {
			j, ok := m.(*pg.JoinExpr)
			found = found || ok && j.Jointype != pg.JoinType_JOIN_INNER
		})
	}
	return found
}

// count binds COUNT(*), COUNT(x) and COUNT of a constant, which is COUNT(*) or 0.
func (c *call) count() expr.Expr {
	all := expr.Aggregate{Kind: expr.CountAll, Col: -1, P: c.at}
	if c.AggStar {
		return c.finished(all)
	}
	if len(c.Args) != 1 {
		panic(c.coded(map[bool]sqlstate.Code{true: sqlstate.WrongObjectType, false: sqlstate.UndefinedFunction}[len(c.Args) == 0], "count takes * or one argument"))
	}
	if c.wholeRow(c.Args[0].GetColumnRef()) {
		if !c.AggDistinct && !c.joinsOuter() { // a row of a table is never NULL, whatever its columns are
			return c.finished(all)
		}
		panic(c.coded(sqlstate.FeatureNotSupported, "count of all columns of a table is not supported: write COUNT(*) for its rows or, behind an outer join, the COUNT of a column that is never NULL"))
	}
	switch e := c.expr(c.Args[0]); {
	case isNull(e):
		// No record counts; the aggregate stays, so that there is one row.
		c.finished(all)
		return &expr.Const{V: table.Int(0), P: c.at}
	case isConstant(e) && !c.AggDistinct:
		return c.finished(all)
	}
	return c.finished(c.of(c.Args[0]))
}

// constant is an argument as a constant of type t; nil is what is none.
func constant(e expr.Expr, t table.Type) *expr.Const {
	e = coerce(e, t)
	switch et := e.Type(); {
	case et.IsNumeric() && t.Kind == table.Double:
		e = convert(e, t, e.Pos())
	case et.IsInteger() && t.IsInteger():
	default:
		return nil
	}
	k, _ := e.(*expr.Const)
	return k
}

// sorted binds the x [DESC] of WITHIN GROUP (ORDER BY x).
func (c *call) sorted() expr.Aggregate {
	sort := c.AggOrder[0].GetSortBy()
	if sort.SortbyDir == pg.SortByDir_SORTBY_USING {
		panic(c.coded(sqlstate.FeatureNotSupported, "ORDER BY ... USING is not supported"))
	}
	a := c.of(sort.Node)
	a.Desc = sort.SortbyDir == pg.SortByDir_SORTBY_DESC
	return a
}

// percentile binds percentile_disc(f) and percentile_cont(f) WITHIN GROUP (ORDER BY x [DESC]).
func (c *call) percentile() expr.Expr {
	if len(c.Args) != 1 || len(c.AggOrder) != 1 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes one fraction and one value to order by", c.name))
	}
	n, of := c.Args[0], c.fraction
	switch {
	case of != nil:
	case isArray(n):
		panic(c.coded(sqlstate.FeatureNotSupported, "%s of several fractions gives an array, which only an item of the outermost SELECT can be; write %s", c.name, c.oneByOne(n)))
	default:
		of = c.expr(n)
	}
	f := constant(of, double)
	if f == nil {
		panic(c.coded(sqlstate.GroupingError, "%s takes a constant fraction between 0 and 1", c.name))
	}
	a := c.sorted()
	a.F, a.Null = f.V.F, f.V.Null
	if !a.Null && !(a.F >= 0 && a.F <= 1) {
		panic(expr.Coded(sqlstate.NumericOutOfRange, f.P, "percentile value %s is not between 0 and 1", f.V))
	}
	return c.finished(a)
}

// oneByOne is a percentile of each fraction of an array.
func (c *call) oneByOne(array *pg.Node) string {
	var list []string
	a := c.sorted()
	for _, e := range c.elements(array, int(c.Location)) {
		if k, ok := convert(coerce(e, double), double, c.at).(*expr.Const); ok {
			a.F = k.V.F
			list = append(list, a.String())
		}
	}
	return strings.Join(list, ", ")
}

// isArray reports an ARRAY[...], or a text that is cast to an array.
func isArray(n *pg.Node) bool {
	return n.GetAArrayExpr() != nil || len(n.GetTypeCast().GetTypeName().GetArrayBounds()) > 0
}

// percentiles binds an item of the statement's own select list that is the percentiles of an array of
// fractions, one after the other. It is nil for another item.
func (b *binder) percentiles(n *pg.Node) (list []expr.Expr) {
	f := n.GetFuncCall()
	if name := lastName(f.GetFuncname()); name != "percentile_cont" && name != "percentile_disc" {
		return nil
	}
	if !b.answers || f.Over != nil || !f.AggWithinGroup || len(f.Args) != 1 || !isArray(f.Args[0]) {
		return nil
	}
	some := false
	for _, fraction := range b.elements(f.Args[0], int(f.Location)) {
		list = append(list, b.callAt(f, fraction))
		some = some || !isNull(fraction)
	}
	if !some {
		panic(b.coded(sqlstate.InvalidParameterValue, int(f.Location), "%s takes at least one fraction that is not NULL", lastName(f.Funcname)))
	}
	return list
}

// mode binds mode() WITHIN GROUP (ORDER BY x [DESC]).
func (c *call) mode() expr.Expr {
	if len(c.Args) != 0 || len(c.AggOrder) != 1 {
		panic(c.coded(sqlstate.UndefinedFunction, "mode takes one value to order by: mode() WITHIN GROUP (ORDER BY x)"))
	}
	return c.finished(c.sorted())
}

// kth binds kth_largest(x, k) and kth_smallest(x, k).
func (c *call) kth() expr.Expr {
	if len(c.Args) != 2 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes a value and k: %s(x, 10)", c.name, c.name))
	}
	a := c.of(c.Args[0])
	k := constant(c.expr(c.Args[1]), bigint)
	if k == nil {
		panic(c.coded(sqlstate.InvalidParameterValue, "the second argument of %s must be a constant integer", c.name))
	}
	if a.K, a.Null = k.V.I, k.V.Null; !a.Null && a.K < 1 {
		panic(expr.Coded(sqlstate.SyntaxError, k.P, "%s: k is %d; it must be between 1 and the number of selected values", c.name, a.K))
	}
	return c.finished(a)
}
