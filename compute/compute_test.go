package compute_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// answer is how the backend answers a query by itself.
var answer = gltest.Answer(compute.Select)

// Random tables of every type and random queries over them give the scalar oracle's
// answer, or an error where the oracle has one.
func TestRandomQueriesAgreeWithTheOracle(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		run := func(q *physical.Query) ([]table.Value, error) { return answer(g, d, q) }
		compared := 0
		rapid.Check(t, func(t *rapid.T) {
			knobs := plantest.Exact()
			knobs.Arith = 0
			tab := plantest.Table(t, knobs)
			for range 2 {
				if gltest.CompareWithOracle(t, g, tab, plantest.Query(t, tab, knobs), run) {
					compared++
				}
			}
		})
		if compared == 0 {
			t.Error("no query was compared")
		}
	})
}

// everyAggregate asks for each kind of aggregate of a column of BIGINT.
func everyAggregate(rng *rand.Rand, col int, name string) []expr.Aggregate {
	a := expr.Aggregate{Col: col, Name: name, Arg: table.Type{Kind: table.BigInt}, P: -1}
	with := func(k expr.AggKind) expr.Aggregate { b := a; b.Kind = k; return b }
	list := []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, {Kind: expr.Selectivity, Col: -1},
		with(expr.Count), with(expr.Sum), with(expr.Avg), with(expr.Min), with(expr.Max)}
	for _, f := range []float64{0, 0.1, 0.5, rng.Float64(), 1} {
		p := with(expr.Percentile)
		p.F, p.Desc = f, rng.IntN(2) == 0
		list = append(list, p)
	}
	return list
}

// compareWithCPU runs a query on both backends.
func compareWithCPU(t *testing.T, g *pass.GL, d compute.Profile, q *physical.Query, what string) {
	t.Helper()
	want, wantErr := cpu.New(1).Execute(context.Background(), q)
	got, err := answer(g, d, q)
	g.End()
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s: WHERE %v: error %v, cpu has %v", what, q.Chunks[0].Pred, err, wantErr)
	}
	if err != nil {
		return
	}
	for i, v := range want {
		if got[i].String() != v.String() {
			t.Fatalf("%s: WHERE %v: %v is %v, cpu has %v", what, q.Chunks[0].Pred, q.Aggs[i], got[i], v)
		}
	}
}

// Every width and the ends of words, units and groups: bitmap by bitmap, in one
// program, in several windows, in several chunks.
func TestAggregatesAgreeWithCPU(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(1, 2))
		d := compute.ProfileOf(ctx.Caps())
		for width := 0; width <= 64; width++ {
			d := d
			d.Fuse, d.RegionRows = false, 1<<30
			if width%8 == 3 {
				d.Fuse = true
			}
			if width%21 == 3 { // programs for hardware, with a region for each of a few multiprocessors
				d.Software, d.Multiprocessors, d.RegionRows = false, 1+width%2, 0
			}
			if width%3 == 0 {
				d.WindowRows = textures.GroupRows
			}
			rows := plantest.BoundaryRows[width%len(plantest.BoundaryRows)]
			tab := plantest.CodedTable(rng, rows, width, 1+width%3/2, width%2 == 0, width%5 < 2)
			q := &physical.Query{Table: tab}
			for _, c := range tab.Chunks {
				q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: plantest.DrawPredicate(rng, c, width%3)})
			}
			if width%7 == 0 {
				for i := range q.Chunks {
					q.Chunks[i].Pred = &predicate.Pred{Op: predicate.True}
				}
			}
			q.Aggs = everyAggregate(rng, 0, "a")
			if width%4 == 0 {
				q.Aggs = append(q.Aggs, everyAggregate(rng, 1, "b")...)
			}
			compareWithCPU(t, g, d, q, fmt.Sprintf("%d rows of %d bits, %d chunks", rows, width, len(tab.Chunks)))
		}
	})
}

// The search for a minimum counts the values of several chunks together, the average takes them from there.
func TestAveragesBesideRanksAgreeWithCPU(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(3, 4))
		double := table.Type{Kind: table.Double}
		for _, nulls := range []bool{false, true} {
			tab := plantest.CodedTable(rng, 1000, 20, 3, false, nulls)
			tab.Fields[0].Type = double
			q := &physical.Query{Table: tab}
			for i, c := range tab.Chunks {
				c.Segments[0].Type, c.Segments[0].Base = double, table.OrdinalFloat64(1)
				q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: plantest.LeafOf(&predicate.Compare{Col: 1, Op: expr.LT, Code: c.Segments[1].Max / uint64(2+i), Text: "b below"})})
			}
			q.Chunks[1].Pred = &predicate.Pred{Op: predicate.False}
			q.Aggs = []expr.Aggregate{{Kind: expr.Min, Col: 1, Name: "b", Arg: tab.Fields[1].Type, P: -1}}
			for _, k := range []expr.AggKind{expr.Min, expr.Avg, expr.Count} {
				q.Aggs = append(q.Aggs, expr.Aggregate{Kind: k, Col: 0, Name: "a", Arg: double, P: -1})
			}
			compareWithCPU(t, g, compute.ProfileOf(ctx.Caps()), q, fmt.Sprintf("NULLs %t", nulls))
			q.Aggs = append(q.Aggs, expr.Aggregate{Kind: expr.CountAll, Col: -1})
			compareWithCPU(t, g, compute.ProfileOf(ctx.Caps()), q, fmt.Sprintf("NULLs %t, all counted", nulls))
		}
	})
}
