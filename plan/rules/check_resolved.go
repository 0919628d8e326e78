package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
)

// checkResolved panics with an [*expr.Error] where a statement's tree still reads what only a query around a part of it has. That is
// an [expr.Outer], a test's [expr.SubColumn], a subquery that is more than a constant, or a LATERAL that is not joined. Nothing that
// runs knows the values of these.
func checkResolved(tree plan.Node) {
	(&resolvedChecker{map[*plan.Subplan]bool{}}).tree(tree)
}

type resolvedChecker struct{ seen map[*plan.Subplan]bool }

func (r *resolvedChecker) tree(n plan.Node) {
	plan.Walk(n, func(n plan.Node, _ int) {
		switch n := n.(type) {
		case *plan.Derived:
			if n.Lateral {
				panic(expr.Coded(sqlstate.FeatureNotSupported, -1, "this LATERAL, which reads columns of the query around it, is not supported here: write it as a join"))
			}
			r.subplan(n.Of)
		case *plan.Window:
			for _, f := range n.Funcs {
				r.expr(f)
			}
		}
		for _, e := range plan.Exprs(n) {
			r.expr(e)
		}
	})
}

func (r *resolvedChecker) subplan(s *plan.Subplan) {
	if !r.seen[s] {
		r.seen[s] = true
		r.tree(s.Tree)
	}
}

func (r *resolvedChecker) expr(e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Outer:
			panic(expr.Coded(sqlstate.FeatureNotSupported, e.Pos(), "%s is a column of the query around this one, which a query in this place cannot read: write it as a join", e))
		case *expr.SubColumn:
			panic(expr.Coded(sqlstate.FeatureNotSupported, e.P, "ANY or ALL of this subquery is not supported here: write it as a join"))
		case *expr.Subquery:
			if e.Kind != expr.Value {
				panic(expr.Coded(sqlstate.FeatureNotSupported, e.P, "this subquery is not supported here: write it as a join"))
			}
			r.subplan(e.Of.(*plan.Subplan))
		}
	})
}
