package plan

import (
	"fmt"

	"github.com/stencildb/stencildb/table"
)

// Limit passes over some rows, and ends after so many more.
type Limit struct {
	Input  Node
	Offset int64 // rows to pass over
	Count  int64 // rows to give; -1 for all
}

// Inputs, With, Fields and String implement [Node].
func (l *Limit) Inputs() []Node           { return []Node{l.Input} }
func (l *Limit) With(inputs ...Node) Node { return &Limit{inputs[0], l.Offset, l.Count} }
func (l *Limit) Fields() []table.Field    { return l.Input.Fields() }

func (l *Limit) String() string {
	switch {
	case l.Count < 0:
		return fmt.Sprintf("Limit(OFFSET %d)", l.Offset)
	case l.Offset == 0:
		return fmt.Sprintf("Limit(%d)", l.Count)
	}
	return fmt.Sprintf("Limit(%d OFFSET %d)", l.Count, l.Offset)
}
