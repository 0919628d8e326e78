package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// mapOuter is a tree with its references to the level-th query around it replaced; level 0 stands for all levels.
// Subplans that have none stay the same ones.
func mapOuter(n plan.Node, level int, f func(*expr.Outer) expr.Expr) plan.Node {
	out, _ := outerMap{level, f, map[placedSubplan]*plan.Subplan{}}.tree(n, 0)
	return out
}

type outerMap struct {
	level int
	f     func(*expr.Outer) expr.Expr
	of    map[placedSubplan]*plan.Subplan // what subplans became, so that those that read one still do
}

// tree maps a tree that stands so many queries further inside; changed says that it reads something.
func (m outerMap) tree(n plan.Node, inside int) (_ plan.Node, changed bool) {
	out := plan.Rewrite(n, func(n plan.Node) plan.Node {
		if d, ok := n.(*plan.Derived); ok {
			deeper := inside
			if d.Lateral {
				deeper++
			}
			at := placedSubplan{d.Of, deeper}
			if m.of[at] == nil {
				m.of[at] = d.Of
				if tree, more := m.tree(d.Of.Tree, deeper); more {
					m.of[at] = &plan.Subplan{Name: d.Of.Name, Tree: tree}
				}
			}
			if of := m.of[at]; of != d.Of {
				changed = true
				return &plan.Derived{Of: of, As: d.As, Lateral: d.Lateral}
			}
			return d
		}
		return plan.MapExprs(n, func(e expr.Expr) expr.Expr {
			e, more := m.expr(e, inside)
			changed = changed || more
			return e
		})
	})
	return out, changed
}

// expr maps an expression.
func (m outerMap) expr(e expr.Expr, inside int) (_ expr.Expr, changed bool) {
	out := expr.Map(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Outer:
			if e.Level <= inside || m.level > 0 && e.Level != m.level+inside {
				return e
			}
			changed = true
			out := m.f(&expr.Outer{X: e.X, Level: e.Level - inside})
			if o, ok := out.(*expr.Outer); ok {
				return &expr.Outer{X: o.X, Level: o.Level + inside}
			}
			return out
		case *expr.Subquery:
			out := *e
			if e.Test != nil {
				test, more := m.expr(e.Test, inside)
				out.Test, changed = test, changed || more
			}
			if tree, more := m.tree(plan.SubqueryTree(e), inside+1); more {
				changed = true
				out.Of = &plan.Subplan{Tree: tree}
			}
			return &out
		}
		return nil
	})
	return out, changed
}

// placedSubplan is a subplan that stands so many queries further inside.
type placedSubplan struct {
	of     *plan.Subplan
	inside int
}

// reads reports that a tree reads columns around it: of the level-th query around it, or, for 0, of any.
func reads(n plan.Node, level int) bool {
	found := false
	mapOuter(n, level, func(o *expr.Outer) expr.Expr {
		found = true
		return o
	})
	return found
}

// ReadsOuter reports that an expression reads columns of a query around its own.
func ReadsOuter(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Outer:
			found = true
		case *expr.Subquery:
			found = found || reads(plan.SubqueryTree(e), 0)
		}
	})
	return found
}

// raiseLevel is an expression of a query further out, in the place of the subquery that had it.
func raiseLevel(e *expr.Outer) expr.Expr {
	if e.Level == 1 {
		return e.X
	}
	return &expr.Outer{X: e.X, Level: e.Level - 1}
}

// mapOuterOf maps what a subquery reads of the query around it.
func mapOuterOf(q *expr.Subquery, f func(expr.Expr) expr.Expr) *expr.Subquery {
	out := *q
	out.Test = f(q.Test)
	if reads(plan.SubqueryTree(q), 0) {
		out.Of = &plan.Subplan{Tree: mapOuter(plan.SubqueryTree(q), 1, func(o *expr.Outer) expr.Expr { return &expr.Outer{X: f(o.X), Level: 1} })}
	}
	return &out
}
