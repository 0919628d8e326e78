package rules

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/stats"
)

// MaterializeJoin makes a table of its own of two inputs of a join, and joins the others to that. Of inner joins it takes two inputs whose
// join condition has an equality, with the fewest expected rows. It is nil where there are none.
func MaterializeJoin(tree plan.Node, of *stats.Estimates) plan.Node {
	inputs := tree.Inputs()
	j, ok := tree.(*plan.Join)
	switch {
	case ok && j.Kind == plan.Inner:
		return materializeInner(j, of)
	case ok:
		left, right := materialized(j.Left), materialized(j.Right)
		if left == j.Left && right == j.Right {
			return nil
		}
		return &plan.Join{Kind: j.Kind, Left: left, Right: right, On: j.On}
	case len(inputs) == 1:
		if in := MaterializeJoin(inputs[0], of); in != nil {
			return tree.With(in)
		}
	}
	return nil
}

// MaterializeRows is a tree over a join with the rows of that as a table of its own.
func MaterializeRows(tree plan.Node) plan.Node {
	f, filters := tree.(*plan.Filter)
	_, joins := tree.(*plan.Join)
	if filters {
		_, joins = f.Input.(*plan.Join)
	}
	if joins {
		return materialized(tree)
	}
	return tree.With(MaterializeRows(tree.Inputs()[0]))
}

// materialized is a node, or what gives its rows where it joins tables.
func materialized(n plan.Node) plan.Node {
	scans := plan.Scans(plan.DerivedAsScans(n))
	if len(scans) == 1 {
		return n
	}
	names := xslices.Map(scans, func(s *plan.Scan) string { return tableName(s) })
	return &plan.Derived{Of: &plan.Subplan{Tree: &plan.Project{Input: n, Items: plan.ItemsOf(n)}}, As: strings.Join(names, ", ")}
}

// materializeInner is [MaterializeJoin] of inner joins that stand above one another.
func materializeInner(j *plan.Join, of *stats.Estimates) plan.Node {
	var inputs []plan.Node
	var starts []int // of their columns, and the end
	var conditions []expr.Expr
	width := 0
	var collect func(n plan.Node)
	collect = func(n plan.Node) {
		if n, ok := n.(*plan.Join); ok && n.Kind == plan.Inner {
			first := width
			collect(n.Left)
			collect(n.Right)
			for _, e := range plan.Conjuncts(n.On) {
				conditions = append(conditions, expr.Moved(e, func(c int) int { return c + first }))
			}
			return
		}
		inputs, starts = append(inputs, n), append(starts, width)
		width += plan.Width(n)
	}
	collect(j)
	starts = append(starts, width)
	within := func(e expr.Expr, first, end int) bool {
		columns := expr.Columns(e)
		return len(columns) > 0 && columns[0] >= starts[first] && columns[len(columns)-1] < starts[end]
	}
	some := false
	for i, in := range inputs {
		inputs[i] = materialized(in)
		some = some || inputs[i] != in
	}
	var best plan.Node // of the input at and the next one
	at := 0
	for i := 0; !some && len(inputs) > 2 && i+1 < len(inputs); i++ {
		equal := false
		var on []expr.Expr
		for _, e := range conditions {
			if l, r, ok := plan.EquiJoinKey(e); ok {
				equal = equal || within(l, i, i+1) && within(r, i+1, i+2) || within(r, i, i+1) && within(l, i+1, i+2)
			}
			if within(e, i, i+2) && !plan.RaisesWhileJoining(e) {
				on = append(on, expr.Moved(e, func(c int) int { return c - starts[i] }))
			}
		}
		pair := &plan.Join{Kind: plan.Inner, Left: inputs[i], Right: inputs[i+1], On: plan.Conjunction(on)}
		if equal && (best == nil || of.Rows(pair) < of.Rows(best)) {
			best, at = pair, i
		}
	}
	if best != nil {
		conditions = slices.DeleteFunc(conditions, func(e expr.Expr) bool { return within(e, at, at+2) && !plan.RaisesWhileJoining(e) })
		inputs = slices.Replace(inputs, at, at+2, materialized(best))
	} else if !some {
		return nil
	}
	out := inputs[0]
	for _, in := range inputs[1:] {
		out = &plan.Join{Kind: plan.Inner, Left: out, Right: in}
	}
	top := out.(*plan.Join)
	top.On = plan.Conjunction(conditions)
	return PushFilter(top)
}
