package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// aggregates are the functions of a column alone.
var aggregates = map[string]expr.AggKind{
	"sum": expr.Sum, "avg": expr.Avg, "min": expr.Min, "max": expr.Max, "median": expr.Percentile,
}

// functions lists what there is, for errors.
var functions = []string{
	"count", "sum", "avg", "min", "max", "median", "percentile_disc", "kth_largest", "kth_smallest", "selectivity", "round",
}

// call binds a function call.
func (b *binder) call(n *pg.FuncCall) (expr.Expr, error) {
	loc := int(n.Location)
	fn := lastName(n.Funcname)
	if err := b.refuseCall(n, fn); err != nil {
		return nil, err
	}
	if fn == "round" {
		return b.round(n)
	}
	switch b.place {
	case inWhere, inLimit:
		return nil, b.errorf(loc, "aggregate functions are not allowed in %s", map[place]string{inWhere: "WHERE", inLimit: "LIMIT or OFFSET"}[b.place])
	case inAggregate:
		return nil, b.errorf(loc, "aggregate function calls cannot be nested")
	}
	if b.table == nil {
		return nil, b.errorf(loc, "%s needs a table; write FROM", fn)
	}
	b.place = inAggregate
	defer func() { b.place = inItems }()
	switch fn {
	case "count":
		return b.count(n)
	case "selectivity":
		if len(n.Args) > 0 || n.AggStar {
			return nil, b.errorf(loc, "selectivity() takes no argument; it is the fraction of the table's records that WHERE selects")
		}
		return b.aggregate(expr.Aggregate{Kind: expr.Selectivity, Col: -1, P: b.pos(loc)}), nil
	case "percentile_disc":
		return b.percentile(n)
	case "kth_largest":
		return b.kth(n, fn, expr.KthLargest)
	case "kth_smallest":
		return b.kth(n, fn, expr.KthSmallest)
	}
	if n.AggStar || len(n.Args) != 1 {
		return nil, b.errorf(loc, "%s takes one argument, a column", fn)
	}
	return b.ofColumn(n, fn)
}

// refuseCall names the first part of a call that is not supported.
func (b *binder) refuseCall(n *pg.FuncCall, fn string) error {
	loc := int(n.Location)
	within := n.AggWithinGroup
	known := false
	for _, f := range functions {
		known = known || f == fn
	}
	switch {
	case n.Over != nil:
		return b.errorf(loc, "window functions (OVER) are not supported")
	case fn == "percentile_cont" || fn == "mode":
		return b.errorf(loc, "%s is not supported; there is percentile_disc", fn)
	case len(n.Funcname) > 1 && n.Funcname[0].GetString_().GetSval() != "pg_catalog":
		return b.errorf(loc, "a schema before a function's name is not supported")
	case !known:
		return b.errorf(loc, "function %s is not supported%s", clipped(fn), suggest(fn, functions, "functions"))
	case n.AggFilter != nil:
		return b.errorf(loc, "FILTER is not supported; use WHERE")
	case n.AggDistinct:
		return b.errorf(loc, "%s(DISTINCT ...) is not supported", strings.ToUpper(fn))
	case n.FuncVariadic:
		return b.errorf(loc, "VARIADIC is not supported")
	case within && fn != "percentile_disc":
		return b.errorf(loc, "WITHIN GROUP belongs to percentile_disc, not to %s", fn)
	case !within && fn == "percentile_disc":
		return b.errorf(loc, "percentile_disc needs WITHIN GROUP: percentile_disc(0.5) WITHIN GROUP (ORDER BY x)")
	case len(n.AggOrder) > 0 && !within:
		return b.errorf(loc, "ORDER BY inside %s is not supported", fn)
	}
	return nil
}

// attribute binds an aggregate's argument, which must be a column.
func (b *binder) attribute(n *pg.Node, fn string, loc int) (*expr.Column, error) {
	e, err := b.expr(n)
	if err != nil {
		return nil, err
	}
	c, ok := e.(*expr.Column)
	if !ok {
		pos := e.Pos()
		if pos < 0 {
			pos = b.pos(loc)
		}
		return nil, expr.Errorf(pos, "%s takes a column; an expression or a constant inside an aggregate is not supported", fn)
	}
	return c, nil
}

// ofColumn binds SUM, AVG, MIN, MAX and MEDIAN.
func (b *binder) ofColumn(n *pg.FuncCall, fn string) (expr.Expr, error) {
	loc := int(n.Location)
	c, err := b.attribute(n.Args[0], fn, loc)
	if err != nil {
		return nil, err
	}
	a := expr.Aggregate{Kind: aggregates[fn], Col: c.Index, Name: c.Name, Arg: c.T, P: b.pos(loc)}
	number := a.Kind == expr.Sum || a.Kind == expr.Avg
	if a.Arg.Kind == table.Unknown {
		a.Arg = varchar
		if number {
			a.Arg = bigint
		}
	}
	if number && !a.Arg.IsNumeric() || a.Kind != expr.Percentile && a.Arg.Kind == table.Boolean {
		return nil, b.errorf(loc, "function %s(%s) does not exist", fn, typeName(a.Arg))
	}
	if a.Kind == expr.Percentile {
		a.F, a.Median = 0.5, true
	}
	return b.aggregate(a), nil
}

