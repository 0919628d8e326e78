package plan

import (
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
)

// LimitInto gives each query of a UNION ALL below a [Limit] a limit of its own: no more of its rows are wanted than of all. So it
// does with a [Recursion] and a [Series], also below conditions. The
// subplans that hold the queries change, where one node alone reads them; reads says how many do: see [Reads]. A query that may
// raise an error in a row stays whole, since the row may be one that is left out.
func LimitInto(tree Node, reads map[*Subplan]int, off Off) Node {
	if off.has(limitInto) {
		return tree
	}
	return Rewrite(tree, func(n Node) Node {
		if l, ok := n.(*Limit); ok && l.Count >= 0 && l.Offset <= math.MaxInt64-l.Count {
			if d, ok := l.Input.(*Derived); ok && reads[d.Of] == 1 {
				d.Of.Tree = limited(d.Of.Tree, l.Offset+l.Count, reads)
			}
			limitSource(l.Input, nil, l.Offset+l.Count, reads)
		}
		return n
	})
}

// limitSource has a [Recursion] or a [Series] end when so many rows are there that conditions leave.
func limitSource(n Node, where []expr.Expr, count int64, reads map[*Subplan]int) {
	switch n := n.(type) {
	case *Project:
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
	case *Filter:
		limitSource(n.Input, append(Conjuncts(n.Where), where...), count, reads)
	case *Derived:
		if reads[n.Of] != 1 || slices.ContainsFunc(where, correlated) {
			return
		}
		switch of := n.Of.Tree.(type) {
		case *Recursion:
			of = of.With(of.Inputs()...).(*Recursion)
			of.Limit, of.Where, n.Of.Tree = count, where, of
		case *Series:
			next := *of
			next.Limit, next.Where, n.Of.Tree = count, where, &next
		default:
			limitSource(of, where, count, reads)
		}
	}
}

// limited is a node of which so many rows are wanted, in their order.
func limited(n Node, count int64, reads map[*Subplan]int) Node {
	switch n := n.(type) {
	case *Derived:
		if reads[n.Of] == 1 {
			n.Of.Tree = limited(n.Of.Tree, count, reads)
		}
	case *Project:
		if selectsAll(n) {
			return n.With(limited(n.Input, count, reads))
		}
	case *Concat:
		var inputs []Node
		for _, in := range n.Of {
			inputs = append(inputs, limitedQuery(in, count, reads))
		}
		return n.With(inputs...)
	}
	return n
}

// limitedQuery is a query of a UNION ALL, of which so many rows are wanted.
func limitedQuery(n Node, count int64, reads map[*Subplan]int) Node {
	switch n := n.(type) {
	case *Concat:
		return limited(n, count, reads)
	case *Series, *Recursion, *Window: // whose rows are a table as a whole
		return n
	case *Limit:
		if n.Count >= 0 {
			return &Limit{Input: n.Input, Offset: n.Offset, Count: min(n.Count, count)}
		}
	}
	if rowsRaise(n) {
		return n
	}
	return PushLimit(&Limit{Input: n, Count: count})
}

// rowsRaise reports that a row of a tree may raise an error, but for those of subplans, which run whole.
func rowsRaise(n Node) (found bool) {
	Walk(n, func(n Node, _ int) { found = found || slices.ContainsFunc(Exprs(n), raisesWhileJoining) })
	return found
}
