package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// shapes are columns for which a search that samples can go wrong.
var shapes = []struct {
	name  string
	value func(rng *rand.Rand, row int) int64
}{
	{"19 bits", func(rng *rand.Rand, _ int) int64 { return rng.Int64N(1 << 19) }},
	{"8 bits", func(rng *rand.Rand, _ int) int64 { return rng.Int64N(1 << 8) }},
	{"64 bits", func(rng *rand.Rand, _ int) int64 { return int64(rng.Uint64()) }},
	{"one value", func(*rand.Rand, int) int64 { return -7 }},
	{"two values", func(rng *rand.Rand, _ int) int64 { return rng.Int64N(2) << 40 }},
	{"half of them equal", func(rng *rand.Rand, _ int) int64 { return max(0, rng.Int64N(1<<20)-1<<19) }},
	{"ascending", func(_ *rand.Rand, row int) int64 { return int64(row) - 50_000 }},
	{"skewed", func(rng *rand.Rand, _ int) int64 { return 1 << rng.Int64N(63) }},
}

// shapesTable has a column for each of shapes and their rows in chunks of different
// minima; nulls is the share of NULLs.
func shapesTable(t testing.TB, rows, chunkRows int, nulls float64) *table.Table {
	var fields []table.Field
	for _, s := range shapes {
		fields = append(fields, table.Field{Name: s.name, Type: table.Type{Kind: table.BigInt}})
	}
	fields = append(fields, table.Field{Name: "text", Type: table.Type{Kind: table.Varchar}})
	b := table.NewBuilder("shapes", fields, chunkRows)
	rng := rand.New(rand.NewPCG(7, 7))
	for row := range rows {
		for i, s := range shapes {
			if v := s.value(rng, row); rng.Float64() < nulls {
				b.Column(i).Null()
			} else {
				b.Column(i).Int(v)
			}
		}
		b.Column(len(shapes)).String(fmt.Sprint(row/chunkRows%2, rng.IntN(3000)))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

func TestRanksOfManyRows(t *testing.T) {
	for nulls, where := range map[float64]*predicate.Pred{0.1: {Op: predicate.True}, 0: leafPred(&predicate.Compare{Col: 0, Op: expr.LT, Code: 400_000})} {
		tab := shapesTable(t, 100_000, 42_000, nulls)
		for col, f := range tab.Fields {
			checkRanks(t, tab, col, f, where)
		}
	}
}

// checkRanks compares with the sorted codes.
func checkRanks(t *testing.T, tab *table.Table, col int, f table.Field, where *predicate.Pred) {
	var codes []uint64
	o := newCommonOrder(physical.NewCodeSpace(tab, col), tab, col, kernels.Best())
	q := &physical.Query{Table: tab}
	for i, c := range tab.Chunks {
		q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: where})
		for row := range c.Rows {
			if !c.Segments[col].IsNull(row) && naive(where, c, row) {
				codes = append(codes, o.common(i, c.Segments[col].Codes.At(row)))
			}
		}
	}
	slices.Sort(codes)
	n := int64(len(codes))
	if n <= fewCodes {
		t.Fatalf("%s: only %d values", f.Name, n)
	}
	ranks := []int64{1, 2, n / 100, n / 3, n / 2, n/2 + 1, n - 1, n}
	for _, k := range ranks {
		q.Aggs = append(q.Aggs, expr.Aggregate{Kind: expr.KthSmallest, Col: col, Arg: f.Type, Name: f.Name, K: k})
	}
	for _, by := range []string{"whole", "parts", "parts of devices"} {
		got, err := execute(context.Background(), t, 2, q)
		if by != "whole" {
			got, err = byParts(q, by != "parts")
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range ranks {
			if want := o.Value(codes[k-1]); !sameValue(got[i], want) {
				t.Errorf("%s, by %s: value %d of %d is %v, want %v", f.Name, by, k, n, got[i], want)
			}
		}
	}
}

// byParts executes a query over chunks that two parts have; narrow says that another part has digits of few bits.
func byParts(q *physical.Query, narrow bool) ([]table.Value, error) {
	var parts []partial.Selection
	for _, chunks := range [][]int{{2, 0}, {1}} {
		s, err := New(2).Select(context.Background(), q.Part(chunks))
		if err != nil {
			return nil, err
		}
		if narrow {
			s = narrowDigits{s}
		}
		parts = append(parts, s)
	}
	return partial.Finish(partial.Merge(q, len(parts), func(i int, do func(partial.Selection) error) func() error {
		err := do(parts[i])
		return func() error { return err }
	}), q)
}

// narrowDigits is a selection that counts digits of three bits.
type narrowDigits struct{ partial.Selection }

func (narrowDigits) DigitBits(uint64) int { return 3 }

// Wherever a sample says that the wanted code is, the search finds it.
func TestRankSurvivesAnyInterval(t *testing.T) {
	tab := shapesTable(t, 3000, 1100, 0.2)
	q := &physical.Query{Table: tab}
	for range tab.Chunks {
		q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: &predicate.Pred{Op: predicate.True}})
	}
	rapid.Check(t, func(t *rapid.T) {
		var options []Option
		if rapid.Bool().Draw(t, "without SIMD") {
			options = append(options, WithoutSIMD)
		}
		x, err := New(2, options...).execution(context.Background(), q, false)
		if err != nil {
			t.Fatal(err)
		}
		col := rapid.IntRange(0, len(tab.Fields)-1).Draw(t, "column")
		o := newCommonOrder(physical.NewCodeSpace(tab, col), tab, col, x.kernels)
		var codes []uint64
		for i, c := range tab.Chunks {
			for row := range c.Rows {
				if !c.Segments[col].IsNull(row) {
					codes = append(codes, o.common(i, c.Segments[col].Codes.At(row)))
				}
			}
		}
		slices.Sort(codes)
		code := func(name string) uint64 {
			near := codes[rapid.IntRange(0, len(codes)-1).Draw(t, name)] + rapid.Uint64Range(0, 2).Draw(t, "past")
			return min(near, o.Max())
		}
		a, b := code("a"), code("b")
		if a > b {
			a, b = b, a
		}
		k := rapid.IntRange(0, len(codes)-1).Draw(t, "rank")
		n := uint64(len(codes))
		s := &rankSearch{execution: x, order: o, hi: o.Max(), k: uint64(k), n: n}
		if err := s.part(a, b); err != nil {
			t.Fatal(err)
		}
		for few := rapid.Uint64Range(0, n).Draw(t, "few"); s.lo < s.hi; {
			if err := s.narrow(few, n); err != nil {
				t.Fatal(err)
			}
		}
		if s.lo != codes[k] {
			t.Fatalf("code %d of %d with %d..%d set aside: %d, want %d", k, len(codes), a, b, s.lo, codes[k])
		}
	})
}
