package plan

import "github.com/stencildb/stencildb/table"

// Distinct gives of rows that are alike the first. NULL is like NULL.
type Distinct struct{ Input Node }

// Inputs, With, Fields and String implement [Node].
func (d *Distinct) Inputs() []Node           { return []Node{d.Input} }
func (d *Distinct) With(inputs ...Node) Node { return &Distinct{inputs[0]} }
func (d *Distinct) Fields() []table.Field    { return d.Input.Fields() }
func (d *Distinct) String() string           { return "Distinct" }
