package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Aggregate gives one row: the values of aggregates over all rows of its input.
type Aggregate struct {
	Input Node
	Aggs  []expr.Aggregate
}

// Inputs, With, Fields and String implement [Node].
func (a *Aggregate) Inputs() []Node           { return []Node{a.Input} }
func (a *Aggregate) With(inputs ...Node) Node { return &Aggregate{inputs[0], a.Aggs} }
func (a *Aggregate) Fields() []table.Field {
	var list []table.Field
	for _, g := range a.Aggs {
		list = append(list, table.Field{Name: g.String(), Type: g.Type()})
	}
	return list
}

func (a *Aggregate) String() string { return call("Aggregate", a.Aggs, expr.Aggregate.String) }
