package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/sql"
)

// blanks write a number below 1<<20, so that a text with few different parameters is one that was not asked before, too.
func blanks(n int) string {
	text := make([]byte, 20)
	for i := range text {
		text[i] = " \t"[n>>i&1]
	}
	return string(text)
}

// BenchmarkPlanning plans the statements of the Star Schema Benchmark and of TPC-H, each time with parameters that were not asked
// before. It reports medians in µs: what their text takes until it is parsed, until it is prepared, and until the device has its first
// pass.
//
//	go test -tags egl -run - -bench Planning -benchtime 200x ./engine
func BenchmarkPlanning(b *testing.B) {
	for i, of := range []struct {
		name       string
		operations []workload.Operation
	}{{"tpch", workload.TPCHOperations()}, {"ssb", workload.SSBOperations()}} {
		b.Run(of.name, func(b *testing.B) {
			db, err := engine.Open(engine.Options{Backend: "compute"})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			list, err := generate.Databases()[1-i].Tables(0.01)
			if err != nil {
				b.Fatal(err)
			}
			rows, forms := 0, sql.NewParseCache(128)
			for _, g := range list {
				t, err := g.Generate(context.Background(), g.DefaultRows, 1, 0)
				if err == nil {
					err = db.Add(t)
				}
				if err != nil {
					b.Fatal(err)
				}
				rows = max(rows, t.Rows())
			}
			var dispatched time.Time
			engine.StopAtFirstPass(db, func() {
				if dispatched.IsZero() {
					dispatched = time.Now()
				}
			})
			for _, op := range of.operations {
				texts := op.Draws(&workload.TableProfile{Rows: rows}, 400)
				b.Run(op.Name, func(b *testing.B) {
					var parsing, preparing, dispatching []time.Duration
					n := 0
					ask := func() {
						text := texts[n%len(texts)] + blanks(n)
						n++
						start := time.Now()
						if _, err := forms.Parse(text); err != nil {
							b.Fatal(err)
						}
						parsing = append(parsing, time.Since(start))
						start = time.Now()
						if _, err := db.Prepare(context.Background(), text); err != nil {
							b.Fatal(err)
						}
						preparing = append(preparing, time.Since(start))
						dispatched = time.Time{}
						start = time.Now()
						rows, err := db.Query(context.Background(), text)
						if err == nil {
							err = rows.Close()
						}
						if !dispatched.IsZero() {
							dispatching = append(dispatching, dispatched.Sub(start))
						}
					}
					for range 3 {
						ask()
					}
					parsing, preparing, dispatching = nil, nil, nil
					b.ReportAllocs()
					for b.Loop() {
						ask()
					}
					for _, m := range []struct {
						name string
						took []time.Duration
					}{{"parsed-µs", parsing}, {"prepared-µs", preparing}, {"dispatched-µs", dispatching}} {
						if slices.Sort(m.took); len(m.took) > 0 {
							b.ReportMetric(float64(m.took[len(m.took)/2].Nanoseconds())/1e3, m.name)
						}
					}
				})
			}
		})
	}
}