// count binds COUNT(*), COUNT(x) and COUNT of a constant, which is COUNT(*) or 0.
func (b *binder) count(n *pg.FuncCall) (expr.Expr, error) {
	loc := int(n.Location)
	all := expr.Aggregate{Kind: expr.CountAll, Col: -1, P: b.pos(loc)}
	if n.AggStar {
		return b.aggregate(all), nil
	}
	if len(n.Args) != 1 {
		return nil, b.errorf(loc, "count takes * or one column")
	}
	e, err := b.expr(n.Args[0])
	if err != nil {
		return nil, err
	}
	if isNull(e) {
		// No record counts; the aggregate stays, so that there is one row.
		b.aggregate(all)
		return &expr.Const{V: table.Int(0), P: b.pos(loc)}, nil
	}
	if isConstant(e) {
		return b.aggregate(all), nil
	}
	c, ok := e.(*expr.Column)
	if !ok {
		return nil, expr.Errorf(e.Pos(), "count takes a column; an expression inside an aggregate is not supported")
	}
	t := c.T
	if t.Kind == table.Unknown {
		t = varchar
	}
	return b.aggregate(expr.Aggregate{Kind: expr.Count, Col: c.Index, Name: c.Name, Arg: t, P: b.pos(loc)}), nil
}

// constant binds a constant argument of type t; ok is false for what is none.
func (b *binder) constant(n *pg.Node, t table.Type) (c *expr.Const, ok bool, err error) {
	e, err := b.expr(n)
	if err != nil {
		return nil, false, err
	}
	switch et := e.Type(); {
	case et.Kind == table.Unknown:
		e, err = b.coerce(e, t)
	case et.IsNumeric() && t.Kind == table.Double:
		e, err = convert(e, t, e.Pos())
	case et.IsInteger() && t.IsInteger():
	default:
		return nil, false, nil
	}
	c, ok = e.(*expr.Const)
	return c, ok, err
}

// percentile binds percentile_disc(f) WITHIN GROUP (ORDER BY x [DESC]).
func (b *binder) percentile(n *pg.FuncCall) (expr.Expr, error) {
	loc := int(n.Location)
	if len(n.Args) != 1 || len(n.AggOrder) != 1 {
		return nil, b.errorf(loc, "percentile_disc takes one fraction and one column to order by")
	}
	f, ok, err := b.constant(n.Args[0], double)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, b.errorf(loc, "percentile_disc takes a constant fraction between 0 and 1")
	}
	sort := n.AggOrder[0].GetSortBy()
	if sort.SortbyDir == pg.SortByDir_SORTBY_USING {
		return nil, b.errorf(loc, "ORDER BY ... USING is not supported")
	}
	c, err := b.attribute(sort.Node, "percentile_disc", loc)
	if err != nil {
		return nil, err
	}
	a := expr.Aggregate{Kind: expr.Percentile, Col: c.Index, Name: c.Name, Arg: c.T, P: b.pos(loc)}
	if a.Arg.Kind == table.Unknown {
		a.Arg = varchar
	}
	a.Desc = sort.SortbyDir == pg.SortByDir_SORTBY_DESC
	a.F, a.Null = f.V.F, f.V.Null
	if !a.Null && !(a.F >= 0 && a.F <= 1) {
		return nil, expr.Errorf(f.P, "percentile value %s is not between 0 and 1", f.V)
	}
	return b.aggregate(a), nil
}

// kth binds kth_largest(x, k) and kth_smallest(x, k).
func (b *binder) kth(n *pg.FuncCall, fn string, kind expr.AggKind) (expr.Expr, error) {
	loc := int(n.Location)
	if len(n.Args) != 2 {
		return nil, b.errorf(loc, "%s takes a column and k: %s(x, 10)", fn, fn)
	}
	c, err := b.attribute(n.Args[0], fn, loc)
	if err != nil {
		return nil, err
	}
	k, ok, err := b.constant(n.Args[1], bigint)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, b.errorf(loc, "the second argument of %s must be a constant integer", fn)
	}
	a := expr.Aggregate{Kind: kind, Col: c.Index, Name: c.Name, Arg: c.T, K: k.V.I, Null: k.V.Null, P: b.pos(loc)}
	if a.Arg.Kind == table.Unknown {
		a.Arg = varchar
	}
	if !a.Null && a.K < 1 {
		return nil, expr.Errorf(k.P, "%s: k is %d; it must be between 1 and the number of selected values", fn, a.K)
	}
	return b.aggregate(a), nil
}

// round is ROUND(x [, digits]) of an exact number: a cast to that many digits.
func (b *binder) round(n *pg.FuncCall) (expr.Expr, error) {
	loc := int(n.Location)
	if n.AggStar || len(n.Args) < 1 || len(n.Args) > 2 {
		return nil, b.errorf(loc, "round takes a number and how many digits to keep after the point")
	}
	x, err := b.expr(n.Args[0])
	if err != nil {
		return nil, err
	}
	t := x.Type()
	if !t.IsExact() {
		return nil, b.errorf(loc, "round of %s is not supported; cast to NUMERIC(38, 2) or so, which rounds", typeName(t))
	}
	digits := int64(0)
	if len(n.Args) == 2 {
		d, ok, err := b.constant(n.Args[1], bigint)
		if err != nil {
			return nil, err
		}
		if !ok || d.V.Null || d.V.I < 0 || d.V.I > maxDigits {
			return nil, b.errorf(loc, "round takes a constant number of digits between 0 and %d", maxDigits)
		}
		digits = d.V.I
	} else if t.IsInteger() {
		return nil, b.errorf(loc, "round of %s is the number itself", typeName(t))
	}
	return convert(x, table.Type{Kind: table.Decimal, Precision: maxDigits, Scale: int(digits)}, b.pos(loc))
}
