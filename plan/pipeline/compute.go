package pipeline

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Compute adds columns to the rows, each the values of an expression.
type Compute struct{ Items []plan.Item }

// Fields, Reads, Exprs and String implement [Step].
func (c *Compute) Fields(in []table.Field) []table.Field {
	out := slices.Clone(in)
	for _, i := range c.Items {
		out = append(out, table.Field{Name: i.Name, Type: i.E.Type()})
	}
	return out
}

func (c *Compute) Reads() []*Pipeline { return nil }

func (c *Compute) Exprs() []expr.Expr {
	return xslices.Map(c.Items, func(i plan.Item) expr.Expr { return i.E })
}

func (c *Compute) String() string { return "Compute(" + texts(c.Items, plan.Item.String) + ")" }
