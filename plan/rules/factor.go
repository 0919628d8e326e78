package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
)

// Factor takes conditions out of each OR above joins, so that they can leave out rows earlier. A condition that all operands
// have is taken out, and may join. If all operands have conditions over one table, the OR of these is added. An OR that may
// raise an error, or has to do with a subquery, stays as it is.
func Factor(n plan.Node) plan.Node {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n
	}
	if _, ok := f.Input.(*plan.Join); !ok {
		return n
	}
	tables := inputOf(nil, f.Input)
	var list []expr.Expr
	for _, e := range plan.Conjuncts(f.Where) {
		or, ok := e.(*expr.Or)
		if ok && !plan.RaisesWhileJoining(e) && !plan.IsCorrelated(e) {
			list = append(list, factorOr(or, tables)...)
		} else {
			list = append(list, e)
		}
	}
	return &plan.Filter{Input: f.Input, Where: plan.Conjunction(list)}
}

// inputOf appends of each column of a node the input of joins that it is of: a number that no other has.
func inputOf(columns []int, n plan.Node) []int {
	j, ok := n.(*plan.Join)
	if !ok {
		next := 0
		if len(columns) > 0 {
			next = columns[len(columns)-1] + 1
		}
		for range plan.Width(n) {
			columns = append(columns, next)
		}
		return columns
	}
	columns = inputOf(columns, j.Left)
	if !j.Kind.LeftOnly() {
		columns = inputOf(columns, j.Right)
	}
	return columns
}

// factorOr is an OR as conditions that hold together; tables says of each column which table it is of.
func factorOr(or *expr.Or, tables []int) (list []expr.Expr) {
	kids := xslices.Map(or.Kids, plan.Conjuncts)
	for _, e := range kids[0] {
		if !slices.ContainsFunc(kids, func(k []expr.Expr) bool { return !containsExpr(k, e) }) {
			list = append(list, e)
		}
	}
	common := slices.Clone(list)
	var rest expr.Or
	rest.P = or.P
	read := map[int]bool{} // tables
	for i, k := range kids {
		kids[i] = slices.DeleteFunc(k, func(e expr.Expr) bool { return containsExpr(common, e) })
		if len(kids[i]) == 0 {
			return list
		}
		rest.Kids = append(rest.Kids, plan.Conjunction(kids[i]))
		for _, c := range expr.Columns(rest.Kids[i]) {
			read[tables[c]] = true
		}
	}
	for _, of := range slices.Compact(slices.Clone(tables)) {
		over := expr.Or{P: or.P}
		for _, k := range kids {
			own := slices.DeleteFunc(slices.Clone(k), func(e expr.Expr) bool {
				columns := expr.Columns(e)
				return len(columns) == 0 || slices.ContainsFunc(columns, func(c int) bool { return tables[c] != of })
			})
			if len(own) > 0 {
				over.Kids = append(over.Kids, plan.Conjunction(own))
			}
		}
		if len(over.Kids) == len(kids) && len(read) > 1 {
			list = append(list, &over)
		}
	}
	return append(list, &rest)
}

// containsExpr reports that a list has a condition that says the same.
func containsExpr(list []expr.Expr, e expr.Expr) bool {
	return slices.ContainsFunc(list, func(f expr.Expr) bool { return f.String() == e.String() && expr.Identity(f) == expr.Identity(e) })
}
