package pipeline

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Unpivot makes several rows of each: one for each list of expressions, whose values are added as columns. SUMMARIZE has a row a column so.
type Unpivot struct {
	Columns []table.Field // that are added
	Rows    [][]expr.Expr
}

// Fields, Reads, Exprs and String implement [Step].
func (u *Unpivot) Fields(in []table.Field) []table.Field { return slices.Concat(in, u.Columns) }
func (u *Unpivot) Reads() []*Pipeline                    { return nil }
func (u *Unpivot) Exprs() []expr.Expr                    { return slices.Concat(u.Rows...) }

func (u *Unpivot) String() string {
	return "Unpivot(" + numbers.Count(int64(len(u.Rows)), "row", "rows") + " of each)"
}
