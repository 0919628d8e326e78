package plan

import "github.com/stencildb/stencildb/expr"

// PushInto moves the conditions of a tree on the rows of subplans that are read once into these: below the groups where they
// are on keys, else to HAVING; through DISTINCT, ORDER BY and set operations; not below LIMIT. reads says how many
// nodes read each subplan: see [Reads]. The subplans change; where the rule is off, nothing does.
func PushInto(tree Node, reads map[*Subplan]int, off Off) Node {
	if off.has(pushInto) {
		return tree
	}
	return Rewrite(tree, func(n Node) Node {
		f, ok := n.(*Filter)
		if !ok {
			return n
		}
		d, ok := f.Input.(*Derived)
		if !ok || reads[d.Of] != 1 {
			return n
		}
		var rest []expr.Expr
		for _, e := range Conjuncts(f.Where) {
			if in := sunk(d.Of.Tree, e, reads); in != nil {
				d.Of.Tree = in
			} else {
				rest = append(rest, e)
			}
		}
		return filtered(d, rest)
	})
}

// Reads counts the nodes that read each subplan below a tree.
func Reads(tree Node) map[*Subplan]int {
	in := &inliner{uses: map[*Subplan]int{}}
	in.count(tree)
	return in.uses
}

// sunk is a node without the rows for which a condition on its columns is not TRUE; nil where they cannot be left out
// below it. A condition that may raise an error is not moved.
func sunk(n Node, e expr.Expr, reads map[*Subplan]int) Node {
	if raisesWhileJoining(e) || correlated(e) {
		return nil
	}
	switch n := n.(type) {
	case *Scan, *Join:
		return &Filter{n, e}
	case *Derived:
		if reads[n.Of] == 1 {
			if in := sunk(n.Of.Tree, e, reads); in != nil {
				n.Of.Tree = in
				return n
			}
		}
		return &Filter{n, e}
	case *Filter:
		if in := sunk(n.Input, e, reads); in != nil {
			return n.With(in)
		}
	case *Project:
		return over(n, sunk(n.Input, expr.Map(e, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Column); ok {
				return n.Items[c.Index].E
			}
			return nil
		}), reads))
	case *Aggregate:
		if ofKeys(e) {
			key := expr.Map(e, func(e expr.Expr) expr.Expr {
				if r, ok := e.(*expr.AggRef); ok {
					return n.Keys[r.Index]
				}
				return nil
			})
			if in := sunk(n.Input, key, reads); in != nil {
				return n.With(in)
			}
		}
		return &Filter{n, e}
	case *Sort:
		if n.Unique == 0 && n.First < 0 {
			return over(n, sunk(n.Input, e, reads))
		}
	case *Distinct, *Repeat:
		return over(n, sunk(n.Inputs()[0], e, reads))
	case *Concat:
		var inputs []Node
		for _, in := range n.Of {
			if in = sunk(in, e, reads); in == nil {
				return nil
			}
			inputs = append(inputs, in)
		}
		return n.With(inputs...)
	}
	return nil
}

// over is a node over another input, nil over nil.
func over(n, in Node) Node {
	if in == nil {
		return nil
	}
	return n.With(in)
}

// ofKeys reports a condition on a group that reads its keys, and no aggregate.
func ofKeys(e expr.Expr) bool {
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
