package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// BenchmarkChunks reports what each aggregate takes over 2^24 rows, or STENCILDB_BENCH_ROWS, in 1, 2 and 16
// chunks, in turns, on each backend: ms of the median, and as multiples of one chunk; the same of the processors' time,
// which others on the machine disturb less. x has the same code space in every chunk, y another one; f is REAL.
//
//	go test -tags egl -run - -bench Chunks/compute -benchtime 9x ./internal/oracle
func BenchmarkChunks(b *testing.B) {
	tables := chunkTables(b, 1, 2, 16)
	gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
		main := make(thread)
		go func() {
			defer close(main)
			benchmarkChunks(b, ctx, g, main, tables)
		}()
		for f := range main {
			f()
		}
	})
}

// chunkTables are tables of so many chunks each.
func chunkTables(b *testing.B, chunks ...int) (tables []*table.Table) {
	rows := 1 << 24
	if text := os.Getenv("STENCILDB_BENCH_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range chunks {
		tables = append(tables, inChunks(rows, n))
	}
	return tables
}

func benchmarkChunks(b *testing.B, ctx *glctx.Context, g *pass.GL, main thread, tables []*table.Table) {
	draws, scans, goroutines := predicates.LimitsOf(ctx.Caps()), compute.ProfileOf(ctx.Caps()), cpu.New(0)
	for _, backend := range []struct {
		name string
		run  func(q *physical.Query) error
	}{
		{"cpu", func(q *physical.Query) error { _, err := goroutines.Execute(context.Background(), q); return err }},
		{"compute", func(q *physical.Query) error {
			_, err := gltest.Answer(compute.Select)(g, scans, q)
			g.End()
			return err
		}},
		{"fused", func(q *physical.Query) error { _, err := gltest.Answer(fused.Select)(g, draws, q); g.End(); return err }},
		{"classic", func(q *physical.Query) error { _, err := aggregates.Run(g, draws, q); g.End(); return err }},
	} {
		for _, where := range []string{"", " WHERE s"} {
			for _, a := range chunkAggregates() {
				b.Run(fmt.Sprintf("%s/%v%s", backend.name, a, where), func(b *testing.B) {
					times, busy := make([][]time.Duration, len(tables)), make([][]time.Duration, len(tables))
					var queries []*physical.Query
					for _, t := range tables {
						queries = append(queries, chunkQuery(b, t, a, where != ""))
					}
					for i := range b.N + 1 {
						for j, q := range queries {
							start, used := time.Now(), processors()
							var err error
							main.do(func() { err = backend.run(q) })
							if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
								b.Skip(err)
							} else if err != nil {
								b.Fatal(err)
							}
							if i > 0 {
								times[j], busy[j] = append(times[j], time.Since(start)), append(busy[j], processors()-used)
							}
						}
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(median(times[0]), "ms")
					b.ReportMetric(median(busy[0]), "busy_ms")
					for j, t := range tables[1:] {
						b.ReportMetric(median(times[j+1])/median(times[0]), fmt.Sprintf("times_in_%d", len(t.Chunks)))
						b.ReportMetric(median(busy[j+1])/median(busy[0]), fmt.Sprintf("busy_in_%d", len(t.Chunks)))
					}
				})
			}
		}
	}
}

// processors is the time that the process has taken of all processors.
func processors() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median is that of some times, in ms.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1e3
}

// inChunks is a table of x, y and s, of 19 bits, and f, in n chunks.
func inChunks(rows, n int) *table.Table {
	integer, float := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Real}
	t := &table.Table{Name: "t", Fields: []table.Field{{Name: "x", Type: integer}, {Name: "y", Type: integer}, {Name: "s", Type: integer}, {Name: "f", Type: float}}}
	rng := rand.New(rand.NewPCG(1, 1))
	for c := range n {
		ch := &table.Chunk{Rows: rows / n}
		for col := range t.Fields[:3] {
			seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Bits: 19, Max: 1<<19 - 1, Codes: table.Codes{U32: make([]uint32, ch.Rows)}}
			if col == 1 {
				seg.Base += uint64(1000*c + c*c)
			}
			for i := range seg.Codes.U32 {
				seg.Codes.U32[i] = rng.Uint32() >> 13
			}
			ch.Segments = append(ch.Segments, seg)
		}
		zero := uint64(table.OrdinalFloat32(0))
		f := &table.Segment{Type: float, Base: zero, Bits: 30, Max: uint64(table.OrdinalFloat32(1)) - zero, Codes: table.Codes{U32: make([]uint32, ch.Rows)}}
		for i := range f.Codes.U32 {
			f.Codes.U32[i] = table.OrdinalFloat32(rng.Float32()) - uint32(zero)
		}
		ch.Segments = append(ch.Segments, f)
		t.Chunks = append(t.Chunks, ch)
	}
	return t
}

func chunkAggregates() []expr.Aggregate {
	agg := func(kind expr.AggKind, name string, col int) expr.Aggregate {
		arg := table.Type{Kind: table.BigInt}
		if name == "f" {
			arg.Kind = table.Real
		}
		return expr.Aggregate{Kind: kind, Col: col, Name: name, Arg: arg, F: 0.5, K: 1000}
	}
	return []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, agg(expr.Count, "x", 0), agg(expr.Sum, "x", 0), agg(expr.Avg, "x", 0),
		agg(expr.Min, "x", 0), agg(expr.Max, "x", 0), agg(expr.Percentile, "x", 0), agg(expr.Percentile, "y", 1),
		agg(expr.KthLargest, "x", 0), agg(expr.Sum, "f", 3), agg(expr.Min, "f", 3), agg(expr.Percentile, "f", 3)}
}

// chunkQuery is an aggregate over all records, or over those with s < 2^18.
func chunkQuery(b *testing.B, t *table.Table, a expr.Aggregate, selects bool) *physical.Query {
	q := &plan.Fragment{Table: "t", Aggs: []expr.Aggregate{a}}
	if selects {
		q.Where = &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 2, Name: "s", T: t.Fields[2].Type}, R: &expr.Const{V: table.Int(1 << 18)}}
	}
	p, err := physical.NewQuery(t, q)
	if err != nil {
		b.Fatal(err)
	}
	return p
}
