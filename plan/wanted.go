package plan

import "math"

// Wanted is how many rows of the join of a tree's fragment are asked for, in any order: those of a [Limit] with nothing between the
// two but expressions of each row. 0 is for all of them.
func Wanted(tree Node) int {
	wanted := int64(0)
	for {
		switch n := tree.(type) {
		case *Project:
			tree = n.Input
		case *Limit:
			if wanted != 0 || n.Count <= 0 || n.Offset > math.MaxInt32-n.Count {
				return 0
			}
			tree, wanted = n.Input, n.Offset+n.Count
		case *Fragment:
			if n.Join == nil || n.Where != nil || len(n.Aggs) > 0 || n.Groups != nil || n.Order != nil || n.Total {
				return 0
			}
			return int(wanted)
		default:
			return 0
		}
	}
}
