package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// CanRaise reports whether a condition has an operation that can raise
// an error at all: arithmetic, a cast, a pattern, some functions.
func CanRaise(e expr.Expr) (found bool) {
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Arith, *expr.Neg, *expr.Like:
			found = true
		case *expr.Cast:
			found = found || !widens(e.X.Type(), e.To)
		case *expr.Call:
			found = found || e.Fn.Raises
		}
	})
	return found
}

// widens reports a cast for which all values have a place.
func widens(from, to table.Type) bool {
	return from.IsInteger() && (to.IsInteger() && table.Wider(from, to) == to || to.Kind == table.Double) || from.Kind == table.Real && to.Kind == table.Double
}

// RaisesWhileJoining is CanRaise, but ignores conversions that bring the sides of a comparison to one type. It
// also ignores patterns, which are checked when names are resolved.
func RaisesWhileJoining(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Cast:
			from, exact := e.X.Type(), e.To.Kind == table.Decimal
			found = found || !widens(from, e.To) && !(from.IsInteger() && exact) && !(from.Kind == table.Date && e.To.Kind == table.Timestamp)
		case *expr.Arith, *expr.Neg:
			found = true
		case *expr.Call:
			found = found || e.Fn.Raises
		}
	})
	return found
}
