package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// aggregate is what a name in the select list stands for.
type aggregate struct {
	name string
	kind expr.AggKind
	bind func(*call) expr.Expr
}

// aggregates lists what there is. It is filled here, since binding arguments leads back to it.
var aggregates []aggregate

func init() {
	aggregates = []aggregate{
		{"count", expr.Count, (*call).count},
		{"sum", expr.Sum, (*call).ofColumn},
		{"avg", expr.Avg, (*call).ofColumn},
		{"min", expr.Min, (*call).ofColumn},
		{"max", expr.Max, (*call).ofColumn},
		{"median", expr.Percentile, (*call).ofColumn},
		{"percentile_disc", expr.Percentile, (*call).percentile},
		{"kth_largest", expr.KthLargest, (*call).kth},
		{"kth_smallest", expr.KthSmallest, (*call).kth},
		{"selectivity", expr.Selectivity, (*call).selectivity},
	}
}

// call is a function call that is being bound.
type call struct {
	*binder
	*pg.FuncCall
	aggregate
	at int // where it stands in the text
}

func (c *call) errorf(format string, args ...any) error { return expr.Errorf(c.at, format, args...) }

func (b *binder) call(n *pg.FuncCall) expr.Expr {
	c := &call{b, n, aggregate{name: lastName(n.Funcname)}, b.pos(int(n.Location))}
	if i := slices.IndexFunc(aggregates, func(a aggregate) bool { return a.name == c.name }); i >= 0 {
		c.aggregate = aggregates[i]
	}
	c.supported()
	if c.bind == nil {
		return c.scalar()
	}
	switch {
	case b.place == inAggregate:
		panic(c.errorf("aggregate function calls cannot be nested"))
	case b.place != inItems:
		panic(c.errorf("aggregate functions are not allowed in %s", map[place]string{inWhere: "WHERE", inLimit: "LIMIT or OFFSET"}[b.place]))
	case b.table == nil:
		panic(c.errorf("%s needs a table; write FROM", c.name))
	}
	b.place = inAggregate
	defer func() { b.place = inItems }()
	return c.bind(c)
}

// supported fails at the first part of the call that is not.
func (c *call) supported() {
	within := c.AggWithinGroup
	switch {
	case c.Over != nil:
		panic(c.errorf("window functions (OVER) are not supported"))
	case c.name == "percentile_cont" || c.name == "mode":
		panic(c.errorf("%s is not supported; there is percentile_disc", c.name))
	case len(c.Funcname) > 1 && c.Funcname[0].GetString_().GetSval() != "pg_catalog":
		panic(c.errorf("a schema before a function's name is not supported"))
	case c.bind == nil && c.name != typeOfName && expr.Functions(c.name) == nil:
		panic(c.errorf("function %s is not supported%s", clipped(c.name), suggest(c.name, Functions(), "functions")))
	case c.bind == nil && (c.AggFilter != nil || c.AggDistinct || len(c.AggOrder) > 0):
		panic(c.errorf("%s is no aggregate function: DISTINCT, ORDER BY and FILTER do not belong to it", c.name))
	case c.AggFilter != nil:
		panic(c.errorf("FILTER is not supported; use WHERE"))
	case c.AggDistinct:
		panic(c.errorf("%s(DISTINCT ...) is not supported", strings.ToUpper(c.name)))
	case c.FuncVariadic:
		panic(c.errorf("VARIADIC is not supported"))
	case within && c.name != "percentile_disc":
		panic(c.errorf("WITHIN GROUP belongs to percentile_disc, not to %s", c.name))
	case !within && c.name == "percentile_disc":
		panic(c.errorf("percentile_disc needs WITHIN GROUP: percentile_disc(0.5) WITHIN GROUP (ORDER BY x)"))
	case len(c.AggOrder) > 0 && !within:
		panic(c.errorf("ORDER BY inside %s is not supported", c.name))
	}
}

// attribute binds an aggregate of a column, the argument n; a column without any value has
// the type without.
func (c *call) attribute(n *pg.Node, without table.Type) expr.Aggregate {
	e := c.expr(n)
	col, ok := e.(*expr.Column)
	if !ok {
		pos := e.Pos()
		if pos < 0 {
			pos = c.at
		}
		panic(expr.Errorf(pos, "%s takes a column; an expression or a constant inside an aggregate is not supported", c.name))
	}
	a := expr.Aggregate{Kind: c.kind, Col: col.Index, Name: col.Name, Arg: col.T, P: c.at}
	if a.Arg.Kind == table.Unknown {
		a.Arg = without
	}
	return a
}

