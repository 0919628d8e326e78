package sql

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// summarize binds SUMMARIZE of a table. It gives a row for each column: the number of values, NULLs and different values,
// the smallest and the largest value, and the quartiles (percentile_disc). One aggregation has all of them. Of a table,
// but not of a view, the different values are counted column by column, without a set of them.
func (b *binder) summarize() plan.Node {
	b.onlyTable("SUMMARIZE takes the name of a table or a file")
	scan := b.from()
	_, view := scan.(*plan.Derived)
	all := b.aggregate(expr.Aggregate{Kind: expr.CountAll, Col: -1, P: -1})
	out := &plan.Values{Columns: []table.Field{
		{Name: "column_name", Type: varchar}, {Name: "column_type", Type: varchar}, {Name: "count", Type: bigint}, {Name: "nulls", Type: bigint},
		{Name: "min", Type: varchar}, {Name: "max", Type: varchar}, {Name: "distinct", Type: bigint},
		{Name: "q25", Type: varchar}, {Name: "q50", Type: varchar}, {Name: "q75", Type: varchar},
	}}
	var columns []*expr.Column // those that can be used
	var ends [][]expr.Expr     // of each field, what follows its count; nil where it cannot be used
	for i, f := range b.scope.fields {
		if f.Unsupported != "" || f.Type.Kind == table.Unknown {
			ends = append(ends, nil)
			continue
		}
		col := &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1}
		columns = append(columns, col)
		of := func(kind expr.AggKind, fraction float64) expr.Expr {
			return b.aggregate(expr.Aggregate{Kind: kind, Col: i, Name: f.Name, Arg: f.Type, F: fraction, P: -1})
		}
		ends = append(ends, []expr.Expr{of(expr.Count, 0), of(expr.Min, 0), of(expr.Max, 0),
			of(expr.Percentile, 0.25), of(expr.Percentile, 0.5), of(expr.Percentile, 0.75)})
	}
	text := func(e expr.Expr) expr.Expr { return &expr.Cast{X: e, To: varchar, P: -1} }
	n := 0 // columns so far
	for i, f := range b.scope.fields {
		row := []expr.Expr{&expr.Const{V: table.Str(f.Name), P: -1}, &expr.Const{V: table.Str(typeOf(f, table.Type.String)), P: -1}}
		if e := ends[i]; e != nil {
			var distinct expr.Expr
			if view {
				distinct = b.aggregate(expr.Aggregate{Kind: expr.Count, Col: i, Name: f.Name, Arg: f.Type, Distinct: true, P: -1})
			} else {
				distinct = &expr.AggRef{Index: len(b.aggs) + n, Name: "COUNT(DISTINCT " + expr.Ident(f.Name) + ")", T: bigint, P: -1}
			}
			row = append(row, e[0], &expr.Arith{Op: expr.Sub, L: all, R: e[0], T: bigint, P: -1}, text(e[1]), text(e[2]),
				distinct, text(e[3]), text(e[4]), text(e[5]))
			n++
		}
		for _, c := range out.Columns[len(row):] {
			row = append(row, &expr.Const{V: table.Null(c.Type), P: -1})
		}
		out.Rows = append(out.Rows, row)
	}
	out.Input = &plan.Aggregate{Input: scan, Aggs: b.aggs}
	if !view {
		out.Input = &plan.CountDistinct{Input: out.Input, Columns: columns}
	}
	return out
}
