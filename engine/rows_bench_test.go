package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/table"
)

// benchTable has two columns of 24 bits.
func benchTable(rows, chunks int) *table.Table {
	t := &table.Table{Name: "t"}
	for _, name := range []string{"a", "b"} {
		t.Fields = append(t.Fields, table.Field{Name: name, Type: table.Type{Kind: table.BigInt}})
	}
	var wg sync.WaitGroup
	for i := range chunks {
		n := rows/chunks + min(1, max(0, rows%chunks-i))
		c := &table.Chunk{Rows: n, Segments: make([]*table.Segment, len(t.Fields))}
		t.Chunks = append(t.Chunks, c)
		for col, f := range t.Fields {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), uint64(col)))
				codes := make([]uint32, n)
				for i := range codes {
					codes[i] = random.Uint32N(1 << 24)
				}
				c.Segments[col] = &table.Segment{Type: f.Type, Base: table.OrdinalInt(0), Max: 1<<24 - 1, Bits: 24, Codes: table.Codes{U32: codes}}
			})
		}
	}
	wg.Wait()
	return t
}

// benchDB has a table of benchTable.
func benchDB(b *testing.B, o Options, t *table.Table) *DB {
	b.Helper()
	db, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := db.Add(t); err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkBatches streams rows as Arrow batches, selected on cpu and on compute.
func BenchmarkBatches(b *testing.B) {
	t := benchTable(benchsize.Rows(b, 1<<24), 1)
	for _, backend := range []string{"cpu", "compute"} {
		db := benchDB(b, Options{Backend: backend}, t)
		for _, c := range []struct{ name, sql string }{
			{"1 %", "SELECT a, b FROM t WHERE a < 167772"},
			{"10 %", "SELECT a, b FROM t WHERE a < 1677721"},
			{"all", "SELECT a, b FROM t"},
			{"10 % of a sum", "SELECT a + b FROM t WHERE a < 1677721"},
			{"limit", "SELECT a, b FROM t WHERE a < 1677721 LIMIT 10"},
		} {
			b.Run(backend+"/"+c.name+"/rows", func(b *testing.B) { benchmarkRowIDs(b, db, backend, c.sql) })
			b.Run(backend+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					rows, err := db.Query(context.Background(), c.sql)
					if err != nil {
						b.Fatal(err)
					}
					n := int64(0)
					for batch, err := range rows.Batches() {
						if err != nil {
							b.Fatal(err)
						}
						n += batch.NumRows()
						batch.Release()
					}
					b.ReportMetric(float64(n), "rows")
				}
			})
		}
	}
}

// benchmarkRowIDs only finds which rows are selected.
func benchmarkRowIDs(b *testing.B, db *DB, name, text string) {
	s, err := db.plan(context.Background(), text)
	if err != nil {
		b.Fatal(err)
	}
	backend, _, err := db.view().Open(context.Background(), name, new(time.Duration))
	if err != nil {
		b.Fatal(err)
	}
	run := func() {
		for _, err := range backend.Rows(context.Background(), s.plan, new(querystats.Collector)) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	run() // uploads and compiles
	for b.Loop() {
		run()
	}
}

// BenchmarkDevices reports what aggregates take on device 0 and on devices 0 and 1 together, over the
// same four chunks. It gives ms of the median, and the second as a share of the first.
//
//	STENCILDB_BENCH_ROWS=1073741824 go test -tags egl -run - -bench Devices -benchtime 9x ./engine
func BenchmarkDevices(b *testing.B) {
	t := benchTable(benchsize.Rows(b, 1<<24), 4)
	for _, backend := range []string{"compute", "fused", "classic"} {
		dbs := []*DB{benchDB(b, Options{Backend: backend, Device: "0"}, t), benchDB(b, Options{Backend: backend, Device: "0,1"}, t)}
		for _, sql := range []string{
			"SELECT COUNT(*) FROM t WHERE a < 8388607", "SELECT COUNT(*) FROM t WHERE a < 8388607 AND b > 77777",
			"SELECT SUM(a) FROM t", "SELECT SUM(a) FROM t WHERE b < 8388607", "SELECT AVG(a) FROM t", "SELECT MIN(a), MAX(a) FROM t",
			"SELECT MEDIAN(a) FROM t", "SELECT MEDIAN(a) FROM t WHERE b < 8388607",
		} {
			b.Run(fmt.Sprintf("%s/%s", backend, sql), func(b *testing.B) {
				times := make([][]time.Duration, len(dbs))
				for range b.N {
					for j, db := range dbs {
						var r *Result
						for range 4 { // the first runs after another context pay for the switch
							var err error
							if r, err = Collect(db.Query(context.Background(), sql)); err != nil {
								b.Fatal(err)
							}
						}
						times[j] = append(times[j], r.Elapsed)
					}
				}
				median := func(j int) float64 {
					slices.Sort(times[j])
					return times[j][len(times[j])/2].Seconds() * 1e3
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(0), "ms")
				b.ReportMetric(median(1)/median(0), "of_two")
			})
		}
	}
}
