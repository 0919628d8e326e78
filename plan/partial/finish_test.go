package partial_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

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

// The common code space orders as the values do, and Local finds in each chunk the
// least value that is not below.
func TestSpaceOrdersAllChunks(t *testing.T) {
	k := plantest.Default()
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, k)
		for col := range tab.Fields {
			s := physical.NewCodeSpace(tab, col)
			var all []table.Value
			for _, c := range tab.Chunks {
				for row := range c.Rows {
					if v := c.Segments[col].Value(row); !v.Null {
						all = append(all, v)
					}
				}
			}
			if len(all) == 0 {
				if s.Max() != 0 || s.Bits() != 0 {
					t.Fatalf("a space of %d bits for no values", s.Bits())
				}
				continue
			}
			slices.SortFunc(all, table.Compare)
			low, high := table.Compare(s.Value(0), all[0]), table.Compare(s.Value(s.Max()), all[len(all)-1])
			if low > 0 || high < 0 || tab.Version == 0 && low|high != 0 { // a patched segment keeps its ends
				t.Fatalf("space from %s to %s, values from %s to %s", s.Value(0), s.Value(s.Max()), all[0], all[len(all)-1])
			}
			code := rapid.Uint64Range(0, s.Max()).Draw(t, "code")
			want := s.Value(code)
			for ci, c := range tab.Chunks {
				seg := c.Segments[col]
				local, ok := s.Local(seg, code)
				for row := range c.Rows {
					v := seg.Value(row)
					if v.Null {
						continue
					}
					if above := ok && seg.Codes.At(row) >= local; above != (table.Compare(v, want) >= 0) {
						t.Fatalf("chunk %d: %s against %s (code %d): local code %d, %v", ci, v, want, code, local, ok)
					}
				}
				if ok && local > seg.Max {
					t.Fatalf("local code %d of a chunk up to %d", local, seg.Max)
				}
			}
		}
	})
}

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
