package pipeline

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Relation gives what earlier pipelines left, one after the other: of one the rows, of several UNION ALL. All have columns of the same types.
type Relation struct{ Of []*Pipeline }

// Fields, Reads, Exprs and String implement [Source].
func (r *Relation) Fields() []table.Field { return r.Of[0].Fields() }
func (r *Relation) Reads() []*Pipeline    { return slices.Clone(r.Of) }
func (r *Relation) Exprs() []expr.Expr    { return nil }

func (r *Relation) String() string { return "Relation(" + names(r.Of) + ")" }
