package pipeline

import (
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Change takes the rows into a table: it inserts them, or updates or deletes the rows whose numbers they have.
type Change struct {
	Verb    string // INSERT, UPDATE, DELETE or MERGE
	Table   string
	Set     []string // the columns that are assigned, of UPDATE
	Columns []int    // of the layout, that it takes
	// OnConflict says what becomes of a row whose key is there; "" for an error.
	OnConflict string
}

// Fields, Exprs and String implement [Sink].
func (c *Change) Fields([]table.Field) []table.Field { return []table.Field{} }
func (c *Change) Exprs() []expr.Expr                 { return nil }

func (c *Change) String() string {
	text := c.Verb[:1] + strings.ToLower(c.Verb[1:]) + "(" + expr.Ident(c.Table)
	if len(c.Set) > 0 {
		text += ": " + texts(c.Set, expr.Ident)
	}
	if c.OnConflict != "" {
		text += ", " + c.OnConflict
	}
	return text + ")"
}
