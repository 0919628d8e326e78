package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Repeat gives each row as often as a count of it says.
type Repeat struct{ Times expr.Expr }

// Fields, Reads, Exprs and String implement [Step].
func (r *Repeat) Fields(in []table.Field) []table.Field { return in }
func (r *Repeat) Reads() []*Pipeline                    { return nil }
func (r *Repeat) Exprs() []expr.Expr                    { return []expr.Expr{r.Times} }
func (r *Repeat) String() string                        { return "Repeat(" + r.Times.String() + " times)" }
