package sql

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// param is a parameter. In a statement that infers the types of its parameters, a number gets the type of the number that it first
// stands beside. It has that type in all its places. Where it stands beside none, its value's own type counts.
func (b *binder) param(n *pg.ParamRef) expr.Expr {
	given := b.params[n.Number-1]
	c := &expr.Const{V: given, P: b.pos(int(n.Location))}
	if b.Infers {
		c.Param = &b.types[n.Number-1]
		if t := *c.Param; t.Kind != table.Unknown {
			c.V = asParameter(given, t, c.P)
		}
	}
	b.noted.param(int(n.Number), c, given.Type)
	return c
}

// isOpen reports a parameter that is a number and has no type of its place yet.
func isOpen(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.Param != nil && c.Param.Kind == table.Unknown && c.V.Type.IsNumeric()
}

// besideNumbers gives the open parameters of a list the common type of the other numbers in it.
func besideNumbers(number func(l, r table.Type) table.Type, list ...expr.Expr) {
	var t table.Type
	for _, e := range list {
		switch et := e.Type(); {
		case isOpen(e) || !et.IsNumeric():
		case t.Kind == table.Unknown:
			t = et
		default:
			t = number(t, et)
		}
	}
	for _, e := range list {
		inferParameter(e, t)
	}
}

// inferParameter gives an open parameter the type of a number beside it.
func inferParameter(e expr.Expr, t table.Type) {
	if !isOpen(e) || !t.IsNumeric() {
		return
	}
	c := e.(*expr.Const)
	c.V = asParameter(c.V, t, c.P)
	*c.Param = t
}

// asParameter is a number as a parameter of another type has it: assigned to it, a NUMERIC with all its digits. A floating-point number that
// no NUMERIC has, or one of too many digits, stays what it is.
func asParameter(v table.Value, t table.Type, pos int) table.Value {
	switch {
	case v.Type.Kind == t.Kind || t.Kind == table.Decimal && v.Type.IsInteger():
		return v
	case v.Null:
		return table.Null(t)
	case t.Kind == table.Decimal:
		if n, ok := numericOf(v); ok {
			if n = canonical(n, pos).V; n.Type.Precision <= maxDigits {
				return n
			}
		}
		return v
	}
	return must(expr.Eval(convert(&expr.Const{V: v, P: pos}, t, pos), constants))
}
