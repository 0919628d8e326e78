package plan

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Filter keeps the rows for which a condition is TRUE.
type Filter struct {
	Input Node
	Where expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (f *Filter) Inputs() []Node           { return []Node{f.Input} }
func (f *Filter) With(inputs ...Node) Node { return &Filter{inputs[0], f.Where} }
func (f *Filter) Fields() []table.Field    { return f.Input.Fields() }

func (f *Filter) String() string { return "Filter(" + f.Where.String() + ")" }

// oneFilter makes one of two filters, one above the other.
func oneFilter(n Node) Node {
	if f, ok := n.(*Filter); ok {
		if below, ok := f.Input.(*Filter); ok {
			return &Filter{below.Input, All(slices.Concat(Conjuncts(below.Where), Conjuncts(f.Where)))}
		}
	}
	return n
}
