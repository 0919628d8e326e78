package physical_test

import (
	"math"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
)

func TestRank(t *testing.T) {
	pct := func(f float64, desc bool) expr.Aggregate {
		return expr.Aggregate{Kind: expr.Percentile, F: f, Desc: desc, Name: "x"}
	}
	kth := func(kind expr.AggKind, k int64) expr.Aggregate { return expr.Aggregate{Kind: kind, K: k, Name: "x"} }
	for _, x := range []struct {
		a       expr.Aggregate
		n, k    uint64
		largest bool
		result  string // "", "NULL" or an error
	}{
		{pct(0.5, false), 0, 0, false, "NULL"},
		{pct(0, false), 9, 1, false, ""},
		{pct(1, false), 9, 9, false, ""},
		{pct(0.5, false), 9, 5, false, ""},
		{pct(0.5, false), 10, 5, false, ""},
		{pct(0.5, true), 10, 5, true, ""},
		{pct(0.1, false), 30, 3, false, ""},
		{pct(1, false), math.MaxUint64, math.MaxUint64, false, ""},
		{expr.Aggregate{Kind: expr.Percentile, Null: true}, 9, 0, false, "NULL"},
		{kth(expr.KthLargest, 3), 3, 3, true, ""},
		{kth(expr.KthSmallest, 1), 3, 1, false, ""},
		{kth(expr.KthLargest, 0), 3, 0, false, "kth_largest(x, 0): k must be between 1 and 3, the number of values of x in the selection"},
		{kth(expr.KthSmallest, 4), 3, 0, false, "kth_smallest(x, 4): k must be between 1 and 3, the number of values of x in the selection"},
		{kth(expr.KthSmallest, 1), 0, 0, false, "kth_smallest(x, 1): there is no such element, the selection has no value of x"},
		{expr.Aggregate{Kind: expr.KthLargest, Null: true}, 0, 0, false, "NULL"},
		{expr.Aggregate{Kind: expr.Min}, 4, 1, false, ""},
		{expr.Aggregate{Kind: expr.Max}, 4, 1, true, ""},
		{expr.Aggregate{Kind: expr.Max}, 0, 0, false, "NULL"},
	} {
		k, largest, ok, err := physical.Rank(x.a, x.n)
		result := ""
		if err != nil {
			result = err.Error()
		} else if !ok {
			result = "NULL"
		}
		if result != x.result || ok && (k != x.k || largest != x.largest) {
			t.Errorf("%s of %d: rank %d, largest %v, %q; want %d, %v, %q", x.a, x.n, k, largest, result, x.k, x.largest, x.result)
		}
	}
}
