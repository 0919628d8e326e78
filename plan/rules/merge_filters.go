package rules

import (
	"slices"

	"github.com/stencildb/stencildb/plan"
)

// mergeFilters makes one of two filters, one above the other.
func mergeFilters(n plan.Node) plan.Node {
	if f, ok := n.(*plan.Filter); ok {
		if below, ok := f.Input.(*plan.Filter); ok {
			return &plan.Filter{Input: below.Input, Where: plan.Conjunction(slices.Concat(plan.Conjuncts(below.Where), plan.Conjuncts(f.Where)))}
		}
	}
	return n
}
