package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// CountDistinct adds to its one input row how many different values each of some columns
// of a table has among all rows, NULL left out.
type CountDistinct struct {
	Input   Node
	Columns []*expr.Column // of the table that the input reads
}

// Inputs, With, Fields and String implement [Node].
func (c *CountDistinct) Inputs() []Node           { return []Node{c.Input} }
func (c *CountDistinct) With(inputs ...Node) Node { return &CountDistinct{inputs[0], c.Columns} }
func (c *CountDistinct) Fields() []table.Field {
	list := c.Input.Fields()
	for _, col := range c.Columns {
		list = append(list, table.Field{Name: "COUNT(DISTINCT " + col.String() + ")", Type: table.Type{Kind: table.BigInt}})
	}
	return list
}

func (c *CountDistinct) String() string {
	return call("CountDistinct", c.Columns, (*expr.Column).String)
}
