package aggregates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// Supported returns a [plan.Declined] for a condition that only the CPU computes. It does
// so for the first aggregate that the graphics pipeline does not compute, too: the paper's accumulator is
// for integers and fixed point.
func Supported(q *physical.Query) error {
	if err := q.RequireNoScalar(); err != nil {
		return err
	}
	if err := q.RequireColumns(); err != nil {
		return err
	}
	for _, a := range q.Aggs {
		if (a.Kind == expr.Sum || a.Kind == expr.Avg) && a.Arg.IsFloat() {
			return &plan.Declined{Why: fmt.Sprintf("%v adds floating-point numbers, the accumulator of the graphics pipeline "+
				"adds integers and fixed point, which a cast to NUMERIC(p, s) gives", a)}
		}
	}
	return nil
}

// Run executes a query: first the checks, then the selection and every aggregate.
// The values are those of q.Aggs, in order, each of its Type.
func Run(run pass.Runner, device predicates.Limits, q *physical.Query) ([]table.Value, error) {
	s, err := Select(run, device, q)
	if err != nil {
		return nil, err
	}
	return partial.Finish(s, q)
}

// Select sets up the selection of a query; nothing runs yet. Queries for another
// backend are a [plan.Declined].
func Select(run pass.Runner, device predicates.Limits, q *physical.Query) (partial.Selection, error) {
	if err := Supported(q); err != nil {
		return nil, err
	}
	return NewSelection(run, device, q, needsStencil(q)), nil
}
