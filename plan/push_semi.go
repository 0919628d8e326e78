package plan

import "github.com/stencildb/stencildb/expr"

// PushSemi moves a semi join by one pair of columns to the side of an inner join that it reads: what has no partner
// need not be joined. One with more conditions looks at several partners of a row, and is better left to the rows that are joined.
func PushSemi(n Node) Node {
	j, ok := n.(*Join)
	if !ok || j.Kind != Semi || len(Conjuncts(j.On)) != 1 {
		return n
	}
	in, ok := j.Left.(*Join)
	if !ok || in.Kind != Inner {
		return n
	}
	width, first := len(in.Fields()), len(in.Left.Fields())
	left, right := true, true
	if raisesWhileJoining(j.On) {
		return n
	}
	for _, c := range expr.Columns(j.On) {
		left, right = left && (c < first || c >= width), right && c >= first
	}
	moved := func(side Node, from int) Node { // whose columns are those from there on
		return PushSemi(&Join{Semi, side, j.Right, expr.Moved(j.On, func(c int) int {
			if c >= width {
				return c - width + len(side.Fields())
			}
			return c - from
		})})
	}
	switch {
	case left:
		return &Join{Inner, moved(in.Left, 0), in.Right, in.On}
	case right:
		return &Join{Inner, in.Left, moved(in.Right, first), in.On}
	}
	return n
}
