package aggregates_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/aggregates"
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

// The benchmarks of the paper's routines. Each runs the engine's routine and the same passes issued
// bare (file raw_gl_test.go), in turns. It reports the median wall time around a finish of both and
// their ratio:
//
//	go test -tags egl -run - -bench Routine ./aggregates
//
// STENCILDB_BENCH_ROWS=268435456 picks other sizes (a comma-separated list).

// uniform makes four attributes of 19 bits, like the paper's data_count, and one
// of 64 bits.
func uniform(rows int) *table.Table {
	t := &table.Table{Name: "t"}
	ch := &table.Chunk{Rows: rows}
	integer := table.Type{Kind: table.BigInt}
	for c := range 5 {
		name := string(rune('a' + c))
		seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Bits: 19, Max: 1<<19 - 1}
		rng := rand.New(rand.NewPCG(1, uint64(c)))
		if c == 4 {
			name, seg.Base, seg.Bits, seg.Max = "wide", 0, 64, ^uint64(0)
			seg.Codes.U64 = make([]uint64, rows)
			for i := range seg.Codes.U64 {
				seg.Codes.U64[i] = rng.Uint64()
			}
		} else {
			seg.Codes.U32 = make([]uint32, rows)
			for i := range seg.Codes.U32 {
				seg.Codes.U32[i] = rng.Uint32() >> 13
			}
		}
		t.Fields = append(t.Fields, table.Field{Name: name, Type: integer})
		ch.Segments = append(ch.Segments, seg)
	}
	t.Chunks = []*table.Chunk{ch}
	return t
}

const threshold = 314573 // 60 % of 2^19

// engine runs routines of the engine for a benchmark, on the GL thread.
type engine struct {
	ctx    *glctx.Context
	gl     *pass.GL
	device predicates.Limits
	table  *table.Table
	eval   *predicates.Evaluator // with a in its depth buffer
	kept   *aggregates.Selection // everything selected, a in its depth buffer
}

func (e *engine) query(where *predicate.Pred, aggs ...expr.Aggregate) func() error {
	q := &physical.Query{Table: e.table, Chunks: []physical.ChunkPlan{{Pred: where}}, Aggs: aggs}
	return func() error {
		_, err := aggregates.Run(e.gl, e.device, q)
		return err
	}
}

func agg(k expr.AggKind, col int, name string) expr.Aggregate {
	return expr.Aggregate{Kind: k, Col: col, Name: name, Arg: table.Type{Kind: table.BigInt}, F: 0.5}
}

func (e *engine) count(p *predicate.Pred) func() error {
	return func() error {
		_, err := e.eval.Select(p, false).Wait()
		return err
	}
}

// routine is one line of the table: the engine, and the same passes bare.
type routine struct {
	name         string
	engine, bare func() error
}

func routines(e *engine, r *bare) []routine {
	all := &predicate.Pred{Op: predicate.True}
	median := uint64(e.table.Rows()+1) / 2
	and := &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{plantest.LessThan(0, threshold), plantest.LessThan(1, threshold), plantest.LessThan(2, threshold), plantest.LessThan(3, threshold)}}
	between := plantest.LeafOf(&predicate.Range{Col: 0, Lo: 104858, Hi: 419430, Text: "a BETWEEN 104858 AND 419430"})
	eighty := plantest.LeafOf(&predicate.Compare{Col: 1, Op: expr.LT, Code: 419430, Text: "b < 419430"})
	list := []routine{
		{"CopyToDepth", func() error {
			eval := predicates.New(e.gl, e.device, e.table, 0, e.eval.Target().Format, 0, predicates.NewSlots())
			eval.CopyToDepth(0, 0, textures.NullLimb)
			return eval.Err()
		}, r.copy},
		{"Compare", e.count(plantest.LessThan(0, threshold)), r.compare},
		{"COUNT_WHERE_a<c", e.query(plantest.LessThan(0, threshold), agg(expr.CountAll, -1, "")), r.copyAndCompare},
		{"Semilinear_4", e.count(plantest.Semilinear()), r.semilinear},
		{"MEDIAN_19", func() error { _, err := e.kept.KthLargest(0, median, true); return err }, r.median},
		{"SUM_19", func() error { _, err := e.kept.Accumulator(0); return err }, r.sum},
		{"EvalCNF_4", e.count(and), r.evalCNF},
		{"MEDIAN_WHERE_80%", e.query(eighty, agg(expr.Percentile, 0, "a")), nil},
		{"SUM_WHERE_80%", e.query(eighty, agg(expr.Sum, 0, "a")), nil},
		{"COUNT_wide_64bit", e.query(plantest.LeafOf(&predicate.Compare{Col: 4, Op: expr.LT, Code: 1 << 63, Text: "wide < 0"}), agg(expr.CountAll, -1, "")), nil},
		{"MEDIAN_wide_64bit", e.query(all, agg(expr.Percentile, 4, "wide")), nil},
		{"SUM_wide_64bit", e.query(all, agg(expr.Sum, 4, "wide")), nil},
	}
	if e.device.DepthBounds {
		list = slices.Insert(list, 2, routine{"Range", e.count(between), r.depthBounds})
	} else {
		list = append(list, routine{"Range_two_passes", e.count(between), nil})
	}
	return list
}

func BenchmarkRoutine(b *testing.B) {
	for _, rows := range benchsize.List(b, 1<<20, 1<<24) {
		b.Run(fmt.Sprint(rows), func(b *testing.B) { benchmarkRows(b, rows) })
	}
}

func benchmarkRows(b *testing.B, rows int) {
	t := uniform(rows)
	e, closeEngine := openEngine(b, t)
	defer closeEngine()
	r, closeBare := openBare(b, t)
	defer closeBare()
	for _, x := range routines(e, r) {
		b.Run(x.name, func(b *testing.B) {
			mine, theirs := []time.Duration{}, []time.Duration{}
			timed(b, e.ctx, x.engine)
			if x.bare != nil {
				timed(b, r.ctx, x.bare)
			}
			for b.Loop() {
				for range 5 { // in turns
					mine = append(mine, timed(b, e.ctx, x.engine))
					if x.bare != nil {
						theirs = append(theirs, timed(b, r.ctx, x.bare))
					}
				}
			}
			ms := median(mine)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms, "engine-ms")
			b.ReportMetric(float64(rows)/ms/1e6, "Grows/s")
			if x.bare != nil {
				b.ReportMetric(median(theirs), "bare-ms")
				b.ReportMetric(ms/median(theirs), "engine/bare")
			}
		})
	}
}

// timed is the wall time of f on the GL thread, between two finishes.
func timed(b *testing.B, ctx *glctx.Context, f func() error) time.Duration {
	var d time.Duration
	err := ctx.Do(context.Background(), func() error {
		ctx.Finish()
		start := time.Now()
		err := f()
		ctx.Finish()
		d = time.Since(start)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func median(d []time.Duration) float64 {
	d = slices.Clone(d)
	slices.Sort(d)
	return float64(d[len(d)/2].Nanoseconds()) / 1e6
}
