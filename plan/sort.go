package plan

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Sort gives the rows of its input in the order of keys, the first before the others. Rows
// of which all keys are alike stay in the order of the input.
type Sort struct {
	Input Node
	Keys  []expr.SortKey // above an [Aggregate] their expressions read [expr.AggRef]s
	Limit int64          // how many of the rows, those that come first, are wanted; -1 for all
	// Unique keys, the first ones, are not alike in two of the rows: of those that have the same
	// there is the first.
	Unique int
	// Offset is how many of the first rows nobody reads, of a [Fragment].Order: a [Limit] passes over them.
	Offset int64
}

// Inputs, With, Fields and String implement [Node].
func (s *Sort) Inputs() []Node { return []Node{s.Input} }
func (s *Sort) With(inputs ...Node) Node {
	return &Sort{inputs[0], s.Keys, s.Limit, s.Unique, s.Offset}
}
func (s *Sort) Fields() []table.Field { return s.Input.Fields() }

func (s *Sort) String() string {
	text := call("Sort", s.Keys, expr.SortKey.String)
	if s.Unique > 0 {
		text += call(" DISTINCT ON", s.Keys[:s.Unique], func(k expr.SortKey) string { return k.E.String() })
	}
	if s.Limit >= 0 {
		text += fmt.Sprintf(" for the first %d", s.Limit)
	}
	return text
}

// KeysAreColumns reports that all keys are columns.
func (s *Sort) KeysAreColumns() bool {
	return !slices.ContainsFunc(s.Keys, func(k expr.SortKey) bool { _, column := k.E.(*expr.Column); return !column })
}
