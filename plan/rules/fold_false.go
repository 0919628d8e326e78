package rules

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// FoldFalse removes what a condition that is FALSE or NULL for all rows makes useless. That is all below a filter, and the inputs
// of a join that has no pair. A filter of a table stays: no backend reads rows for it.
func FoldFalse(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Filter:
		switch n.Input.(type) {
		case *plan.Scan, *plan.Values:
		default:
			if isNeverTrue(n.Where) {
				return emptyValues(n.Fields())
			}
		}
	case *plan.Join:
		if n.On == nil || !isNeverTrue(n.On) {
			return n
		}
		switch n.Kind {
		case plan.Inner, plan.Semi:
			return emptyValues(n.Fields())
		case plan.LeftOuter:
			return n.With(n.Left, emptyValues(n.Right.Fields()))
		case plan.RightOuter:
			return n.With(emptyValues(n.Left.Fields()), n.Right)
		case plan.Anti:
			return n.Left
		}
	}
	return n
}

// isNeverTrue reports a constant condition that is not TRUE.
func isNeverTrue(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && (c.V.Null || c.V.I == 0)
}

// emptyValues gives none, of these columns.
func emptyValues(fields []table.Field) plan.Node {
	return &plan.Derived{Of: &plan.Subplan{Tree: &plan.Values{Columns: fields}}}
}
