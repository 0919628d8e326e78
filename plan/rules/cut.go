package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// Cut puts a [plan.Fragment] in the place of each part of a tree that a backend does.
func Cut(n plan.Node) plan.Node {
	if f := fragment(n); f != nil {
		return f
	}
	return cutInputs(n)
}

// Whole is a tree that was [Cut] as it was before.
func Whole(n plan.Node) plan.Node {
	return plan.Rewrite(n, func(n plan.Node) plan.Node {
		if f, ok := n.(*plan.Fragment); ok {
			return f.Nodes
		}
		return n
	})
}

// cutInputs is a node over what is cut below it.
func cutInputs(n plan.Node) plan.Node {
	var inputs []plan.Node
	for _, in := range n.Inputs() {
		inputs = append(inputs, Cut(in))
	}
	n = n.With(inputs...)
	bound(n)
	if s, ok := n.(*plan.Sort); ok {
		if f, rows := s.Input.(*plan.Fragment); rows && len(f.Aggs) == 0 {
			f.Order = &plan.Sort{Keys: s.Keys, First: s.First, Unique: s.Unique}
			if s.Unique > 0 { // which rows are the first is known of all
				f.Order.First = -1
			}
		}
	}
	if r, ok := n.(interface{ InputColumns() []int }); ok {
		narrow(n.Inputs()[0], r.InputColumns())
		f, rows := n.Inputs()[0].(*plan.Fragment)
		if p, ok := n.(*plan.Project); ok {
			keysAlone(p.Input)
		}
		if p, ok := n.(*plan.Project); ok && rows {
			f.Gathered = !slices.ContainsFunc(p.Items, func(i plan.Item) bool { _, column := i.E.(*expr.Column); return !column })
		}
		if g, ok := n.(*plan.GroupingSets); ok && rows {
			f.Total = slices.ContainsFunc(g.Aggs, func(g expr.Aggregate) bool { return g.Kind == expr.Selectivity })
		}
		if a, ok := n.(*plan.Aggregate); ok && rows {
			f.Total = slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool { return g.Kind == expr.Selectivity })
			if len(a.Keys) > 0 || f.Join != nil || !a.OfColumns() && !a.OfSums() {
				f.Groups = &plan.Aggregate{Keys: a.Keys, Aggs: a.Aggs}
			}
		}
	}
	return n
}

// bound tells the fragment of a grouped input which groups a node above it wants.
func bound(n plan.Node) {
	of := func(n plan.Node) (*plan.Aggregate, *plan.Fragment) {
		a, ok := n.(*plan.Aggregate)
		if !ok || len(a.Keys) == 0 {
			return nil, nil
		}
		f, _ := a.Input.(*plan.Fragment)
		return a, f
	}
	switch n := n.(type) {
	case *plan.Filter:
		if a, f := of(n.Input); f != nil {
			f.Bound = havingBound(a, n.Where)
		}
	case *plan.Sort:
		if a, f := of(n.Input); f != nil {
			f.Bound = firstBound(a, n)
		}
	}
}

// narrow tells the fragment whose rows a node gives which columns are read of them.
func narrow(n plan.Node, reads []int) {
	if l, ok := n.(*plan.Limit); ok {
		n = l.Input
	}
	if s, ok := n.(*plan.Sort); ok {
		for _, k := range s.Keys {
			reads = append(reads, expr.Columns(k.E)...)
		}
		n = s.Input
	}
	if f, ok := n.(*plan.Fragment); ok && len(f.Aggs) == 0 {
		slices.Sort(reads)
		f.Columns = slices.Compact(reads)
	}
}

// keysAlone tells the fragment of sorted rows that only what they are sorted by is read of them.
func keysAlone(n plan.Node) {
	if l, ok := n.(*plan.Limit); ok {
		n = l.Input
	}
	if s, ok := n.(*plan.Sort); ok && len(s.Keys) == 1 && s.Unique == 0 {
		if f, ok := s.Input.(*plan.Fragment); ok && len(f.Aggs) == 0 {
			f.Alone = slices.Equal(f.Columns, expr.Columns(s.Keys[0].E))
		}
	}
}

// fragment is the fragment that a node is, with all below it; nil for none.
func fragment(n plan.Node) *plan.Fragment {
	f := &plan.Fragment{Nodes: n}
	a, ok := n.(*plan.Aggregate)
	if ok && (a.OfColumns() || a.OfSums()) {
		f.Aggs, n = a.Aggs, a.Input
	}
	if w, ok := n.(*plan.Filter); ok {
		f.Where, n = w.Where, w.Input
	}
	switch n := n.(type) {
	case *plan.Scan:
		f.Table = n.Table
	case *plan.Join:
		f.Join = n
	default:
		return nil
	}
	if a != nil && !a.OfColumns() {
		f.Otherwise = cutInputs(a).(*plan.Aggregate)
	}
	if len(f.Aggs) == 0 {
		for i := range n.Fields() {
			f.Columns = append(f.Columns, i)
		}
	}
	return f
}
