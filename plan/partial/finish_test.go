package partial_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

var money = table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}

func TestFinishSumAndAvg(t *testing.T) {
	huge := table.Pow10(38)
	for _, x := range []struct {
		arg      table.Type
		sum      *big.Int
		n        uint64
		sums, is string
	}{
		{money, big.NewInt(0), 0, "NULL", "NULL"},
		{money, big.NewInt(150), 3, "1.50", "0.5"},
		{money, big.NewInt(-1), 3, "-0.01", "-0.0033333333333333335"},
		{table.Type{Kind: table.BigInt}, big.NewInt(1<<53 + 1), 1, "9007199254740993", "9.007199254740992e+15"},
		{table.Type{Kind: table.BigInt}, new(big.Int).Sub(huge, big.NewInt(1)), 1, "99999999999999999999999999999999999999", "1e+38"},
		{table.Type{Kind: table.BigInt}, huge, 1, "SUM(x) has more than 38 digits", "1e+38"},
		{table.Type{Kind: table.Integer}, big.NewInt(math.MinInt64), 1 << 33, "-9223372036854775808", "-1073741824"},
		{table.Type{Kind: table.SmallInt}, new(big.Int).Lsh(big.NewInt(1), 63), 1 << 50, "bigint out of range: the sum of x::bigint is a numeric", "8192"},
	} {
		finish := func(kind expr.AggKind) string {
			q := &physical.Query{Table: &table.Table{}, Aggs: []expr.Aggregate{{Kind: kind, Arg: x.arg, Name: "x"}}}
			v, err := partial.Finish(fixedSum{sum: partial.Sum{N: x.n, Int: *x.sum}}, q)
			if err != nil {
				return err.Error()
			}
			return v[0].String()
		}
		if got := finish(expr.Sum); got != x.sums {
			t.Errorf("SUM of %s over %d: %s, want %s", x.sum, x.n, got, x.sums)
		}
		if got := finish(expr.Avg); got != x.is {
			t.Errorf("AVG of %s over %d: %s, want %s", x.sum, x.n, got, x.is)
		}
	}
}

// fixedSum is a selection with that sum.
type fixedSum struct {
	partial.Selection
	sum partial.Sum
}

func (fixedSum) Check() error                   { return nil }
func (f fixedSum) Sum(int) (partial.Sum, error) { return f.sum, nil }

// AVG of a DECIMAL is the fraction rounded once, whatever the number of digits.
func TestAverageIsRoundedOnce(t *testing.T) {
	random := plantest.Random(t)
	for range 20_000 {
		sum := partial.Sum{N: 1 + random.Uint64()>>(1+random.IntN(63))}
		sum.Int.SetInt64(random.Int64() >> random.IntN(63))
		if random.IntN(2) == 0 {
			sum.Int.Neg(&sum.Int)
		}
		scale := random.IntN(19)
		got, err := partial.FinishSum(expr.Aggregate{Kind: expr.Avg, Arg: table.Type{Kind: table.Decimal, Precision: 18, Scale: scale}}, &sum)
		below := new(big.Int).Mul(new(big.Int).SetUint64(sum.N), table.Pow10(scale))
		if want, _ := new(big.Rat).SetFrac(&sum.Int, below).Float64(); err != nil || got.F != want {
			t.Fatalf("%v / %v is %v (%v), want %v", &sum.Int, below, got.F, err, want)
		}
	}
}
