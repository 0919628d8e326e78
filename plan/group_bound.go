package plan

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// GroupBound says which groups are not wanted. It bounds one aggregate of [physical.Query].Groups: a count, or the sum of
// exact values, as an integer of its scale. It may also bound a column that is one of their keys. A device may leave these
// groups out.
type GroupBound struct {
	Agg int
	Key *expr.Column // nil where Agg tells
	All bool         // every group is wanted
	// First, where it is positive, is how many groups are wanted: those with the smallest values or, with Desc, the
	// largest. Groups whose aggregate is NULL are always wanted. A key that is NULL is the largest. Where it is 0 the
	// value is to lie from Lo to Hi.
	First  int
	Desc   bool
	Lo, Hi int64
}

// HavingRange is the range of the exact values of an aggregate for which a condition on groups holds. It is that of aggregate agg
// of an aggregation by so many keys, as integers of its scale. ok is false where the condition is no comparison of one with a
// constant.
func HavingRange(e expr.Expr, keys int) (agg int, lo, hi int64, ok bool) {
	c, isCompare := e.(*expr.Compare)
	if !isCompare {
		return 0, 0, 0, false
	}
	ref, isRef := c.L.(*expr.AggRef)
	v, isConst := c.R.(*expr.Const)
	if !isRef || !isConst || ref.Index < keys || v.V.Null || !v.V.Type.IsExact() || !ref.T.IsExact() {
		return 0, 0, 0, false
	}
	floor, rest := v.V.Unscaled(), new(big.Int)
	if more := v.V.Type.Scale - ref.T.Scale; more > 0 {
		floor, rest = new(big.Int).DivMod(floor, table.Pow10(more), rest)
	} else {
		floor = new(big.Int).Mul(floor, table.Pow10(-more))
	}
	ceil := floor
	if rest.Sign() > 0 {
		ceil = new(big.Int).Add(floor, big.NewInt(1))
	}
	lo, hi = math.MinInt64, math.MaxInt64
	switch c.Op {
	case expr.GT:
		lo = clamped(new(big.Int).Add(floor, big.NewInt(1)))
	case expr.GE:
		lo = clamped(ceil)
	case expr.LT:
		hi = clamped(new(big.Int).Sub(ceil, big.NewInt(1)))
	case expr.LE:
		hi = clamped(floor)
	case expr.EQ:
		lo, hi = clamped(ceil), clamped(floor)
	default:
		return 0, 0, 0, false
	}
	return ref.Index - keys, lo, hi, true
}

// clamped is the nearest integer of 64 bits.
func clamped(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
