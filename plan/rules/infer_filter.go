package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// InferFilter adds conditions to joins: a condition on a column also holds for the columns that equal it. Where a.k = b.k and
// a.k > 5, it adds b.k > 5, which [PushFilter] moves to b. Of an outer, semi or anti join only the right input gains
// conditions: rows that match no remaining left row match none at all.
func InferFilter(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Filter:
		j, ok := n.Input.(*plan.Join)
		if ok && j.Kind == plan.Inner {
			known := columnFacts(n, 0)
			return &plan.Filter{Input: j, Where: plan.Conjunction(slices.Concat(plan.Conjuncts(n.Where), impliedFacts(known, known, 0)))}
		}
		if ok && !j.Kind.KeepsRight() {
			return n.With(inferIntoJoin(j, columnFacts(n, 0)))
		}
	case *plan.Join:
		switch {
		case n.Kind == plan.Inner:
			known := columnFacts(n, 0)
			return &plan.Join{Kind: n.Kind, Left: n.Left, Right: n.Right, On: plan.Conjunction(slices.Concat(plan.Conjuncts(n.On), impliedFacts(known, known, 0)))}
		case !n.Kind.KeepsRight():
			return inferIntoJoin(n, columnFacts(n.Left, 0))
		}
	}
	return n
}

// inferIntoJoin is a join that keeps its left rows, of which all known conditions hold, or drops whole ones.
func inferIntoJoin(j *plan.Join, known []expr.Expr) plan.Node {
	width := plan.Width(j.Left)
	known = slices.DeleteFunc(known, func(e expr.Expr) bool { return plan.SideOf(e, width) != plan.OnLeft })
	on := plan.Conjuncts(j.On)
	right := columnFacts(j.Right, width)
	more := impliedFacts(slices.Concat(known, on), slices.Concat(known, on, right), width)
	return &plan.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, On: plan.Conjunction(slices.Concat(on, more))}
}

// columnFacts are conditions that hold for each row of a node, over columns that begin with number first.
func columnFacts(n plan.Node, first int) (list []expr.Expr) {
	var own expr.Expr
	switch n := n.(type) {
	case *plan.Filter:
		list, own = columnFacts(n.Input, first), n.Where
	case *plan.Join:
		if n.Kind.KeepsRight() {
			return nil
		}
		list = columnFacts(n.Left, first)
		if n.Kind == plan.Inner {
			list, own = append(list, columnFacts(n.Right, first+plan.Width(n.Left))...), n.On
		}
	}
	for _, e := range plan.Conjuncts(own) {
		if first > 0 {
			e = expr.Moved(e, func(c int) int { return c + first })
		}
		list = append(list, e)
	}
	return list
}

// impliedFacts are conditions on columns from number first on that known ones imply and that seen has not.
func impliedFacts(known, seen []expr.Expr, first int) (list []expr.Expr) {
	equal := map[int][]*expr.Column{}
	for _, e := range known {
		l, r, ok := plan.EquiJoinKey(e)
		a, left := l.(*expr.Column)
		b, right := r.(*expr.Column)
		if ok && left && right && (a.T == b.T || a.T.IsInteger() && b.T.IsInteger()) {
			equal[a.Index], equal[b.Index] = append(equal[a.Index], b), append(equal[b.Index], a)
		}
	}
	for _, e := range known {
		c := boundedColumn(e)
		if c == nil {
			continue
		}
		reached := map[int]bool{c.Index: true}
		for todo := equal[c.Index]; len(todo) > 0; {
			to := todo[0]
			if todo = todo[1:]; reached[to.Index] {
				continue
			}
			reached[to.Index] = true
			todo = append(todo, equal[to.Index]...)
			out := expr.Map(e, func(e expr.Expr) expr.Expr {
				if _, ok := e.(*expr.Column); ok {
					return to
				}
				return nil
			})
			if to.Index >= first && !containsExpr(seen, out) && !containsExpr(list, out) {
				list = append(list, out)
			}
		}
	}
	return list
}

// boundedColumn is the column that a condition compares with constants; nil for another condition.
func boundedColumn(e expr.Expr) *expr.Column {
	var x expr.Expr
	var constants []expr.Expr
	switch e := e.(type) {
	case *expr.Compare:
		if x, constants = e.L, []expr.Expr{e.R}; isConst(x) {
			x, constants = e.R, []expr.Expr{e.L}
		}
	case *expr.Between:
		x, constants = e.X, []expr.Expr{e.Lo, e.Hi}
	case *expr.In:
		x = e.X
	}
	c, ok := x.(*expr.Column)
	if !ok || slices.ContainsFunc(constants, func(e expr.Expr) bool { return !isConst(e) }) {
		return nil
	}
	return c
}

func isConst(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}
