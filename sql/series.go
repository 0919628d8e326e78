package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// series is generate_series(start, stop[, step]) in FROM, which may read columns to its left and of the queries around; ok is false for
// another function.
func (b *binder) series(r *pg.RangeFunction) (n plan.Node, ok bool) {
	var call *pg.FuncCall
	if items := r.Functions[0].GetList().GetItems(); len(r.Functions) == 1 && len(items) > 0 {
		call = items[0].GetFuncCall()
	}
	if lastName(call.GetFuncname()) != "generate_series" {
		return nil, false
	}
	loc := int(call.Location)
	if r.Ordinality || len(r.Coldeflist) > 0 || len(call.Args) < 2 || len(call.Args) > 3 {
		panic(b.coded(sqlstate.UndefinedFunction, loc, "generate_series is supported as generate_series(start, stop[, step]) [AS name]"))
	}
	q := b.nested(nil, b)
	q.place = inWhere
	args := q.all(call.Args)
	pos := b.pos(loc)
	ends := unified("generate_series", args[:2], pos)
	t := ends[0].Type()
	var step expr.Expr = &expr.Const{V: table.Literal(1), P: pos}
	if len(args) == 3 && (t.IsInteger() || t.Kind == table.Decimal) {
		if step = coerce(args[2], t); !step.Type().IsInteger() && step.Type().Kind != table.Decimal {
			panic(b.coded(sqlstate.UndefinedFunction, loc, "the step of generate_series over numbers is one, too, and no double precision: write step::numeric"))
		}
		all := unified("generate_series", []expr.Expr{ends[0], ends[1], step}, pos)
		ends, step, t = all[:2], all[2], all[0].Type()
	}
	switch {
	case t.IsInteger():
		t = table.Wider(table.Wider(t, step.Type()), integer)
	case t.Kind == table.Decimal:
		t.Precision = maxDigits
	case isTime(t) && len(args) == 3:
		t = timestamp
		if step = coerce(args[2], interval); step.Type().Kind != table.Interval {
			panic(b.coded(sqlstate.UndefinedFunction, loc, "the step of generate_series over times is an interval: INTERVAL '1 day'"))
		}
	default:
		panic(b.coded(sqlstate.UndefinedFunction, loc, "generate_series takes integers, numerics, or two times and an interval"))
	}
	if t.Kind != table.Timestamp {
		step = convert(step, t, pos)
	}
	f := table.Field{Name: "generate_series", Type: t}
	if a := r.Alias; a != nil && len(a.Colnames) == 0 { // the name of the table is that of the column, too
		f.Name = a.Aliasname
	}
	start, stop := convert(ends[0], t, pos), convert(ends[1], t, pos)
	if !slices.ContainsFunc([]expr.Expr{start, stop, step}, rules.ReadsOuter) {
		return &plan.Series{Field: f, Start: start, Stop: stop, Step: step, Limit: -1}, true
	}
	row := &plan.Project{Input: &plan.Values{Rows: [][]expr.Expr{{}}}, Items: []plan.Item{{Name: "start", E: start}, {Name: "stop", E: stop}, {Name: "step", E: step}}}
	return &plan.SeriesOfEach{Field: f, Input: &plan.Derived{Of: &plan.Subplan{Tree: row}}, Pos: pos}, true
}
