package plan

import "github.com/stencildb/stencildb/expr"

// PushLimit moves a [Limit] below a [Project] that cannot fail: rows passed over
// are not computed then. Below one that can, a row passed over would lose its error.
func PushLimit(n Node) Node {
	l, ok := n.(*Limit)
	if !ok {
		return n
	}
	p, ok := l.Input.(*Project)
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
