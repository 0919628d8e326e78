package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
)

// PlaceLateral is the FROM of a query in which each LATERAL stands to the right in the join whose left side it reads. As it is bound, a
// LATERAL's references of level 1 are columns of the whole FROM, of which it may read all to its left. A side of a join may have a
// LATERAL that reads columns to the left of that side. Here that side becomes one LATERAL; inside of it these references are one level
// further out. One that reads nothing of its own FROM is none. It panics with an [*expr.Error] where a join keeps rows of a side that
// reads the other.
func PlaceLateral(n plan.Node) plan.Node {
	j, ok := n.(*plan.Join)
	if !ok {
		return detachLateral(n)
	}
	width := plan.Width(j.Left)
	right := j.Right
	if o := readsLeft(right, width); o != nil {
		if j.Kind.KeepsRight() {
			panic(expr.Coded(sqlstate.InvalidColumnReference, o.Pos(), "invalid reference to FROM-clause entry for %s: the combining JOIN type must be INNER or LEFT for a LATERAL reference", o))
		}
		if _, leaf := right.(*plan.Derived); !leaf {
			in := PlaceLateral(rebase(right, width, true))
			right = &plan.Derived{Of: &plan.Subplan{Tree: &plan.Project{Input: in, Items: plan.ItemsOf(in)}}, Lateral: true}
		}
	} else {
		right = PlaceLateral(rebase(right, width, false))
	}
	return &plan.Join{Kind: j.Kind, Left: PlaceLateral(j.Left), Right: right, On: j.On}
}

// detachLateral is an item of FROM that no join has to the right: a LATERAL there reads what is around its query alone.
func detachLateral(n plan.Node) plan.Node {
	if d, ok := n.(*plan.Derived); ok && d.Lateral {
		return &plan.Derived{Of: &plan.Subplan{Name: d.Of.Name, Tree: mapOuter(d.Of.Tree, 0, raiseLevel)}, As: d.As}
	}
	return n
}

// readsLeft finds a reference of a LATERAL in a FROM, or a part of it, to the first width columns. It is nil where
// there is none.
func readsLeft(n plan.Node, width int) (found *expr.Outer) {
	plan.Walk(n, func(n plan.Node, _ int) {
		if d, ok := n.(*plan.Derived); ok && d.Lateral {
			mapOuter(d.Of.Tree, 1, func(o *expr.Outer) expr.Expr {
				if readsFirst(o.X, width) {
					found = o
				}
				return o
			})
		}
	})
	return found
}

// readsFirst reports an expression of the first columns of a FROM, so many. USING makes one column of two of one side of a join: an
// expression has no columns of others.
func readsFirst(e expr.Expr, width int) bool {
	cols := expr.Columns(e)
	return len(cols) > 0 && cols[0] < width
}

// rebase is a part of a FROM that begins behind so many columns as one that begins with its own first column. Where it becomes a
// query of its own (further), what it reads of these columns, and of queries around, is one level further out.
func rebase(n plan.Node, width int, further bool) plan.Node {
	deeper := func(o *expr.Outer) expr.Expr {
		if further {
			return &expr.Outer{X: o.X, Level: o.Level + 1}
		}
		return o
	}
	return plan.Rewrite(n, func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Join:
			if n.On == nil || !further {
				return n
			}
			on, _ := outerMap{f: deeper, of: map[placedSubplan]*plan.Subplan{}}.expr(n.On, 0)
			return &plan.Join{Kind: n.Kind, Left: n.Left, Right: n.Right, On: on}
		case *plan.Derived:
			if !n.Lateral {
				if further {
					return mapOuter(n, 0, deeper)
				}
				return n
			}
			tree := mapOuter(n.Of.Tree, 0, func(o *expr.Outer) expr.Expr {
				switch {
				case o.Level > 1 || readsFirst(o.X, width):
					return deeper(o)
				}
				return &expr.Outer{X: expr.Moved(o.X, func(c int) int { return c - width }), Level: 1}
			})
			return &plan.Derived{Of: &plan.Subplan{Name: n.Of.Name, Tree: tree}, As: n.As, Lateral: true}
		}
		if further {
			return mapOuter(n, 0, deeper)
		}
		return n
	})
}

// ShiftLevels moves the outer references of a query so many levels further out. A WITH needs that when a subquery of its query names
// it. One that reads nothing around it is itself.
func ShiftLevels(s *plan.Subplan, levels int) *plan.Subplan {
	if levels == 0 || !reads(s.Tree, 0) {
		return s
	}
	return &plan.Subplan{Name: s.Name, Tree: mapOuter(s.Tree, 0, func(o *expr.Outer) expr.Expr {
		return &expr.Outer{X: o.X, Level: o.Level + levels}
	})}
}
