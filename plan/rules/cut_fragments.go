package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
)

// CutFragments puts a [plan.Fragment] in the place of each part of a tree that a backend does.
func CutFragments(n plan.Node) plan.Node {
	if f := fragment(n); f != nil {
		return f
	}
	return cutInputs(n)
}

// Uncut is a tree that was [CutFragments] as it was before.
func Uncut(n plan.Node) plan.Node {
	return plan.Rewrite(n, func(n plan.Node) plan.Node {
		if f, ok := n.(*plan.Fragment); ok {
			return f.Tree
		}
		return n
	})
}

// cutInputs is a node over what is cut below it.
func cutInputs(n plan.Node) plan.Node {
	inputs := xslices.Map(n.Inputs(), CutFragments)
	n = n.With(inputs...)
	setGroupBound(n)
	if s, ok := n.(*plan.Sort); ok {
		if f, rows := s.Input.(*plan.Fragment); rows && len(f.Aggs) == 0 {
			f.Order = &plan.Sort{Keys: s.Keys, Limit: s.Limit, Unique: s.Unique}
			if s.Unique > 0 { // which rows are the first is known of all
				f.Order.Limit = -1
			}
		}
	}
	if l, ok := n.(*plan.Limit); ok {
		if s, ok := l.Input.(*plan.Sort); ok {
			if f, ok := s.Input.(*plan.Fragment); ok && f.Order != nil && s.Unique == 0 {
				f.Order.Offset = l.Offset
			}
		}
	}
	if r, ok := n.(interface{ InputColumns() []int }); ok {
		setColumns(n.Inputs()[0], r.InputColumns())
		f, rows := n.Inputs()[0].(*plan.Fragment)
		if p, ok := n.(*plan.Project); ok {
			setKeyOnly(p.Input)
		}
		if p, ok := n.(*plan.Project); ok && rows {
			f.ValuesOnly = !slices.ContainsFunc(p.Items, func(i plan.Item) bool { _, column := i.E.(*expr.Column); return !column })
		}
		if g, ok := n.(*plan.GroupingSets); ok && rows {
			f.NeedsRowCount = slices.ContainsFunc(g.Aggs, func(g expr.Aggregate) bool { return g.Kind == expr.Selectivity })
			if i := g.Finest(); i >= 0 && len(g.Sets[i]) > 0 && f.Join == nil {
				f.Groups = &plan.Aggregate{Keys: g.Set(i).Keys, Aggs: g.Aggs}
			}
		}
		if a, ok := n.(*plan.Aggregate); ok && rows {
			f.NeedsRowCount = slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool { return g.Kind == expr.Selectivity })
			if len(a.Keys) > 0 || f.Join != nil || !a.OfColumns() && !a.OfSums() {
				f.Groups = &plan.Aggregate{Keys: a.Keys, Aggs: a.Aggs}
			}
		}
	}
	return n
}

// setGroupBound tells the fragment of a grouped input which groups a node above it wants.
func setGroupBound(n plan.Node) {
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

// setColumns tells the fragment whose rows a node gives which columns are read of them.
func setColumns(n plan.Node, reads []int) {
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

// setKeyOnly tells the fragment of sorted rows that only what they are sorted by is read of them.
func setKeyOnly(n plan.Node) {
	if l, ok := n.(*plan.Limit); ok {
		n = l.Input
	}
	if s, ok := n.(*plan.Sort); ok && len(s.Keys) == 1 && s.Unique == 0 {
		if f, ok := s.Input.(*plan.Fragment); ok && len(f.Aggs) == 0 {
			f.KeyOnly = slices.Equal(f.Columns, expr.Columns(s.Keys[0].E))
		}
	}
}

// fragment is the fragment that a node is, with all below it; nil for none.
func fragment(n plan.Node) *plan.Fragment {
	f := &plan.Fragment{Tree: n}
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
		f.Fallback = cutInputs(a).(*plan.Aggregate)
	}
	if len(f.Aggs) == 0 {
		for i := range plan.Width(n) {
			f.Columns = append(f.Columns, i)
		}
	}
	return f
}
