package pipeline

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Scalar leaves the value of a column of the one row, NULL where there is none: what an [expr.Subquery] is a constant of. Several rows are an error.
type Scalar struct {
	Column int        // of the layout
	Of     expr.Query // of the subqueries that it is the value of
	N      int        // the number of the first of them
}

// Fields, Exprs and String implement [Sink].
func (s *Scalar) Fields(in []table.Field) []table.Field { return at(in, []int{s.Column}) }
func (s *Scalar) Exprs() []expr.Expr                    { return nil }
func (s *Scalar) String() string                        { return fmt.Sprintf("Scalar(subquery %d)", s.N) }
