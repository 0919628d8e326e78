package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// A volatile function has a value of its own for each row of its query: see [expr.Function.Volatile]. In a query that reads columns of the
// rows around it, it also has one for each of these rows. So these rows get numbers, on which its values then depend. The number is one
// more outer column of the query. It distinguishes rows that are otherwise equal. A query that reads nothing around it runs once.

// perRow are rows with their numbers in one more column, and a tree that reads columns of them, whose volatile functions depend on that. ok is
// false, and both stay what they are, where there is no such function.
func perRow(cur, tree plan.Node) (_, _ plan.Node, ok bool) {
	if !reads(tree, 1) {
		return cur, tree, false
	}
	number := &expr.Column{Index: plan.Width(cur), Name: numberName, T: table.Type{Kind: table.BigInt}, P: -1}
	if tree, ok = (salted{number, map[placedSubplan]*plan.Subplan{}}).tree(tree, 0); !ok {
		return cur, tree, false
	}
	return withRowNumbers(cur), tree, true
}

// salted makes the volatile functions of a tree depend on a column of the rows around it.
type salted struct {
	by *expr.Column
	of map[placedSubplan]*plan.Subplan // what subplans became, so that those that read one still do
}

// tree salts a tree that stands so many queries further inside. A WITH that reads nothing around it runs once, and so does what is left of
// subqueries in expressions, each a constant.
func (s salted) tree(n plan.Node, inside int) (_ plan.Node, changed bool) {
	out := plan.Rewrite(n, func(n plan.Node) plan.Node {
		d, ok := n.(*plan.Derived)
		if !ok {
			return plan.MapExprs(n, func(e expr.Expr) expr.Expr {
				return expr.Map(e, func(e expr.Expr) expr.Expr {
					c, ok := e.(*expr.Call)
					if !ok || !c.Fn.Volatile {
						return nil
					}
					changed = true
					seed := expr.NewCall(expr.Seed, []expr.Expr{c.Args[1], &expr.Outer{X: s.by, Level: 1 + inside}}, c.P)
					return expr.NewCall(c.Fn, []expr.Expr{c.Args[0], seed}, c.P)
				})
			})
		}
		deeper := inside
		if d.Lateral {
			deeper++
		}
		at := placedSubplan{d.Of, deeper}
		if s.of[at] == nil {
			s.of[at] = d.Of
			if d.Of.Name == "" || reads(d.Of.Tree, 0) {
				if tree, more := s.tree(d.Of.Tree, deeper); more {
					s.of[at] = &plan.Subplan{Name: d.Of.Name, Tree: tree}
				}
			}
		}
		if s.of[at] == d.Of {
			return d
		}
		changed = true
		return &plan.Derived{Of: s.of[at], As: d.As, Lateral: d.Lateral}
	})
	return out, changed
}
