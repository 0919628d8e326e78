package plan

import (
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// GroupBound says of which groups nothing is asked, by one aggregate of [Query].Groups: a count, or the sum of exact
// values, as an integer of its scale; or by a column that is one of their keys. A device may leave these groups out.
type GroupBound struct {
	Agg int
	Key *expr.Column // nil where Agg tells
	All bool         // every group is wanted
	// First, where it is positive, is how many groups are wanted, those with the smallest values or, with Desc, the
	// largest; groups of which the aggregate is NULL are wanted, too, a key that is NULL is the largest. Where it is 0 the
	// value is to lie from Lo to Hi.
	First  int
	Desc   bool
	Lo, Hi int64
}

// mostFirst is up to how many first groups a device leaves the others out.
const mostFirst = 1 << 10

// having is the bound that a condition on the groups of an aggregation gives; nil for none.
func (a *Aggregate) having(where expr.Expr) *GroupBound {
	for _, e := range Conjuncts(where) {
		if i, lo, hi, ok := HavingRange(e, len(a.Keys)); ok && a.quiet() && a.tells(i) {
			return &GroupBound{Agg: i, Lo: lo, Hi: hi}
		}
	}
	return nil
}

// first is the bound that an order gives of which some first groups are wanted; nil for none.
func (a *Aggregate) first(s *Sort) *GroupBound {
	if s.First <= 0 || s.First > mostFirst || s.Unique > 0 || !a.quiet() {
		return nil
	}
	key := s.Keys[0]
	ref, ok := key.E.(*expr.AggRef)
	if !ok {
		return nil
	}
	b := &GroupBound{First: int(s.First), Desc: key.Desc}
	if ref.Key == nil {
		if b.Agg = ref.Index - len(a.Keys); !a.tells(b.Agg) {
			return nil
		}
		return b
	}
	if b.Key, ok = ref.Key.(*expr.Column); !ok || key.NullsFirst != key.Desc { // the code of NULL is behind the others
		return nil
	}
	return b
}

// quiet reports that the aggregates of a group that is left out raise no error.
func (a *Aggregate) quiet() bool {
	return !slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool {
		switch g.Kind {
		case expr.CountAll, expr.Count, expr.Min, expr.Max:
			return false
		case expr.Sum, expr.Avg:
			return !g.Arg.IsExact()
		}
		return true
	})
}

// tells reports that an aggregate may tell which groups are wanted: it is a count or an exact sum.
func (a *Aggregate) tells(i int) bool {
	g := a.Aggs[i]
	return !g.Distinct && (g.Kind == expr.CountAll || g.Kind == expr.Count || g.Kind == expr.Sum)
}

// HavingRange is the range of the exact values of an aggregate for which a condition on groups holds: of aggregate agg of an
// aggregation by so many keys, as integers of its scale. ok is false where the condition is no comparison of one with a constant.
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

// Bounded is the query with a bound of its groups, where a device finds those of all of its rows together, and each by itself; else the
// query itself. Of a star the caller knows that the device's groups are the statement's.
func (q *Query) Bounded(b *GroupBound) *Query {
	if b == nil || q.Groups == nil || len(q.Chunks) != 1 || len(q.Chunks[0].Checks) > 0 || len(q.Star) == 0 && !q.Groups.byColumns() {
		return q
	}
	out := *q
	out.Bound = b
	return &out
}

// byColumns reports that each column that the keys read is a key itself: rows of one group have the same codes in all of
// these. Groups by abs(x) are of several codes of x.
func (a *Aggregate) byColumns() bool {
	var keys []int
	for _, k := range a.Keys {
		if c, ok := k.(*expr.Column); ok {
			keys = append(keys, c.Index)
		}
	}
	return !slices.ContainsFunc(a.Keys, func(k expr.Expr) bool {
		return slices.ContainsFunc(expr.Columns(k), func(col int) bool { return !slices.Contains(keys, col) })
	})
}
