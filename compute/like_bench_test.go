package compute_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

// The benchmark of LIKE over comments as those of TPC-H's orders, nearly all of them different: COUNT(*) from the dispatch
// to the count. It reports the median wall time, and by it how many GB of text a second are looked through. Scale 10 is
//
//	STENCILDB_BENCH_ROWS=15000000 go test -tags egl -run - -bench Like ./compute
func BenchmarkLike(b *testing.B) { gltest.EachSize(b, benchmarkLike) }

// comments makes a column of them, in no order.
func comments(rows int) *table.Table {
	dict, codes := make([]string, rows), make([]uint32, rows)
	var wg sync.WaitGroup
	const part = 1 << 16
	for from := 0; from < rows; from += part {
		wg.Go(func() {
			for i := from; i < min(rows, from+part); i++ {
				dict[i] = generate.Comment(uint64(i), 19, 78)
			}
		})
	}
	wg.Wait()
	slices.Sort(dict)
	dict = slices.Compact(dict)
	dictionary.Pack(dict)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range codes {
		codes[i] = uint32(i % len(dict))
	}
	rng.Shuffle(rows, func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
	text, top := table.Type{Kind: table.Varchar}, uint64(len(dict)-1)
	s := &table.Segment{Type: text, Max: top, Bits: bits.Len64(top), Codes: table.Codes{U32: codes}, Dict: dict}
	return &table.Table{Name: "orders", Fields: []table.Field{{Name: "o_comment", Type: text}}, Chunks: []*table.Chunk{{Rows: rows, Segments: []*table.Segment{s}}}}
}

func benchmarkLike(b *testing.B, rows int) {
	tab := comments(rows)
	size := 0
	for _, s := range tab.Chunks[0].Segments[0].Dict {
		size += len(s)
	}
	gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		d.Texts = true
		var runs []*gltest.Timed
		for _, c := range []struct {
			name string
			like *expr.Like
		}{
			{"special_requests", &expr.Like{Pattern: "%special%requests%", Not: true}},
			{"word", &expr.Like{Pattern: "%theodolites%"}},
			{"suffix", &expr.Like{Pattern: "%ly"}},
			{"characters", &expr.Like{Pattern: "%____________________________________________________________"}},
			{"any_one", &expr.Like{Pattern: "%q_i_k%"}},
			{"ILIKE", &expr.Like{Pattern: "%SPECIAL%requests%", Fold: true}},
		} {
			c.like.X = &expr.Column{Name: "o_comment", T: tab.Fields[0].Type}
			q, err := physical.NewQuery(tab, &plan.Fragment{Where: c.like, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}})
			if err != nil {
				b.Fatal(err)
			}
			runs = append(runs, &gltest.Timed{Name: c.name, Do: func() error {
				_, err := answer(g, d, q)
				g.End()
				return err
			}})
		}
		gltest.InTurns(b, ctx, 5, runs)
		for _, x := range runs {
			b.ReportMetric(float64(size)/float64(x.Took[len(x.Took)/2].Nanoseconds()), x.Name+"-GB/s")
		}
	})
}
