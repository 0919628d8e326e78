package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// function is what a name in the select list stands for.
type function struct {
	name string
	kind expr.AggKind
	bind func(b *binder, n *pg.FuncCall, fn string, kind expr.AggKind) (expr.Expr, error)
}

// functions lists what there is. It is filled here, since binding arguments leads back to it.
var functions []function

func init() {
	functions = []function{
		{"count", expr.Count, (*binder).count},
		{"sum", expr.Sum, (*binder).ofColumn},
		{"avg", expr.Avg, (*binder).ofColumn},
		{"min", expr.Min, (*binder).ofColumn},
		{"max", expr.Max, (*binder).ofColumn},
		{"median", expr.Percentile, (*binder).ofColumn},
		{"percentile_disc", expr.Percentile, (*binder).percentile},
		{"kth_largest", expr.KthLargest, (*binder).kth},
		{"kth_smallest", expr.KthSmallest, (*binder).kth},
		{"selectivity", expr.Selectivity, (*binder).selectivity},
		{"round", 0, (*binder).round},
	}
}

// call binds a function call.
func (b *binder) call(n *pg.FuncCall) (expr.Expr, error) {
	loc := int(n.Location)
	fn := lastName(n.Funcname)
	i := slices.IndexFunc(functions, func(f function) bool { return f.name == fn })
	if err := b.refuseCall(n, fn, i >= 0); err != nil {
		return nil, err
	}
	if fn == "round" {
		return functions[i].bind(b, n, fn, functions[i].kind)
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
	return functions[i].bind(b, n, fn, functions[i].kind)
}

// refuseCall names the first part of a call that is not supported.
func (b *binder) refuseCall(n *pg.FuncCall, fn string, known bool) error {
	loc := int(n.Location)
	within := n.AggWithinGroup
	switch {
	case n.Over != nil:
		return b.errorf(loc, "window functions (OVER) are not supported")
	case fn == "percentile_cont" || fn == "mode":
		return b.errorf(loc, "%s is not supported; there is percentile_disc", fn)
	case len(n.Funcname) > 1 && n.Funcname[0].GetString_().GetSval() != "pg_catalog":
		return b.errorf(loc, "a schema before a function's name is not supported")
	case !known:
		var names []string
		for _, f := range functions {
			names = append(names, f.name)
		}
		return b.errorf(loc, "function %s is not supported%s", clipped(fn), suggest(fn, names, "functions"))
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

// attribute binds an aggregate of a column, the argument n; a column without any value has
// the type without.
func (b *binder) attribute(n *pg.Node, fn string, kind expr.AggKind, loc int, without table.Type) (a expr.Aggregate, err error) {
	e, err := b.expr(n)
	if err != nil {
		return a, err
	}
	c, ok := e.(*expr.Column)
	if !ok {
		pos := e.Pos()
		if pos < 0 {
			pos = b.pos(loc)
		}
		return a, expr.Errorf(pos, "%s takes a column; an expression or a constant inside an aggregate is not supported", fn)
	}
	a = expr.Aggregate{Kind: kind, Col: c.Index, Name: c.Name, Arg: c.T, P: b.pos(loc)}
	if a.Arg.Kind == table.Unknown {
		a.Arg = without
	}
	return a, nil
}

// ofColumn binds SUM, AVG, MIN, MAX and MEDIAN.
func (b *binder) ofColumn(n *pg.FuncCall, fn string, kind expr.AggKind) (expr.Expr, error) {
	loc := int(n.Location)
	if n.AggStar || len(n.Args) != 1 {
		return nil, b.errorf(loc, "%s takes one argument, a column", fn)
	}
	number, without := kind == expr.Sum || kind == expr.Avg, varchar
	if number {
		without = bigint
	}
	a, err := b.attribute(n.Args[0], fn, kind, loc, without)
	if err != nil {
		return nil, err
	}
	if number && !a.Arg.IsNumeric() || kind != expr.Percentile && a.Arg.Kind == table.Boolean {
		return nil, b.errorf(loc, "function %s(%s) does not exist", fn, typeName(a.Arg))
	}
	if kind == expr.Percentile {
		a.F, a.Median = 0.5, true
	}
	return b.aggregate(a), nil
}

// selectivity binds selectivity().
func (b *binder) selectivity(n *pg.FuncCall, fn string, kind expr.AggKind) (expr.Expr, error) {
	loc := int(n.Location)
	if len(n.Args) > 0 || n.AggStar {
		return nil, b.errorf(loc, "%s() takes no argument; it is the fraction of the table's records that WHERE selects", fn)
	}
	return b.aggregate(expr.Aggregate{Kind: kind, Col: -1, P: b.pos(loc)}), nil
}

// count binds COUNT(*), COUNT(x) and COUNT of a constant, which is COUNT(*) or 0.
func (b *binder) count(n *pg.FuncCall, fn string, kind expr.AggKind) (expr.Expr, error) {
	loc := int(n.Location)
	all := expr.Aggregate{Kind: expr.CountAll, Col: -1, P: b.pos(loc)}
	if n.AggStar {
		return b.aggregate(all), nil
	}
	if len(n.Args) != 1 {
		return nil, b.errorf(loc, "count takes * or one column")
	}
	switch e, err := b.expr(n.Args[0]); {
	case err != nil:
		return nil, err
	case isNull(e):
		// No record counts; the aggregate stays, so that there is one row.
		b.aggregate(all)
		return &expr.Const{V: table.Int(0), P: b.pos(loc)}, nil
	case isConstant(e):
		return b.aggregate(all), nil
	}
	a, err := b.attribute(n.Args[0], fn, kind, loc, varchar)
	if err != nil {
		return nil, err
	}
	return b.aggregate(a), nil
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
func (b *binder) percentile(n *pg.FuncCall, fn string, kind expr.AggKind) (expr.Expr, error) {
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
	a, err := b.attribute(sort.Node, fn, kind, loc, varchar)
	if err != nil {
		return nil, err
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
	a, err := b.attribute(n.Args[0], fn, kind, loc, varchar)
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
	if a.K, a.Null = k.V.I, k.V.Null; !a.Null && a.K < 1 {
		return nil, expr.Errorf(k.P, "%s: k is %d; it must be between 1 and the number of selected values", fn, a.K)
	}
	return b.aggregate(a), nil
}

// round is ROUND(x [, digits]) of an exact number: a cast to that many digits.
func (b *binder) round(n *pg.FuncCall, _ string, _ expr.AggKind) (expr.Expr, error) {
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
