package aggregates_test

import (
	"fmt"
	mathbig "math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

var integer = table.Type{Kind: table.BigInt}

// sample is a table of x (codes up to top, some NULLs) and s (0..9), in chunks
// whose minima differ.
func sample(rng *rand.Rand, rows, chunkRows int, top uint64, nulls bool) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: integer}, {Name: "s", Type: integer}}, chunkRows)
	for i := range rows {
		v := rng.Uint64()
		if top != ^uint64(0) {
			v %= top + 1
		}
		if c := uint64(i / chunkRows); c > 0 && top > 1000 {
			v = v/(c+1) + top/7*c/(c+1) // another range in each chunk
		}
		if nulls && rng.IntN(4) == 0 {
			b.Column(0).Null()
		} else {
			b.Column(0).Int(table.IntFromOrdinal(v + (^uint64(0)-top)/2))
		}
		b.Column(1).Int(int64(rng.IntN(10)))
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// selected returns x of the rows with s < c that are not NULL, ascending.
func selected(t *table.Table, c int64) []int64 {
	var out []int64
	for _, ch := range t.Chunks {
		for i := range ch.Rows {
			if v := ch.Segments[0].Value(i); !v.Null && ch.Segments[1].Value(i).I < c {
				out = append(out, v.I)
			}
		}
	}
	slices.Sort(out)
	return out
}

// query plans aggregates over x WHERE s < c (c = 10: everything, c = 0: nothing).
func query(t *testing.T, tab *table.Table, c int64, aggs ...expr.Aggregate) *physical.Query {
	t.Helper()
	where := &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 1, Name: "s", T: integer}, R: &expr.Const{V: table.Int(c)}}
	q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: where, Aggs: aggs})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestAggregatesOverSelections(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tops := []uint64{0, 1, 1<<19 - 1, 1<<22 - 1, 1 << 22, 1<<24 - 1, 1 << 24, 1<<48 - 1, 1 << 48, ^uint64(0)}
	for _, budget := range []int64{0, 12 << 10} { // the second: ten chunks share two depth-stencil buffers
		gltest.Run(t, budget, func(ctx *glctx.Context, g *pass.GL) {
			for _, top := range tops {
				sizes := []int{1100, 4000}
				if budget > 0 {
					sizes = []int{300}
				}
				for _, chunkRows := range sizes {
					tab := sample(rng, 3000, chunkRows, top, rng.IntN(2) == 0)
					for _, c := range []int64{10, 7, 1, 0} {
						checkAggregates(t, ctx, g, tab, c, fmt.Sprintf("max code %d, chunks of %d, s < %d, budget %d", top, chunkRows, c, budget))
					}
				}
			}
		})
	}
}

func checkAggregates(t *testing.T, ctx *glctx.Context, g *pass.GL, tab *table.Table, c int64, what string) {
	t.Helper()
	x := selected(tab, c)
	n := len(x)
	agg := func(k expr.AggKind, rank int64) expr.Aggregate {
		return expr.Aggregate{Kind: k, Col: 0, Name: "x", Arg: integer, K: rank, F: 0.3}
	}
	aggs := []expr.Aggregate{agg(expr.Count, 0), agg(expr.Sum, 0), agg(expr.Min, 0), agg(expr.Max, 0), agg(expr.Percentile, 0)}
	var want []string
	sum := new(mathbig.Int)
	for _, v := range x {
		sum.Add(sum, mathbig.NewInt(v))
	}
	if n == 0 {
		want = []string{"0", "NULL", "NULL", "NULL", "NULL"}
	} else {
		k := int64(n+2) / 3
		aggs = append(aggs, agg(expr.KthLargest, k), agg(expr.KthSmallest, k))
		p := max(1, (3*n+9)/10)
		want = []string{fmt.Sprint(n), sum.String(), fmt.Sprint(x[0]), fmt.Sprint(x[n-1]), fmt.Sprint(x[p-1]),
			fmt.Sprint(x[n-int(k)]), fmt.Sprint(x[k-1])}
	}
	values, err := aggregates.Run(g, predicates.LimitsOf(ctx.Caps()), query(t, tab, c, aggs...))
	g.End()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var got []string
	for _, v := range values {
		got = append(got, v.String())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

// Clauses of EvalDNF count in the bit that the k-th search over several limbs marks its
// candidates with.
func TestAKthSearchAfterLongClauses(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(7, 8)), 1000, 1000, 1<<40-1, true)
	q := query(t, tab, 10, expr.Aggregate{Kind: expr.Percentile, Col: 0, Name: "x", Arg: integer, F: 0.5})
	leaf := func(op expr.CmpOp, code uint64) *predicate.Pred {
		return &predicate.Pred{Op: predicate.Simple, Leaf: &predicate.Compare{Col: 1, Op: op, Code: code, Text: fmt.Sprintf("s %v %d", op, code)}}
	}
	where := &predicate.Pred{Op: predicate.Or}
	for i, last := range []*predicate.Pred{leaf(expr.LT, 3), leaf(expr.GT, 7)} {
		clause := &predicate.Pred{Op: predicate.And}
		for j := range 125 {
			clause.Kids = append(clause.Kids, leaf(expr.NE, uint64(1000*(i+1)+j)))
		}
		clause.Kids = append(clause.Kids, last)
		where.Kids = append(where.Kids, clause)
	}
	q.Chunks[0].Pred = where
	var x []int64
	c := tab.Chunks[0]
	for i := range c.Rows {
		if s := c.Segments[1].Value(i).I; (s < 3 || s > 7) && !c.Segments[0].IsNull(i) {
			x = append(x, c.Segments[0].Value(i).I)
		}
	}
	slices.Sort(x)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		values, err := aggregates.Run(g, predicates.LimitsOf(ctx.Caps()), q)
		if err != nil || values[0].I != x[(len(x)-1)/2] {
			t.Errorf("%v, %v, want %d", values, err, x[(len(x)-1)/2])
		}
	})
}

func TestPassesOfTheMedianAreThePapers(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(5, 6)), 1000, 1000, 1<<19-1, false)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		m := &pass.Meter{Runner: g}
		q := query(t, tab, 10, expr.Aggregate{Kind: expr.Percentile, Col: 0, Name: "x", Arg: integer, F: 0.5})
		if _, err := aggregates.Run(m, predicates.LimitsOf(ctx.Caps()), q); err != nil {
			t.Fatal(err)
		}
		if m.Passes != 20 { // one copy and one comparison for each of 19 bits
			t.Errorf("MEDIAN of 19 bits took %d passes", m.Passes)
		}
	})
}
