package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// PushLimit moves a [plan.Limit] below a [plan.Project] that cannot fail: rows passed over
// are not computed then. Below one that can, a row passed over would lose its error.
func PushLimit(n plan.Node) plan.Node {
	l, ok := n.(*plan.Limit)
	if !ok {
		return n
	}
	p, ok := l.Input.(*plan.Project)
	if !ok {
		return n
	}
	for _, i := range p.Items {
		switch i.E.(type) {
		case *expr.Column, *expr.Const:
		default:
			return n
		}
	}
	return p.With(l.With(p.Input))
}
