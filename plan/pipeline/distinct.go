package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Distinct leaves of rows that are alike in some columns of the layout the first, with these columns. NULL is like NULL.
type Distinct struct{ Columns []int }

// Fields, Exprs and String implement [Sink].
func (d *Distinct) Fields(in []table.Field) []table.Field { return at(in, d.Columns) }
func (d *Distinct) Exprs() []expr.Expr                    { return nil }
func (d *Distinct) String() string                        { return "Distinct" }
