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

// Inputs implements Node.
func (s *Scan) Inputs() []Node { return nil }

// With implements Node.
func (s *Scan) With(...Node) Node { return s }

// Fields implements Node.
func (s *Scan) Fields() []table.Field { return s.Columns }

func (s *Scan) String() string { return "Scan(" + expr.Ident(s.Table) + ")" }
