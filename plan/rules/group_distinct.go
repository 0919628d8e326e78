package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// GroupDistinct makes groups of a [plan.Distinct] of what is computed of rows of a table: an
// [plan.Aggregate] whose keys are the select items.
func GroupDistinct(n plan.Node) plan.Node {
	d, ok := n.(*plan.Distinct)
	if !ok {
		return n
	}
	p, ok := d.Input.(*plan.Project)
	if !ok || fragment(p.Input) == nil || len(fragment(p.Input).Aggs) > 0 {
		return n
	}
	a, out := &plan.Aggregate{Input: p.Input}, &plan.Project{}
	for _, item := range p.Items {
		i := slices.IndexFunc(a.Keys, func(k expr.Expr) bool { return k == item.E })
		if i < 0 {
			i, a.Keys = len(a.Keys), append(a.Keys, item.E)
		}
		out.Items = append(out.Items, plan.Item{Name: item.Name, E: &expr.AggRef{Index: i, Key: item.E, T: item.E.Type(), P: item.E.Pos()}})
	}
	out.Input = a
	return out
}
