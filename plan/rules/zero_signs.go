package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"slices"
)

// telling lists the doubles around a subquery of which it may tell -0 from 0: all that it reads outside of comparisons.
// What is computed once for equal values of these is computed once for each sign.
func telling(tree plan.Node) (list []expr.Expr) {
	compared := plan.Rewrite(tree, func(n plan.Node) plan.Node {
		return plan.MapExprs(n, func(e expr.Expr) expr.Expr { return expr.Map(e, withoutComparison) })
	})
	mapOuter(compared, 1, func(o *expr.Outer) expr.Expr {
		if o.X.Type().IsFloat() && indexOfExpr(list, o.X) < 0 {
			list = append(list, o.X)
		}
		return o
	})
	return list
}

// withoutComparison is a constant in the place of a comparison of numbers; nil for others.
func withoutComparison(e expr.Expr) expr.Expr {
	switch e.(type) {
	case *expr.Compare, *expr.Between, *expr.In, *expr.IsNull:
		for _, k := range expr.Kids(e) {
			if !isNumber(k) {
				return nil
			}
		}
		return nullBool(e.Pos())
	}
	return nil
}

// isNumber reports an expression whose value does not depend on the signs of zeros, but for the sign of a zero that it is.
func isNumber(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Outer, *expr.Column, *expr.Const:
		return true
	case *expr.Arith, *expr.Neg:
		return !slices.ContainsFunc(expr.Kids(e), func(k expr.Expr) bool { return !isNumber(k) })
	case *expr.Cast:
		return e.To.IsNumeric() && isNumber(e.X)
	}
	return false
}

// isNegativeZero is whether a double is -0.
func isNegativeZero(e expr.Expr) expr.Expr {
	text := &expr.Cast{X: e, To: table.Type{Kind: table.Varchar}, P: e.Pos()}
	return &expr.Compare{Op: expr.EQ, L: text, R: &expr.Const{V: table.Str("-0"), P: e.Pos()}, P: e.Pos()}
}
