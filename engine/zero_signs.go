package engine

import (
	"context"
	"iter"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// signZeros gives an aggregate that is an element of a column, and 0, the sign of one. Backends find such elements by their codes,
// which -0 and 0 share. The sign is that of the first selected row with the code, in the tables that have the rows.
func signZeros(ctx context.Context, f *plan.Fragment, values []table.Value, tables iter.Seq2[*table.Table, error]) error {
	for i, a := range f.Aggs {
		if v := values[i]; v.Null || !v.Type.IsFloat() || v.F != 0 || !physical.IsOrderStatistic(a) || a.X != nil {
			continue
		}
		of := &expr.Column{Index: a.Col, Name: a.Name, T: a.Arg, P: a.P}
		zeros := []expr.Expr{&expr.Compare{Op: expr.EQ, L: of, R: &expr.Const{V: table.Value{Type: a.Arg}, P: a.P}, P: a.P}}
		if f.Where != nil {
			zeros = append(zeros, f.Where)
		}
		where := plan.Conjunction(zeros)
		zero, err := firstValue(ctx, &plan.Fragment{Table: f.Table, Where: where, Columns: []int{a.Col}}, a.Col, tables)
		if err != nil {
			return err
		}
		values[i].F = zero.F
	}
	return nil
}

// firstValue is that of a column in the first row that a fragment has in some tables; the zero value where none has one.
func firstValue(ctx context.Context, f *plan.Fragment, col int, tables iter.Seq2[*table.Table, error]) (v table.Value, err error) {
	for t, err := range tables {
		if err != nil {
			return v, err
		}
		q, err := physical.NewQuery(t, f)
		if err != nil {
			return v, err
		}
		for b, err := range cpu.New(0).Rows(ctx, q) {
			if err != nil || b.Len() == 0 {
				return v, err
			}
			return b.In(t).Segments[col].Value(b.Row(0)), nil
		}
	}
	return v, nil
}

// hasSignedZeros reports an aggregate of a fragment that is an element of a column which has -0 in a table.
func hasSignedZeros(f *plan.Fragment, t *table.Table) bool {
	for _, a := range f.Aggs {
		if physical.IsOrderStatistic(a) && a.X == nil && a.Arg.IsFloat() && physical.HasNegativeZeros(t, a.Col) {
			return true
		}
	}
	return false
}
