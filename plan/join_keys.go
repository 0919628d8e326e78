package plan

import "github.com/stencildb/stencildb/expr"

// EquiJoinKey returns the sides of an equality that can be the key of a join. Each side is a value of its
// row, and no row raises an error.
func EquiJoinKey(e expr.Expr) (l, r expr.Expr, ok bool) {
	l, r, raises, ok := Equality(e)
	return l, r, ok && !raises
}

// Equality are the sides of an equality; raises says that a row of some table might raise an error in them: see [lower.MayRaise].
func Equality(e expr.Expr) (l, r expr.Expr, raises, ok bool) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return nil, nil, false, false
	}
	return c.L, c.R, RaisesWhileJoining(e), true
}

// SideOf says which side of a join an expression reads, whose first width columns are the left one's.
func SideOf(e expr.Expr, width int) int {
	cols := expr.Columns(e)
	switch {
	case len(cols) == 0:
		return OnNone
	case cols[len(cols)-1] < width:
		return OnLeft
	case cols[0] >= width:
		return OnRight
	}
	return OnBoth
}

// The sides of a join that an expression may read.
const (
	OnLeft = iota
	OnRight
	OnBoth
	OnNone
)
