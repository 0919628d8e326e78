package sharedscan_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/compute/sharedscan"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// batchable draws what a batch may ask of a table.
func batchable(rng *rand.Rand, t *table.Table) *physical.Query {
	q := &physical.Query{Table: t}
	for _, c := range t.Chunks {
		p := plantest.DrawPredicate(rng, c, rng.IntN(3))
		switch rng.IntN(8) {
		case 0:
			p = &predicate.Pred{Op: predicate.True}
		case 1:
			p = &predicate.Pred{Op: predicate.False}
		}
		q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: p})
	}
	for range 1 + rng.IntN(3) {
		a := expr.Aggregate{Kind: expr.CountAll, Col: -1}
		if kind := []expr.AggKind{expr.CountAll, expr.Count, expr.Sum, expr.Avg, expr.Min, expr.Max}[rng.IntN(6)]; kind != expr.CountAll {
			col := rng.IntN(len(t.Fields))
			a = expr.Aggregate{Kind: kind, Col: col, Name: t.Fields[col].Name, Arg: t.Fields[col].Type, P: -1}
		}
		q.Aggs = append(q.Aggs, a)
	}
	return q
}

// Every query of a batch has its own answer: of random conditions, widths, NULLs, windows and chunks, in the programs
// for hardware.
func TestBatchesAgreeWithCPU(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(5, 6))
		answered := 0
		for round := range 8 {
			d := compute.ProfileOf(ctx.Caps())
			d.Multiprocessors, d.Together, d.Lines = 1+round%3, 1+round%4, []int{8, 8, 40, 8, 64, 8, 8, 20}[round]
			d.RegionRows = 1 << 30 * (round % 4 / 3)
			if round%3 == 0 {
				d.WindowRows = textures.GroupRows
			}
			rows := plantest.BoundaryRows[round%len(plantest.BoundaryRows)]
			tab := plantest.CodedTable(rng, rows, []int{1, 7, 14, 19, 22, 27, 31, 32}[round], 1+round%3, round%2 == 0, round%5 < 2)
			b := sharedscan.New(d)
			var queries []*physical.Query
			for range 80 {
				q := batchable(rng, tab)
				if f := sharedscan.QueryOf(q); f != nil && b.Add(f) {
					queries = append(queries, q)
				}
			}
			if round%2 > 0 { // another thread makes the passes, while this one has something else to do
				made := make(chan error)
				go func() { made <- b.Prepare() }()
				if err := <-made; err != nil {
					t.Fatal(err)
				}
			}
			list, err := b.Run(g)
			g.End()
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range queries {
				want, err := cpu.New(1).Execute(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				got, err := partial.Finish(list[i], q)
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range want {
					if got[k].String() != v.String() {
						t.Fatalf("round %d, query %d of %d: WHERE %v: %v is %v, cpu has %v", round, i, len(queries), q.Chunks[0].Pred, q.Aggs[k], got[k], v)
					}
					answered++
				}
			}
		}
		if answered < 30 {
			t.Errorf("%d answers were compared", answered)
		}
	})
}
