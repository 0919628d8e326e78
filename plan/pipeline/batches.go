package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Batches gives the rows of a table's file, read batch by batch: those of a table that memory has no room for. Row groups are left out as
// chunks of a [Scan] are.
type Batches struct {
	Table   string
	As      string // what the statement calls it, where that is another name; else ""
	Columns []int  // of the table, that the pipeline reads, ascending
	Of      []table.Field
	Prunes  []expr.Expr
}

// Fields, Reads, Exprs and String implement [Source].
func (b *Batches) Fields() []table.Field { return at(b.Of, b.Columns) }
func (b *Batches) Reads() []*Pipeline    { return nil }
func (b *Batches) Exprs() []expr.Expr    { return nil }

func (b *Batches) String() string {
	text := "Batches(" + tableText(b.Table, b.As, b.Fields()) + ")"
	if len(b.Prunes) > 0 {
		text += " pruned by " + plan.Conjunction(b.Prunes).String()
	}
	return text
}
