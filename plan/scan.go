package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Scan gives all rows of a table, in their order.
type Scan struct {
	Table   string
	As      string        // what the statement calls it, where that is another name; else ""
	Columns []table.Field // of the table, all of them
	Of      *Subplan      // whose rows the table is, where it is none of the catalog's; else nil
}

// Inputs, With, Fields and String implement [Node].
func (s *Scan) Inputs() []Node        { return nil }
func (s *Scan) With(...Node) Node     { return s }
func (s *Scan) Fields() []table.Field { return s.Columns }

func (s *Scan) String() string {
	if s.Of != nil {
		return (&Derived{Of: s.Of, As: s.As}).String()
	}
	text := "Scan(" + expr.Ident(s.Table)
	if s.As != "" && s.As != s.Table {
		text += " AS " + expr.Ident(s.As)
	}
	return text + ")"
}
