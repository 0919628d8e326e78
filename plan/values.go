package plan

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Values gives rows of constants, or of expressions over the one row of its input. A SELECT
// without FROM reads one row without columns.
type Values struct {
	Columns []table.Field
	Rows    [][]expr.Expr
	Input   Node // nil for constants
}

// Inputs, With, Fields and String implement [Node].
func (v *Values) Fields() []table.Field { return v.Columns }
func (v *Values) Inputs() []Node {
	if v.Input == nil {
		return nil
	}
	return []Node{v.Input}
}

func (v *Values) With(inputs ...Node) Node {
	if len(inputs) == 0 {
		return v
	}
	return &Values{v.Columns, v.Rows, inputs[0]}
}

func (v *Values) String() string {
	if len(v.Rows) == 1 {
		return "Values(1 row)"
	}
	return fmt.Sprintf("Values(%d rows)", len(v.Rows))
}
