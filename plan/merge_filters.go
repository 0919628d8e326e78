package plan

import (
	"slices"
)

// oneFilter makes one of two filters, one above the other.
func oneFilter(n Node) Node {
	if f, ok := n.(*Filter); ok {
		if below, ok := f.Input.(*Filter); ok {
			return &Filter{below.Input, All(slices.Concat(Conjuncts(below.Where), Conjuncts(f.Where)))}
		}
	}
	return n
}
