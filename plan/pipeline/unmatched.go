package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Unmatched gives the rows of a build that no row has matched that probed it: those that a full outer join keeps.
type Unmatched struct {
	Build *Pipeline
	After *Pipeline // that probes it
}

// Fields, Reads, Exprs and String implement [Source].
func (u *Unmatched) Fields() []table.Field { return u.Build.Fields() }
func (u *Unmatched) Reads() []*Pipeline    { return []*Pipeline{u.Build, u.After} }
func (u *Unmatched) Exprs() []expr.Expr    { return nil }

func (u *Unmatched) String() string {
	return "Unmatched(" + u.Build.name() + ") after " + u.After.name()
}
