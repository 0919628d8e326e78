package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Conjuncts are the conditions that have to be TRUE for e to be TRUE; none for nil.
func Conjuncts(e expr.Expr) []expr.Expr {
	if e == nil {
		return nil
	}
	and, ok := e.(*expr.And)
	if !ok {
		return []expr.Expr{e}
	}
	var list []expr.Expr
	for _, k := range and.Kids {
		list = append(list, Conjuncts(k)...)
	}
	return list
}

// Conjunction is the condition that all of a list are TRUE; nil for none.
func Conjunction(list []expr.Expr) expr.Expr {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &expr.And{Kids: list, P: list[0].Pos()}
}

// IsCorrelated reports that an expression has a subquery, or names columns of a query around it.
func IsCorrelated(e expr.Expr) bool {
	found := expr.HasSubquery(e)
	expr.Walk(e, func(e expr.Expr) {
		_, outer := e.(*expr.Outer)
		found = found || outer
	})
	return found
}

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
