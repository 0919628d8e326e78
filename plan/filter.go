package plan

import (
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
