package fused_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// The benchmarks run whole queries on data that is resident and report the median
// wall time around a finish:
//
//	go test -tags egl -run - -bench Query ./fused
//
// STENCILDB_BENCH_ROWS=268435456 picks other sizes (a comma-separated list).

// uniform makes four attributes of 19 bits, like the paper's data_count.
func uniform(rows int) *table.Table {
	t := &table.Table{Name: "t", Chunks: []*table.Chunk{{Rows: rows}}}
	var fill sync.WaitGroup
	for c := range 4 {
		seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Bits: 19, Max: 1<<19 - 1, Codes: table.Codes{U32: make([]uint32, rows)}}
		t.Fields = append(t.Fields, table.Field{Name: string(rune('a' + c)), Type: integer})
		t.Chunks[0].Segments = append(t.Chunks[0].Segments, seg)
		fill.Go(func() {
			rng := rand.NewPCG(1, uint64(c))
			for i := range seg.Codes.U32 {
				seg.Codes.U32[i] = uint32(rng.Uint64() >> 45)
			}
		})
	}
	fill.Wait()
	return t
}

var integer = table.Type{Kind: table.BigInt}

const threshold = 314573 // 60 % of 2^19

func agg(k expr.AggKind, col int) expr.Aggregate {
	a := expr.Aggregate{Kind: k, Col: col, F: 0.5}
	if col >= 0 {
		a.Name, a.Arg = string(rune('a'+col)), integer
	}
	return a
}

type benchCase struct {
	name  string
	where *predicate.Pred
	agg   expr.Aggregate
}

func benchCases() []benchCase {
	all := &predicate.Pred{Op: predicate.True}
	count := agg(expr.CountAll, -1)
	return []benchCase{
		{"COUNT_a<c", plantest.LessThan(0, threshold), count},
		{"COUNT_BETWEEN", plantest.LeafOf(&predicate.Range{Col: 0, Lo: 104858, Hi: 419430, Text: "a BETWEEN 104858 AND 419430"}), count},
		{"COUNT_AND_4", &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{plantest.LessThan(0, threshold), plantest.LessThan(1, threshold), plantest.LessThan(2, threshold), plantest.LessThan(3, threshold)}}, count},
		{"COUNT_semilinear_4", plantest.Semilinear(), count},
		{"SUM", all, agg(expr.Sum, 0)},
		{"MAX", all, agg(expr.Max, 0)},
		{"MEDIAN", all, agg(expr.Percentile, 0)},
		{"SUM_WHERE_80%", plantest.LessThan(1, 419430), agg(expr.Sum, 0)},
		{"MEDIAN_WHERE_80%", plantest.LessThan(1, 419430), agg(expr.Percentile, 0)},
	}
}

func BenchmarkQuery(b *testing.B) {
	for _, rows := range benchsize.List(b, 1<<20, 1<<24) {
		t := uniform(rows)
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			for _, c := range benchCases() {
				q := &physical.Query{Table: t, Chunks: []physical.ChunkPlan{{Pred: c.where}}, Aggs: []expr.Aggregate{c.agg}}
				benchmark(b, rows, c.name, func(g *pass.GL, d predicates.Limits) error {
					defer g.End()
					_, err := answer(g, d, q)
					return err
				})
			}
		})
	}
}

// bench is the context that benchmarks share, so that columns stay resident.
var bench struct {
	once sync.Once
	ctx  *glctx.Context
	gl   *pass.GL
	err  error
}

func openBench(b *testing.B) {
	bench.once.Do(func() {
		if bench.ctx, bench.err = glctx.Open(glctx.Options{}); bench.err == nil {
			bench.err = bench.ctx.Do(context.Background(), func() error {
				bench.gl = pass.NewGL(bench.ctx, textures.NewStore(bench.ctx, 0))
				return nil
			})
		}
	})
	if bench.err != nil {
		b.Fatal(bench.err)
	}
}

func benchmark(b *testing.B, rows int, name string, query func(*pass.GL, predicates.Limits) error) {
	openBench(b)
	b.Run(name, func(b *testing.B) {
		var times []time.Duration
		run := func() {
			err := bench.ctx.Do(context.Background(), func() error {
				bench.ctx.Finish()
				start := time.Now()
				err := query(bench.gl, predicates.LimitsOf(bench.ctx.Caps()))
				bench.ctx.Finish()
				times = append(times, time.Since(start))
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		run()
		times = times[:0]
		for b.Loop() {
			run()
		}
		slices.Sort(times)
		ms := float64(times[len(times)/2].Nanoseconds()) / 1e6
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ms, "ms")
		b.ReportMetric(float64(rows)/ms/1e6, "Grows/s")
	})
}
