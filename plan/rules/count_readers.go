package rules

import "github.com/stencildb/stencildb/plan"

// CountReaders counts the nodes and subqueries that read each subplan below a tree, also in other subplans.
func CountReaders(tree plan.Node) map[*plan.Subplan]int {
	readers := map[*plan.Subplan]int{}
	var count func(tree plan.Node)
	count = func(tree plan.Node) {
		plan.Walk(tree, func(n plan.Node, _ int) {
			if r, ok := n.(*plan.Recursion); ok {
				readers[r.Last] = 2 // its rows change
			}
		})
		plan.EachSubplan(tree, func(s *plan.Subplan) {
			if readers[s]++; readers[s] == 1 {
				count(s.Tree)
			}
		})
	}
	count(tree)
	return readers
}
