package plan

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Values gives rows of constants. A SELECT without FROM reads one row without
// columns.
type Values struct {
	Columns []table.Field
	Rows    [][]expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (v *Values) Inputs() []Node        { return nil }
func (v *Values) With(...Node) Node     { return v }
func (v *Values) Fields() []table.Field { return v.Columns }

func (v *Values) String() string {
	if len(v.Rows) == 1 {
		return "Values(1 row)"
	}
	return fmt.Sprintf("Values(%d rows)", len(v.Rows))
}
