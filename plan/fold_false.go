package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// FoldFalse leaves out what a condition that is FALSE or NULL for all rows makes of no use: all below a filter, and the inputs of a
// join of which no pair is there. A filter of a table stays, whose rows no backend reads for it.
func FoldFalse(n Node) Node {
	switch n := n.(type) {
	case *Filter:
		switch n.Input.(type) {
		case *Scan, *Values:
		default:
			if isNever(n.Where) {
				return noRows(n.Fields())
			}
		}
	case *Join:
		if n.On == nil || !isNever(n.On) {
			return n
		}
		switch n.Kind {
		case Inner, Semi:
			return noRows(n.Fields())
		case LeftOuter:
			return n.With(n.Left, noRows(n.Right.Fields()))
		case RightOuter:
			return n.With(noRows(n.Left.Fields()), n.Right)
		case Anti:
			return n.Left
		}
	}
	return n
}

// isNever reports a constant condition that is not TRUE.
func isNever(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && (c.V.Null || c.V.I == 0)
}

// noRows gives none, of these columns.
func noRows(fields []table.Field) Node {
	return &Derived{Of: &Subplan{Tree: &Values{Columns: fields}}}
}
