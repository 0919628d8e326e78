package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
)

// Inline moves subplans that give rows of tables, perhaps filtered and joined, into the query around them. It
// does so if only one node reads the subplan. Expressions over the rows are then computed where they are used.
// Where the rule is off, it is the tree.
func Inline(tree plan.Node, off Off) plan.Node {
	if off.has(inline) {
		return tree
	}
	return (&inliner{readers: CountReaders(tree), done: map[*plan.Subplan]bool{}}).inlineSubplans(tree)
}

type inliner struct {
	readers map[*plan.Subplan]int
	done    map[*plan.Subplan]bool
}

// plan inlines below a subplan.
func (i *inliner) plan(s *plan.Subplan) {
	if !i.done[s] {
		i.done[s] = true
		s.Tree = i.inlineSubplans(s.Tree)
	}
}

// inlineSubplans is a tree that gives the same columns.
func (i *inliner) inlineSubplans(n plan.Node) plan.Node {
	n, list := i.node(n)
	for k, e := range list {
		if c, ok := e.(*expr.Column); !ok || c.Index != k || len(list) != plan.Width(n) {
			p := &plan.Project{Input: n}
			for _, e := range list {
				name := e.String()
				if c, ok := e.(*expr.Column); ok {
					name = c.Name
				}
				p.Items = append(p.Items, plan.Item{Name: name, E: e})
			}
			return p
		}
	}
	return n
}

// node is a tree, and what its columns were, over its columns as they are now.
func (i *inliner) node(n plan.Node) (plan.Node, []expr.Expr) {
	for _, e := range plan.Exprs(n) {
		expr.Walk(e, func(e expr.Expr) {
			if q, ok := e.(*expr.Subquery); ok {
				i.plan(q.Of.(*plan.Subplan))
			}
		})
	}
	switch n := n.(type) {
	case *plan.Derived:
		i.plan(n.Of)
		if p, ok := n.Of.Tree.(*plan.Project); ok && i.readers[n.Of] == 1 && givesTableRows(p.Input) {
			list := xslices.Map(p.Items, func(item plan.Item) expr.Expr { return item.E })
			return p.Input, list
		}
	case *plan.Filter, *plan.Sort, *plan.Limit:
		in, list := i.node(n.Inputs()[0])
		return substituteColumns(n, list).With(in), list
	case *plan.Project, *plan.Aggregate, *plan.GroupingSets:
		in, list := i.node(n.Inputs()[0])
		out := substituteColumns(n, list).With(in)
		return out, plan.ColumnsOf(out)
	case *plan.Join:
		return i.join(n)
	default:
		inputs := xslices.Map(n.Inputs(), i.inlineSubplans)
		return n.With(inputs...), plan.ColumnsOf(n)
	}
	return n, plan.ColumnsOf(n)
}

// givesTableRows reports rows of tables, filtered and joined.
func givesTableRows(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return givesTableRows(n.Input)
	case *plan.Scan, *plan.Derived, *plan.Join:
		return true
	}
	return false
}

// join inlines the sides of a join. On a side whose columns may become NULL stands nothing that is computed.
func (i *inliner) join(j *plan.Join) (plan.Node, []expr.Expr) {
	side := func(in plan.Node, nulls bool) (plan.Node, []expr.Expr) {
		out, list := i.node(in)
		if _, ok := out.(*plan.Join); ok && nulls || nulls && slices.ContainsFunc(list, func(e expr.Expr) bool { _, column := e.(*expr.Column); return !column }) {
			return in, plan.ColumnsOf(in)
		}
		return out, list
	}
	left, l := side(j.Left, j.Kind.KeepsRight())
	right, r := side(j.Right, j.Kind.KeepsLeft() || j.Kind.LeftOnly())
	width := plan.Width(left)
	for k, e := range r {
		r[k] = expr.Moved(e, func(c int) int { return c + width })
	}
	list := slices.Concat(l, r)
	out := substituteColumns(j, list).With(left, right)
	if j.Kind.LeftOnly() {
		list = l
	}
	return out, list
}

// substituteColumns is a node of other expressions in the place of the columns of its input.
func substituteColumns(n plan.Node, list []expr.Expr) plan.Node {
	return plan.MapExprs(n, func(e expr.Expr) expr.Expr {
		return expr.Map(e, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Column); ok {
				return list[c.Index]
			}
			return nil
		})
	})
}