// ofColumn binds SUM, AVG, MIN, MAX and MEDIAN.
func (c *call) ofColumn() expr.Expr {
	if c.AggStar || len(c.Args) != 1 {
		panic(c.errorf("%s takes one argument, a column", c.name))
	}
	number, without := c.kind == expr.Sum || c.kind == expr.Avg, varchar
	if number {
		without = bigint
	}
	a := c.attribute(c.Args[0], without)
	if number && !a.Arg.IsNumeric() || c.kind != expr.Percentile && a.Arg.Kind == table.Boolean {
		panic(c.errorf("function %s(%s) does not exist", c.name, typeName(a.Arg)))
	}
	if c.kind == expr.Percentile {
		a.F, a.Median = 0.5, true
	}
	return c.binder.aggregate(a)
}

func (c *call) selectivity() expr.Expr {
	if len(c.Args) > 0 || c.AggStar {
		panic(c.errorf("%s() takes no argument; it is the fraction of the table's records that WHERE selects", c.name))
	}
	return c.binder.aggregate(expr.Aggregate{Kind: c.kind, Col: -1, P: c.at})
}

// count binds COUNT(*), COUNT(x) and COUNT of a constant, which is COUNT(*) or 0.
func (c *call) count() expr.Expr {
	all := expr.Aggregate{Kind: expr.CountAll, Col: -1, P: c.at}
	if c.AggStar {
		return c.binder.aggregate(all)
	}
	if len(c.Args) != 1 {
		panic(c.errorf("count takes * or one column"))
	}
	switch e := c.expr(c.Args[0]); {
	case isNull(e):
		// No record counts; the aggregate stays, so that there is one row.
		c.binder.aggregate(all)
		return &expr.Const{V: table.Int(0), P: c.at}
	case isConstant(e):
		return c.binder.aggregate(all)
	}
	return c.binder.aggregate(c.attribute(c.Args[0], varchar))
}

// constant binds a constant argument of type t; nil is what is none.
func (c *call) constant(n *pg.Node, t table.Type) *expr.Const {
	e := coerce(c.expr(n), t)
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

// percentile binds percentile_disc(f) WITHIN GROUP (ORDER BY x [DESC]).
func (c *call) percentile() expr.Expr {
	if len(c.Args) != 1 || len(c.AggOrder) != 1 {
		panic(c.errorf("percentile_disc takes one fraction and one column to order by"))
	}
	f := c.constant(c.Args[0], double)
	if f == nil {
		panic(c.errorf("percentile_disc takes a constant fraction between 0 and 1"))
	}
	sort := c.AggOrder[0].GetSortBy()
	if sort.SortbyDir == pg.SortByDir_SORTBY_USING {
		panic(c.errorf("ORDER BY ... USING is not supported"))
	}
	a := c.attribute(sort.Node, varchar)
	a.Desc = sort.SortbyDir == pg.SortByDir_SORTBY_DESC
	a.F, a.Null = f.V.F, f.V.Null
	if !a.Null && !(a.F >= 0 && a.F <= 1) {
		panic(expr.Errorf(f.P, "percentile value %s is not between 0 and 1", f.V))
	}
	return c.binder.aggregate(a)
}

// kth binds kth_largest(x, k) and kth_smallest(x, k).
func (c *call) kth() expr.Expr {
	if len(c.Args) != 2 {
		panic(c.errorf("%s takes a column and k: %s(x, 10)", c.name, c.name))
	}
	a := c.attribute(c.Args[0], varchar)
	k := c.constant(c.Args[1], bigint)
	if k == nil {
		panic(c.errorf("the second argument of %s must be a constant integer", c.name))
	}
	if a.K, a.Null = k.V.I, k.V.Null; !a.Null && a.K < 1 {
		panic(expr.Errorf(k.P, "%s: k is %d; it must be between 1 and the number of selected values", c.name, a.K))
	}
	return c.binder.aggregate(a)
}
