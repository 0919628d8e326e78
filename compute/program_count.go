package compute

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// countsOnly reports whether a query asks for nothing but numbers of records.
func countsOnly(q *plan.Query) bool {
	return !slices.ContainsFunc(q.Aggs, func(a expr.Aggregate) bool { return a.Col >= 0 })
}

// countLeaf counts the records of a predicate that is one leaf evaluated from the
// values, without a bitmap in between; ok is false for other predicates.
func (c *compiler) countLeaf(e *evaluator, p *plan.Pred) (n count, ok bool, err error) {
	switch p.Leaf.(type) {
	case *plan.Program, *plan.Members:
	default:
		return n, false, nil
	}
	at := c.alloc(1)
	for _, w := range e.pieces {
		if err := e.countValueLeaf(p.Leaf, w, c.result, at); err != nil {
			return n, false, err
		}
	}
	return counted(place{at: at}), true, nil
}
