package pipeline

import (
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Lookup gives the rows of a table that an index or a key finds: those that have given values in the columns of the index.
type Lookup struct {
	Table   string
	As      string // what the statement calls it, where that is another name; else ""
	Columns []int  // of the table, that the pipeline reads, ascending
	Of      []table.Field
	Index   string
	By      []int         // the columns of the index that have values
	Values  []*expr.Const // of each of them
	Unique  bool          // one row at most has these values
}

// Fields, Reads, Exprs and String implement [Source].
func (l *Lookup) Fields() []table.Field { return at(l.Of, l.Columns) }
func (l *Lookup) Reads() []*Pipeline    { return nil }
func (l *Lookup) Exprs() []expr.Expr    { return nil }

func (l *Lookup) String() string {
	var by []string
	for i, c := range l.By {
		by = append(by, expr.Ident(l.Of[c].Name)+" = "+l.Values[i].String())
	}
	return "Lookup(" + tableText(l.Table, l.As, l.Fields()) + ") by " + expr.Ident(l.Index) + ", " + strings.Join(by, " AND ")
}
