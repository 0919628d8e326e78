package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Scan gives all rows of a table, in their order.
type Scan struct {
	Table   string
	Columns []table.Field // of the table, all of them
}

// Inputs, With, Fields and String implement [Node].
func (s *Scan) Inputs() []Node        { return nil }
func (s *Scan) With(...Node) Node     { return s }
func (s *Scan) Fields() []table.Field { return s.Columns }

func (s *Scan) String() string { return "Scan(" + expr.Ident(s.Table) + ")" }
