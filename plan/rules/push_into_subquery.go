package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// PushIntoSubquery moves the conditions of a tree on the rows of subplans that are read once into the subplans. Conditions on keys
// move below the groups, others to HAVING. Conditions move through DISTINCT, ORDER BY and set operations, but not below LIMIT. reads
// says how many nodes read each subplan: see [CountReaders]. The subplans change; where the rule is off, nothing does.
func PushIntoSubquery(tree plan.Node, reads map[*plan.Subplan]int, off Off) plan.Node {
	if off.has(pushInto) {
		return tree
	}
	return plan.Rewrite(tree, func(n plan.Node) plan.Node {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n
		}
		d, ok := f.Input.(*plan.Derived)
		if !ok || reads[d.Of] != 1 {
			return n
		}
		var rest []expr.Expr
		for _, e := range plan.Conjuncts(f.Where) {
			if in := pushFilterBelow(d.Of.Tree, e, reads); in != nil {
				d.Of.Tree = in
			} else {
				rest = append(rest, e)
			}
		}
		return withFilter(d, rest)
	})
}

// pushFilterBelow is a node without the rows for which a condition on its columns is not TRUE. It is nil where they cannot be
// left out below the node. A condition that may raise an error is not moved.
func pushFilterBelow(n plan.Node, e expr.Expr, reads map[*plan.Subplan]int) plan.Node {
	if plan.RaisesWhileJoining(e) || plan.IsCorrelated(e) {
		return nil
	}
	switch n := n.(type) {
	case *plan.Scan, *plan.Join:
		return &plan.Filter{Input: n, Where: e}
	case *plan.Derived:
		if reads[n.Of] == 1 {
			if in := pushFilterBelow(n.Of.Tree, e, reads); in != nil {
				n.Of.Tree = in
				return n
			}
		}
		return &plan.Filter{Input: n, Where: e}
	case *plan.Filter:
		if in := pushFilterBelow(n.Input, e, reads); in != nil {
			return n.With(in)
		}
	case *plan.Project:
		return withInput(n, pushFilterBelow(n.Input, expr.Map(e, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Column); ok {
				return n.Items[c.Index].E
			}
			return nil
		}), reads))
	case *plan.Aggregate:
		if readsKeysOnly(e) {
			key := expr.Map(e, func(e expr.Expr) expr.Expr {
				if r, ok := e.(*expr.AggRef); ok {
					return n.Keys[r.Index]
				}
				return nil
			})
			if in := pushFilterBelow(n.Input, key, reads); in != nil {
				return n.With(in)
			}
		}
		return &plan.Filter{Input: n, Where: e}
	case *plan.Sort:
		if n.Unique == 0 && n.Limit < 0 {
			return withInput(n, pushFilterBelow(n.Input, e, reads))
		}
	case *plan.Distinct, *plan.Repeat:
		return withInput(n, pushFilterBelow(n.Inputs()[0], e, reads))
	case *plan.Concat:
		var inputs []plan.Node
		for _, in := range n.Of {
			if in = pushFilterBelow(in, e, reads); in == nil {
				return nil
			}
			inputs = append(inputs, in)
		}
		return n.With(inputs...)
	}
	return nil
}

// withInput is a node over another input, nil over nil.
func withInput(n, in plan.Node) plan.Node {
	if in == nil {
		return nil
	}
	return n.With(in)
}

// readsKeysOnly reports a condition on a group that reads its keys, and no aggregate.
func readsKeysOnly(e expr.Expr) bool {
	keys, others := 0, 0
	expr.Walk(e, func(e expr.Expr) {
		if r, ok := e.(*expr.AggRef); ok && r.Key != nil {
			keys++
		} else if ok {
			others++
		}
	})
	return keys > 0 && others == 0
}
