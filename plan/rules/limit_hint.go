package rules

import (
	"math"

	"github.com/stencildb/stencildb/plan"
)

// LimitHint is how many rows of the join of a tree's fragment are wanted, in any order. It comes from a [plan.Limit] with only expressions
// of each row between the two. 0 is for all of them.
func LimitHint(tree plan.Node) int {
	wanted := int64(0)
	for {
		switch n := tree.(type) {
		case *plan.Project:
			tree = n.Input
		case *plan.Limit:
			if wanted != 0 || n.Count <= 0 || n.Offset > math.MaxInt32-n.Count {
				return 0
			}
			tree, wanted = n.Input, n.Offset+n.Count
		case *plan.Fragment:
			if n.Join == nil || n.Where != nil || len(n.Aggs) > 0 || n.Groups != nil || n.Order != nil || n.NeedsRowCount {
				return 0
			}
			return int(wanted)
		default:
			return 0
		}
	}
}
