package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Scan gives rows of a table's chunks, in their order. A chunk or a row group is left out where its statistics say that no record of it
// meets the conditions (a zone map).
type Scan struct {
	Table   string
	As      string // what the statement calls it, where that is another name; else ""
	Columns []int  // of the table, that the pipeline reads, ascending
	Of      []table.Field
	// Prunes are conditions over the columns of the table by which chunks are left out. They stand in a filter, too.
	Prunes []expr.Expr
}

// Fields, Reads, Exprs and String implement [Source].
func (s *Scan) Fields() []table.Field { return at(s.Of, s.Columns) }
func (s *Scan) Reads() []*Pipeline    { return nil }
func (s *Scan) Exprs() []expr.Expr    { return nil }

func (s *Scan) String() string {
	text := "Scan(" + tableText(s.Table, s.As, s.Fields()) + ")"
	if len(s.Prunes) > 0 {
		text += " pruned by " + plan.Conjunction(s.Prunes).String()
	}
	return text
}

// tableText is a table with the columns that are read of it.
func tableText(name, as string, fields []table.Field) string {
	text := expr.Ident(name)
	if as != "" && as != name {
		text += " AS " + expr.Ident(as)
	}
	if len(fields) > 0 {
		text += ": " + fieldNames(fields)
	}
	return text
}
