package aggregates

import (
	"fmt"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// Supported returns a [plan.Declined] for the first aggregate that the
// graphics pipeline does not compute: the paper's accumulator is for integers and
// fixed point.
func Supported(q *plan.Query) error {
	for _, a := range q.Aggs {
		if (a.Kind == expr.Sum || a.Kind == expr.Avg) && a.Arg.IsFloat() {
			return &plan.Declined{Why: fmt.Sprintf("%v adds floating-point numbers, the accumulator of the graphics pipeline "+
				"adds integers and fixed point (load the column as numeric(p,s) for that)", a)}
		}
	}
	return nil
}

// Run executes a query: first the checks, then the selection and every aggregate.
// The values are those of q.Aggs, in order, each of its Type. With a runner that
// executes nothing the values mean nothing.
func Run(run pass.Runner, device predicates.Device, q *plan.Query) ([]table.Value, error) {
	if err := Supported(q); err != nil {
		return nil, err
	}
	g := NewGroup(run, device, q, needsStencil(q))
	if err := g.Checks(q); err != nil {
		return nil, err
	}
	return plan.Finish(selected{g}, q, run.Executes())
}

// selected is a Group as a Selection.
type selected struct{ *Group }

// CountNotNull implements Selection.
func (s selected) CountNotNull(col int) (uint64, error) {
	n, _, err := s.Group.CountNotNull(col)
	return n, err
}

// Sum implements Selection.
func (s selected) Sum(col int) (*big.Int, uint64, error) { return s.Accumulator(col) }

// Kth implements Selection.
func (s selected) Kth(col int, k uint64, largest bool) (table.Value, error) {
	return s.kth(col, k, largest)
}
