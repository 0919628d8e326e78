package pipeline

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Rows leaves the rows, in the order of the source.
type Rows struct {
	Columns []int // of the layout, that it leaves
	Offset  int64 // rows to pass over
	Count   int64 // rows to leave at most; -1 for all
}

// Fields, Exprs and String implement [Sink].
func (r *Rows) Fields(in []table.Field) []table.Field { return at(in, r.Columns) }
func (r *Rows) Exprs() []expr.Expr                    { return nil }

func (r *Rows) String() string {
	if left := span(r.Offset, r.Count); left != "" {
		return "Rows(" + left + ")"
	}
	return "Rows"
}

// span says which rows of all are left.
func span(offset, count int64) string {
	switch {
	case count >= 0 && offset > 0:
		return fmt.Sprintf("the first %d after %d", count, offset)
	case count >= 0:
		return fmt.Sprintf("the first %d", count)
	case offset > 0:
		return fmt.Sprintf("all after %d", offset)
	}
	return ""
}
