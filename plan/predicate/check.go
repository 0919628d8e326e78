package predicate

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Check is a predicate that must select no row: where it does, the query fails
// with Err.
type Check struct {
	Pred *Pred
	Err  error
	Of   expr.Expr // where not nil, each record has the error of evaluating this: see [Check.ErrorAt]
}

// ErrorAt is the error that a check's record raises.
func (k Check) ErrorAt(c *table.Chunk, row int) error {
	if k.Of == nil {
		return k.Err
	}
	_, err := expr.At(k.Of, expr.Rows(c), false)(row)
	return err
}
