package physical

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
)

// IsOrderStatistic reports whether an aggregate is a k-th value.
func IsOrderStatistic(a expr.Aggregate) bool {
	switch a.Kind {
	case expr.Min, expr.Max, expr.Percentile, expr.KthLargest, expr.KthSmallest:
		return true
	}
	return false
}

// Rank says which element a MIN, MAX, percentile, kth_largest or kth_smallest is among the n selected values
// that are not NULL. It is the k-th largest or smallest, 1 <= k <= n. ok is false when the result is NULL. A
// k that is the rank of none of the values is an error.
func Rank(a expr.Aggregate, n uint64) (k uint64, largest, ok bool, err error) {
	switch kth := a.Kind == expr.KthLargest || a.Kind == expr.KthSmallest; {
	case a.Null:
		return 0, false, false, nil
	case kth && n == 0:
		return 0, false, false, expr.Coded(sqlstate.FeatureNotSupported, a.P, "%s: there is no such element, the selection has no value of %s", a, a.Name)
	case kth && (a.K < 1 || uint64(a.K) > n):
		return 0, false, false, expr.Coded(sqlstate.FeatureNotSupported, a.P, "%s: k must be between 1 and %d, the number of values of %s in the selection", a, n, a.Name)
	case kth:
		return uint64(a.K), a.Kind == expr.KthLargest, true, nil
	case n == 0:
		return 0, false, false, nil
	case a.Kind == expr.Percentile:
		return percentileRank(a, n), a.Desc, true, nil
	}
	return 1, a.Kind == expr.Max, true, nil
}

// percentileRank says which element percentile_disc(a.F) is among n > 0 values: the k-th
// smallest, or the k-th largest under DESC. k is computed in doubles, as PostgreSQL does.
func percentileRank(a expr.Aggregate, n uint64) uint64 {
	x := math.Ceil(a.F * float64(n))
	switch {
	case !(x >= 1):
		return 1
	case x >= float64(n):
		return n
	}
	return uint64(x)
}

// AggregatesOfRank lists the aggregates that the k-th largest or smallest of n values of a column
// serves.
func (q *Query) AggregatesOfRank(col int, n, k uint64, largest bool) (aggs []int) {
	for i, a := range q.Aggs {
		if a.Col != col || !IsOrderStatistic(a) {
			continue
		}
		if j, l, ok, err := Rank(a, n); ok && err == nil && j == k && l == largest {
			aggs = append(aggs, i)
		}
	}
	return aggs
}
