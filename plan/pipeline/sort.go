package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Sort leaves the rows in the order of keys; rows that are alike in all keys in that of the source. With a Count it keeps the first ones
// alone: top k.
type Sort struct {
	Keys    []expr.SortKey
	Columns []int // of the layout, that it leaves
	Offset  int64 // rows to pass over
	Count   int64 // rows to leave at most; -1 for all
	// Unique keys, the first ones, are not alike in two of the rows that it leaves: DISTINCT ON.
	Unique int
}

// Fields, Exprs and String implement [Sink].
func (s *Sort) Fields(in []table.Field) []table.Field { return at(in, s.Columns) }
func (s *Sort) Exprs() []expr.Expr                    { return sortExprs(s.Keys) }

func (s *Sort) String() string {
	text := "Sort("
	if s.Count >= 0 {
		text = "TopK("
	}
	text += texts(s.Keys, expr.SortKey.String)
	if s.Unique > 0 {
		text += ", distinct on " + texts(s.Keys[:s.Unique], func(k expr.SortKey) string { return k.E.String() })
	}
	if left := span(s.Offset, s.Count); left != "" {
		text += ", " + left
	}
	return text + ")"
}
