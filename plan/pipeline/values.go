package pipeline

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Values gives rows of constants: those of VALUES. A SELECT without FROM reads one row without columns.
type Values struct {
	Columns []table.Field
	Rows    [][]expr.Expr
}

// Fields, Reads, Exprs and String implement [Source].
func (v *Values) Fields() []table.Field { return v.Columns }
func (v *Values) Reads() []*Pipeline    { return nil }
func (v *Values) Exprs() []expr.Expr    { return slices.Concat(v.Rows...) }

func (v *Values) String() string {
	return "Values(" + numbers.Count(int64(len(v.Rows)), "row", "rows") + ")"
}
