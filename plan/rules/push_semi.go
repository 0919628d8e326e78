package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// PushSemi moves a semi join by one pair of columns to the side of an inner join that it reads. Rows without a partner then need
// not be joined. One with more conditions looks at several partners of a row, and is better left to the rows that are joined.
func PushSemi(n plan.Node) plan.Node {
	j, ok := n.(*plan.Join)
	if !ok || j.Kind != plan.Semi || len(plan.Conjuncts(j.On)) != 1 {
		return n
	}
	in, ok := j.Left.(*plan.Join)
	if !ok || in.Kind != plan.Inner {
		return n
	}
	width, first := plan.Width(in), plan.Width(in.Left)
	left, right := true, true
	if plan.RaisesWhileJoining(j.On) {
		return n
	}
	for _, c := range expr.Columns(j.On) {
		left, right = left && (c < first || c >= width), right && c >= first
	}
	moved := func(side plan.Node, from int) plan.Node { // whose columns are those from there on
		return PushSemi(&plan.Join{Kind: plan.Semi, Left: side, Right: j.Right, On: expr.Moved(j.On, func(c int) int {
			if c >= width {
				return c - width + plan.Width(side)
			}
			return c - from
		})})
	}
	switch {
	case left:
		return &plan.Join{Kind: plan.Inner, Left: moved(in.Left, 0), Right: in.Right, On: in.On}
	case right:
		return &plan.Join{Kind: plan.Inner, Left: in.Left, Right: moved(in.Right, first), On: in.On}
	}
	return n
}
