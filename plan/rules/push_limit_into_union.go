package rules

import (
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
)

// PushLimitIntoUnion gives each query of a UNION ALL below a [plan.Limit] a limit of its own. No query has to give more rows than the
// union. So it does with a [plan.Recursion] and a [plan.Series], also below conditions. The subplans that hold the queries change, where
// one node alone reads them; reads says how many do: see [CountReaders]. A query that may raise an error in a row stays whole, since the
// row may be one that is left out.
func PushLimitIntoUnion(tree plan.Node, reads map[*plan.Subplan]int, off Off) plan.Node {
	if off.has(limitInto) {
		return tree
	}
	return plan.Rewrite(tree, func(n plan.Node) plan.Node {
		if l, ok := n.(*plan.Limit); ok && l.Count >= 0 && l.Offset <= math.MaxInt64-l.Count {
			if d, ok := l.Input.(*plan.Derived); ok && reads[d.Of] == 1 {
				d.Of.Tree = limitNode(d.Of.Tree, l.Offset+l.Count, reads)
			}
			limitSource(l.Input, nil, l.Offset+l.Count, reads)
		}
		return n
	})
}

// limitSource has a [plan.Recursion] or a [plan.Series] end when so many rows are there that conditions leave.
func limitSource(n plan.Node, where []expr.Expr, count int64, reads map[*plan.Subplan]int) {
	switch n := n.(type) {
	case *plan.Project:
		var below []expr.Expr
		for _, e := range where {
			below = append(below, expr.Map(e, func(e expr.Expr) expr.Expr {
				if c, ok := e.(*expr.Column); ok {
					return n.Items[c.Index].E
				}
				return nil
			}))
		}
		limitSource(n.Input, below, count, reads)
	case *plan.Filter:
		limitSource(n.Input, append(plan.Conjuncts(n.Where), where...), count, reads)
	case *plan.Derived:
		if reads[n.Of] != 1 || slices.ContainsFunc(where, plan.IsCorrelated) {
			return
		}
		switch of := n.Of.Tree.(type) {
		case *plan.Recursion:
			of = of.With(of.Inputs()...).(*plan.Recursion)
			of.Limit, of.Where, n.Of.Tree = count, where, of
		case *plan.Series:
			next := *of
			next.Limit, next.Where, n.Of.Tree = count, where, &next
		default:
			limitSource(of, where, count, reads)
		}
	}
}

// limitNode is a node of which so many rows are wanted, in their order.
func limitNode(n plan.Node, count int64, reads map[*plan.Subplan]int) plan.Node {
	switch n := n.(type) {
	case *plan.Derived:
		if reads[n.Of] == 1 {
			n.Of.Tree = limitNode(n.Of.Tree, count, reads)
		}
	case *plan.Project:
		if plan.SelectsAll(n) {
			return n.With(limitNode(n.Input, count, reads))
		}
	case *plan.Concat:
		inputs := xslices.Map(n.Of, func(in plan.Node) plan.Node { return limitQuery(in, count, reads) })
		return n.With(inputs...)
	}
	return n
}

// limitQuery is a query of a UNION ALL, of which so many rows are wanted.
func limitQuery(n plan.Node, count int64, reads map[*plan.Subplan]int) plan.Node {
	switch n := n.(type) {
	case *plan.Concat:
		return limitNode(n, count, reads)
	case *plan.Series, *plan.Recursion, *plan.Window: // whose rows are a table as a whole
		return n
	case *plan.Limit:
		if n.Count >= 0 {
			return &plan.Limit{Input: n.Input, Offset: n.Offset, Count: min(n.Count, count)}
		}
	}
	if rowsRaise(n) {
		return n
	}
	return PushLimit(&plan.Limit{Input: n, Count: count})
}

// rowsRaise reports that a row of a tree may raise an error, but for those of subplans, which run whole.
func rowsRaise(n plan.Node) (found bool) {
	plan.Walk(n, func(n plan.Node, _ int) { found = found || slices.ContainsFunc(plan.Exprs(n), plan.RaisesWhileJoining) })
	return found
}
