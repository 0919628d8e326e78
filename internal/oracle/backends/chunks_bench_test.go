package backends

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// BenchmarkChunks reports what each aggregate takes over 2^24 rows, or STENCILDB_BENCH_ROWS, in 1, 2 and 16 chunks, in
// turns, on each backend. It gives ms of the median, and multiples of one chunk. It gives the same of the processors'
// time, which others on the machine disturb less. x has the same code space in every chunk, y another one; f is REAL.
//
//	go test -tags egl -run - -bench Chunks/compute -benchtime 9x ./internal/oracle/backends
func BenchmarkChunks(b *testing.B) {
	tables := harness.ChunkTables(b, 1, 2, 16)
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
					b.ReportMetric(harness.Median(times[0]), "ms")
					b.ReportMetric(harness.Median(busy[0]), "busy_ms")
					for j, t := range tables[1:] {
						b.ReportMetric(harness.Median(times[j+1])/harness.Median(times[0]), fmt.Sprintf("times_in_%d", len(t.Chunks)))
						b.ReportMetric(harness.Median(busy[j+1])/harness.Median(busy[0]), fmt.Sprintf("busy_in_%d", len(t.Chunks)))
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
