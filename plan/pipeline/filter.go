package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Filter keeps the rows for which a condition is TRUE.
type Filter struct{ Where expr.Expr }

// Fields, Reads, Exprs and String implement [Step].
func (f *Filter) Fields(in []table.Field) []table.Field { return in }
func (f *Filter) Reads() []*Pipeline                    { return nil }
func (f *Filter) Exprs() []expr.Expr                    { return []expr.Expr{f.Where} }
func (f *Filter) String() string                        { return "Filter(" + f.Where.String() + ")" }
