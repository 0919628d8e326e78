package plan

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// FinishSum makes SUM's value of an exact column from the sum of the scaled
// integers of n records: NULL for none, else a DECIMAL(38, s). A sum of more than
// 38 digits is an error.
func FinishSum(a expr.Aggregate, sum *big.Int, n uint64) (table.Value, error) {
	if n == 0 {
		return table.Null(a.Type()), nil
	}
	if sum.CmpAbs(table.Pow10(38)) >= 0 {
		return table.Null(a.Type()), expr.Errorf(a.P, "%s has more than 38 digits", a)
	}
	return table.Dec(a.Type(), new(big.Int).Set(sum)), nil
}

// FinishAvg makes AVG's value of an exact column: the double nearest to
// sum / (n * 10^s), NULL for no records.
func FinishAvg(a expr.Aggregate, sum *big.Int, n uint64) table.Value {
	if n == 0 {
		return table.Null(a.Type())
	}
	den := new(big.Int).SetUint64(n)
	f, _ := new(big.Rat).SetFrac(sum, den.Mul(den, table.Pow10(a.Arg.Scale))).Float64()
	return table.Float(f)
}

// FinishSelectivity is selected / all records, NULL for an empty table.
func FinishSelectivity(a expr.Aggregate, selected, all uint64) table.Value {
	if all == 0 {
		return table.Null(a.Type())
	}
	return table.Float(float64(selected) / float64(all))
}

// PercentileRank says which element percentile_disc(a.F) is among the n selected
// values that are not NULL: the k-th smallest, or the k-th largest under DESC,
// 1 <= k <= n. k is computed in doubles, as PostgreSQL does. ok is false when the
// result is NULL: no values, or a NULL fraction.
func PercentileRank(a expr.Aggregate, n uint64) (k uint64, largest, ok bool) {
	if n == 0 || a.Null {
		return 0, false, false
	}
	x := math.Ceil(a.F * float64(n))
	switch {
	case !(x >= 1):
		k = 1
	case x >= float64(n):
		k = n
	default:
		k = uint64(x)
	}
	return k, a.Desc, true
}

// CheckRank returns the error for a kth_largest or kth_smallest whose k is not the
// rank of any of the n selected values that are not NULL.
func CheckRank(a expr.Aggregate, n uint64) error {
	if (a.Kind != expr.KthLargest && a.Kind != expr.KthSmallest) || a.Null {
		return nil
	}
	if n == 0 {
		return expr.Errorf(a.P, "%s: there is no such element, the selection has no value of %s", a, a.Name)
	}
	if a.K < 1 || uint64(a.K) > n {
		return expr.Errorf(a.P, "%s: k must be between 1 and %d, the number of values of %s in the selection", a, n, a.Name)
	}
	return nil
}

// Rank says which element a MIN, MAX, percentile, kth_largest or kth_smallest is
// among the n selected values that are not NULL: the k-th largest or smallest. ok
// is false when the result is NULL.
func Rank(a expr.Aggregate, n uint64) (k uint64, largest, ok bool, err error) {
	if err := CheckRank(a, n); err != nil {
		return 0, false, false, err
	}
	if n == 0 || a.Null {
		return 0, false, false, nil
	}
	switch a.Kind {
	case expr.Min:
		return 1, false, true, nil
	case expr.Max:
		return 1, true, true, nil
	case expr.KthLargest, expr.KthSmallest:
		return uint64(a.K), a.Kind == expr.KthLargest, true, nil
	}
	k, largest, ok = PercentileRank(a, n)
	return k, largest, ok, nil
}
