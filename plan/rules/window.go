package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// windowed puts the window functions of the nodes of a SELECT aside: a [plan.Window] computes them over what they and the
// nodes read of cur. It returns its rows, and the nodes with columns in the place of what they read.
func windowed(cur plan.Node, chain []plan.Node) (plan.Node, []plan.Node) {
	p := &plan.Project{Input: cur}
	known := map[string]int{}
	column := func(e expr.Expr) *expr.Column {
		id := expr.Identity(e)
		i, ok := known[id]
		if !ok {
			i = len(p.Items)
			known[id] = i
			name := e.String()
			if c, ok := e.(*expr.Column); ok {
				name = c.Name
			}
			p.Items = append(p.Items, plan.Item{Name: name, E: e})
		}
		return &expr.Column{Index: i, Name: p.Items[i].Name, T: e.Type(), P: e.Pos()}
	}
	w := &plan.Window{Input: p}
	at := map[string]int{} // of functions
	mapped := func(n plan.Node, results int) plan.Node {
		var around func(expr.Expr) expr.Expr
		around = func(e expr.Expr) expr.Expr {
			return expr.Map(e, func(e expr.Expr) expr.Expr {
				switch e := e.(type) {
				case *expr.Column, *expr.AggRef:
					return column(e)
				case *expr.Subquery:
					return mapOuterOf(e, around)
				case *expr.Window:
					id := expr.Identity(e)
					i, ok := at[id]
					if !ok {
						i = len(w.Funcs)
						at[id] = i
						w.Funcs = append(w.Funcs, e.Map(func(operand expr.Expr) expr.Expr {
							if _, ok := operand.(*expr.Const); ok && e.Kind != expr.OfAggregate {
								return operand
							}
							return column(operand)
						}))
					}
					return &expr.Column{Index: results + i, Name: w.Funcs[i].String(), T: e.T, P: e.P}
				}
				return nil
			})
		}
		return plan.MapExprs(n, around)
	}
	last := slices.IndexFunc(chain, func(n plan.Node) bool { _, ok := n.(*plan.Project); return ok })
	for _, n := range chain[:last+1] { // what they read
		mapped(n, 0)
	}
	if len(p.Items) == 0 {
		p.Items = []plan.Item{{Name: "row", E: &expr.Const{V: table.Literal(1), P: -1}}}
	}
	chain = slices.Clone(chain)
	for i, n := range chain[:last+1] {
		chain[i] = mapped(n, len(p.Items))
	}
	return &plan.Derived{Of: &plan.Subplan{Tree: w}}, chain
}
