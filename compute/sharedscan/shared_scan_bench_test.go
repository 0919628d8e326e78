package sharedscan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/compute/sharedscan"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of queries that wait for the device together. They are COUNT and SUM with conditions over two
// of four attributes. So many run one by one, and as batches.
//
//	go test -tags egl -run - -bench Batches ./compute
func BenchmarkBatches(b *testing.B) {
	gltest.EachSize(b, func(b *testing.B, rows int) {
		tab := plantest.UniformCodes(rows)
		gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
			d := compute.ProfileOf(ctx.Caps())
			if d.Lines == 0 { // software
				d.Lines = 8
			}
			all := clients(tab, 64)
			var runs []*gltest.Timed
			for n := 1; n <= len(all); n *= 2 {
				list := all[:n]
				runs = append(runs, &gltest.Timed{Name: fmt.Sprint("single-", n), Do: func() error {
					for _, q := range list {
						if _, err := gltest.Answer(compute.Select)(g, d, q); err != nil {
							return err
						}
						g.End()
					}
					return nil
				}}, &gltest.Timed{Name: fmt.Sprint("batch-", n), Do: func() error {
					defer g.End()
					return inBatches(g, d, list)
				}})
			}
			gltest.InTurns(b, ctx, 3, runs)
		})
	})
}

// clients are queries as many clients ask them.
func clients(t *table.Table, n int) (list []*physical.Query) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		cols := rng.Perm(4)
		q := &physical.Query{Table: t, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1},
			{Kind: expr.Sum, Col: cols[2], Name: t.Fields[cols[2]].Name, Arg: t.Fields[cols[2]].Type, P: -1}}}
		lo := rng.Uint64N(1 << 18)
		between := plantest.LeafOf(&predicate.Range{Col: cols[0], Lo: lo, Hi: lo + 1<<17 + rng.Uint64N(1<<16), Text: "range"})
		q.Chunks = []physical.ChunkPlan{{Pred: &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{between, plantest.LessThan(cols[1], 1<<18+rng.Uint64N(1<<17))}}}}
		list = append(list, q)
	}
	return list
}

// inBatches answers queries in as few batches as take them.
func inBatches(g *pass.GL, d compute.Profile, list []*physical.Query) error {
	for len(list) > 0 {
		b := sharedscan.New(d)
		var rest []*physical.Query
		var taken []*physical.Query
		for _, q := range list {
			if b.Add(sharedscan.QueryOf(q)) {
				taken = append(taken, q)
			} else {
				rest = append(rest, q)
			}
		}
		found, err := b.Run(g)
		if err != nil {
			return err
		}
		for i, q := range taken {
			if _, err := partial.Finish(found[i], q); err != nil {
				return err
			}
		}
		list = rest
	}
	return nil
}
