package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
)

// JoinApart is a tree whose rows are those of a join, with two inputs of that joined apart from the others, to a table of its own: of inner joins
// two neighbours that a condition says are equal in something, those of which the fewest rows are expected. It is nil where there are none.
func JoinApart(tree Node, of *Estimates) Node {
	inputs := tree.Inputs()
	j, ok := tree.(*Join)
	switch {
	case ok && j.Kind == Inner:
		return innerApart(j, of)
	case ok:
		left, right := joinsApart(j.Left), joinsApart(j.Right)
		if left == j.Left && right == j.Right {
			return nil
		}
		return &Join{j.Kind, left, right, j.On}
	case len(inputs) == 1:
		if in := JoinApart(inputs[0], of); in != nil {
			return tree.With(in)
		}
	}
	return nil
}

// RowsApart is a tree over a join with the rows of that as a table of its own.
func RowsApart(tree Node) Node {
	f, filters := tree.(*Filter)
	_, joins := tree.(*Join)
	if filters {
		_, joins = f.Input.(*Join)
	}
	if joins {
		return joinsApart(tree)
	}
	return tree.With(RowsApart(tree.Inputs()[0]))
}

// joinsApart is a node, or what gives its rows where it joins tables.
func joinsApart(n Node) Node {
	scans := Scans(DerivedAsScans(n))
	if len(scans) == 1 {
		return n
	}
	var names []string
	for _, s := range scans {
		names = append(names, nameOf(s))
	}
	return &Derived{Of: &Subplan{Tree: &Project{n, itemsOf(n)}}, As: strings.Join(names, ", ")}
}

// innerApart is [JoinApart] of inner joins that stand above one another.
func innerApart(j *Join, of *Estimates) Node {
	var inputs []Node
	var starts []int // of their columns, and the end
	var conditions []expr.Expr
	width := 0
	var collect func(n Node)
	collect = func(n Node) {
		if n, ok := n.(*Join); ok && n.Kind == Inner {
			first := width
			collect(n.Left)
			collect(n.Right)
			for _, e := range Conjuncts(n.On) {
				conditions = append(conditions, expr.Moved(e, func(c int) int { return c + first }))
			}
			return
		}
		inputs, starts = append(inputs, n), append(starts, width)
		width += len(n.Fields())
	}
	collect(j)
	starts = append(starts, width)
	within := func(e expr.Expr, first, end int) bool {
		columns := expr.Columns(e)
		return len(columns) > 0 && columns[0] >= starts[first] && columns[len(columns)-1] < starts[end]
	}
	some := false
	for i, in := range inputs {
		inputs[i] = joinsApart(in)
		some = some || inputs[i] != in
	}
	var best Node // of the input at and the next one
	at := 0
	for i := 0; !some && len(inputs) > 2 && i+1 < len(inputs); i++ {
		equal := false
		var on []expr.Expr
		for _, e := range conditions {
			if l, r, ok := Keys(e); ok {
				equal = equal || within(l, i, i+1) && within(r, i+1, i+2) || within(r, i, i+1) && within(l, i+1, i+2)
			}
			if within(e, i, i+2) && !raisesWhileJoining(e) {
				on = append(on, expr.Moved(e, func(c int) int { return c - starts[i] }))
			}
		}
		pair := &Join{Inner, inputs[i], inputs[i+1], All(on)}
		if equal && (best == nil || of.Rows(pair) < of.Rows(best)) {
			best, at = pair, i
		}
	}
	if best != nil {
		conditions = slices.DeleteFunc(conditions, func(e expr.Expr) bool { return within(e, at, at+2) && !raisesWhileJoining(e) })
		inputs = slices.Replace(inputs, at, at+2, joinsApart(best))
	} else if !some {
		return nil
	}
	out := inputs[0]
	for _, in := range inputs[1:] {
		out = &Join{Kind: Inner, Left: out, Right: in}
	}
	top := out.(*Join)
	top.On = All(conditions)
	return PushFilter(top)
}
