package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// PushFilter moves the conditions of a [plan.Filter] and of joins below it to where fewer rows are read. A
// condition over one input moves to that input, a condition over both to the condition of the join. A
// condition that may raise an error stays where it is. Above an outer join, a condition over the side that
// may be NULL stays, too.
func PushFilter(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Filter:
		if _, ok := n.Input.(*plan.Join); ok {
			in, rest := pushConditions(n.Input, plan.Conjuncts(n.Where))
			return withFilter(in, rest)
		}
	case *plan.Join:
		in, _ := pushConditions(n, nil)
		return in
	}
	return n
}

// withFilter is a node with the conditions of a list above it.
func withFilter(n plan.Node, list []expr.Expr) plan.Node {
	if len(list) == 0 {
		return n
	}
	return &plan.Filter{Input: n, Where: plan.Conjunction(list)}
}

// pushConditions moves conditions over a node's columns below it; those in rest have to stay above it.
func pushConditions(n plan.Node, list []expr.Expr) (_ plan.Node, rest []expr.Expr) {
	switch n := n.(type) {
	case *plan.Scan, *plan.Derived:
		return withFilter(n, list), nil
	case *plan.Filter:
		return pushConditions(n.Input, slices.Concat(plan.Conjuncts(n.Where), list))
	case *plan.Join:
		return pushIntoJoin(n, list)
	}
	return n, list
}

func pushIntoJoin(j *plan.Join, list []expr.Expr) (_ plan.Node, rest []expr.Expr) {
	kind, width := j.Kind, plan.Width(j.Left)
	var left, right, on []expr.Expr
	for _, e := range list {
		of := plan.SideOf(e, width)
		switch {
		case plan.RaisesWhileJoining(e):
			rest = append(rest, e)
			continue
		case kind.KeepsRight() && of != plan.OnRight && rejectsNull(e, func(c int) bool { return c < width }): // such rows are not wanted
			kind -= plan.RightOuter
		case kind.KeepsLeft() && of != plan.OnLeft && rejectsNull(e, func(c int) bool { return c >= width }):
			kind -= plan.LeftOuter
		}
	}
	for _, e := range list {
		switch of := plan.SideOf(e, width); {
		case plan.RaisesWhileJoining(e):
		case of == plan.OnLeft && !kind.KeepsRight():
			left = append(left, e)
		case of == plan.OnRight && !kind.KeepsLeft():
			right = append(right, e)
		case kind == plan.Inner:
			on = append(on, e)
		default:
			rest = append(rest, e)
		}
	}
	for _, e := range plan.Conjuncts(j.On) {
		switch of := plan.SideOf(e, width); {
		case plan.RaisesWhileJoining(e):
			on = append(on, e)
		case of == plan.OnLeft && !kind.KeepsLeft() && kind != plan.Anti:
			left = append(left, e)
		case of == plan.OnRight && !kind.KeepsRight():
			right = append(right, e)
		default:
			on = append(on, e)
		}
	}
	for i, e := range right {
		right[i] = expr.Moved(e, func(c int) int { return c - width })
	}
	l, above := pushConditions(j.Left, left)
	r, aboveRight := pushConditions(j.Right, right)
	return &plan.Join{Kind: kind, Left: withFilter(l, above), Right: withFilter(r, aboveRight), On: plan.Conjunction(on)}, rest
}

// rejectsNull reports that a condition is not TRUE where the columns of one side are NULL. It is a comparison
// with one of these columns, or with arithmetic over one.
func rejectsNull(e expr.Expr, side func(column int) bool) bool {
	switch e := e.(type) {
	case *expr.Compare:
		return strict(e.L, side) || strict(e.R, side)
	case *expr.Between:
		return !e.Not && strict(e.X, side)
	case *expr.In:
		return strict(e.X, side)
	case *expr.Like:
		return strict(e.X, side)
	case *expr.IsNull:
		return e.Not && strict(e.X, side)
	case *expr.And:
		return slices.ContainsFunc(e.Kids, func(k expr.Expr) bool { return rejectsNull(k, side) })
	case *expr.Or:
		return !slices.ContainsFunc(e.Kids, func(k expr.Expr) bool { return !rejectsNull(k, side) })
	}
	return false
}

// strict reports that an expression is NULL where the columns of one side are.
func strict(e expr.Expr, side func(column int) bool) bool {
	switch e := e.(type) {
	case *expr.Column:
		return side(e.Index)
	case *expr.Cast:
		return strict(e.X, side)
	case *expr.Neg:
		return strict(e.X, side)
	case *expr.Arith:
		return strict(e.L, side) || strict(e.R, side)
	}
	return false
}
