package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Aggregate leaves one row: the aggregates of all rows.
type Aggregate struct{ Aggs []expr.Aggregate }

// Fields, Exprs and String implement [Sink].
func (a *Aggregate) Fields([]table.Field) []table.Field { return aggregateFields(nil, a.Aggs) }
func (a *Aggregate) Exprs() []expr.Expr                 { return aggregateExprs(a.Aggs) }
func (a *Aggregate) String() string {
	return "Aggregate(" + texts(a.Aggs, expr.Aggregate.String) + ")"
}

// aggregateFields are fields and those of aggregates.
func aggregateFields(list []table.Field, aggs []expr.Aggregate) []table.Field {
	list = append([]table.Field{}, list...)
	for _, g := range aggs {
		list = append(list, table.Field{Name: g.String(), Type: g.Type()})
	}
	return list
}
