package plan

import "github.com/stencildb/stencildb/expr"

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
