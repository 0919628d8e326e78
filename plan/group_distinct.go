package plan

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
)

// GroupDistinct makes groups of a [Distinct] of what is computed of rows of a table: an
// [Aggregate] whose keys are the select items.
func GroupDistinct(n Node) Node {
	d, ok := n.(*Distinct)
	if !ok {
		return n
	}
	p, ok := d.Input.(*Project)
	if !ok || fragment(p.Input) == nil || len(fragment(p.Input).Aggs) > 0 {
		return n
	}
	a, out := &Aggregate{Input: p.Input}, &Project{}
	for _, item := range p.Items {
		i := slices.IndexFunc(a.Keys, func(k expr.Expr) bool { return k == item.E })
		if i < 0 {
			i, a.Keys = len(a.Keys), append(a.Keys, item.E)
		}
		out.Items = append(out.Items, Item{item.Name, &expr.AggRef{Index: i, Key: item.E, T: item.E.Type(), P: item.E.Pos()}})
	}
	out.Input = a
	return out
}
