package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// streamTable is a: 19 bits, w: 64 bits, n: 0..36, all random.
func streamTable(rows int) *table.Table {
	a, w, n := make([]uint32, rows), make([]uint64, rows), make([]uint8, rows)
	var parts sync.WaitGroup
	for from := 0; from < rows; from += 1 << 20 {
		parts.Go(func() {
			rng := rand.NewPCG(uint64(from), 1)
			for i := from; i < min(from+1<<20, rows); i++ {
				v := rng.Uint64()
				w[i], v = v, v*0x9e3779b97f4a7c15
				a[i], n[i] = uint32(v>>45), uint8(v>>20&0xffff*37>>16)
			}
		})
	}
	parts.Wait()
	big := table.Type{Kind: table.BigInt}
	return &table.Table{Name: "t", Fields: []table.Field{{Name: "a", Type: big}, {Name: "w", Type: big}, {Name: "n", Type: big}},
		Chunks: []*table.Chunk{{Rows: rows, Segments: []*table.Segment{
			{Type: big, Base: table.OrdinalInt(0), Max: 1<<19 - 1, Bits: 19, Codes: table.Codes{U32: a}},
			{Type: big, Max: math.MaxUint64, Bits: 64, Codes: table.Codes{U64: w}},
			{Type: big, Base: table.OrdinalInt(0), Max: 36, Bits: 6, Codes: table.Codes{U8: n}}}}}}
}

// BenchmarkStream runs statements over a table of STENCILDB_BENCH_ROWS rows (2^22) on a device whose budget is a twentieth of
// the table. It reports them, the upload of the same windows alone, and the same passes where the columns are resident.
func BenchmarkStream(b *testing.B) {
	rows := benchsize.Rows(b, 1<<22)
	tab := streamTable(rows)
	budget := tab.Bytes() / 20
	for _, c := range []struct{ backend, name, text string }{
		{"compute", "sums", "SELECT COUNT(*), SUM(a), MIN(w), MAX(w) FROM t WHERE a < 400000"},
		{"compute", "narrow", "SELECT COUNT(*), SUM(a), MAX(a) FROM t WHERE a < 400000"},
		{"compute", "median-narrow", "SELECT MEDIAN(a) FROM t"},
		{"compute", "median", "SELECT MEDIAN(w) FROM t"},
		{"compute", "groups", "SELECT n, COUNT(*), SUM(a) FROM t GROUP BY n"},
		{"compute", "rows", "SELECT a FROM t WHERE w BETWEEN 0 AND 90000000000000000 AND a >= 0"},
		{"compute", "first", "SELECT w FROM t ORDER BY w LIMIT 100"},
		{"fused", "sums", "SELECT COUNT(*), SUM(a), MIN(w), MAX(w) FROM t WHERE a < 400000"},
		{"fused", "median", "SELECT MEDIAN(a) FROM t"},
		{"classic", "sums", "SELECT COUNT(*), SUM(a) FROM t WHERE a < 400000"},
		{"classic", "median", "SELECT MEDIAN(a) FROM t"},
	} {
		b.Run(c.backend+"/"+c.name, func(b *testing.B) {
			ms := func(o Options) (float64, *DB) {
				o.Backend = c.backend
				db, err := Open(o)
				if err == nil {
					err = db.Add(tab)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { db.Close() })
				var list []float64
				for range 1 + max(1, b.N) { // the first compiles
					start := time.Now()
					if _, err := Collect(db.Query(context.Background(), c.text)); err != nil {
						b.Fatal(err)
					}
					list = append(list, time.Since(start).Seconds()*1e3)
				}
				list = list[1:]
				slices.Sort(list)
				return list[len(list)/2], db
			}
			all, db := ms(Options{GPUMemory: budget})
			up, bytes, visits := uploadAlone(b, db, c.backend, c.text)
			work, _ := ms(Options{})
			for unit, v := range map[string]float64{"ms": all, "upload-ms": up, "work-ms": work, "visits": float64(visits),
				"GB/s": float64(bytes) / up / 1e6, "of-the-larger": all / max(up, work)} {
				b.ReportMetric(v, unit)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkNear draws the sample that says where a median is, of STENCILDB_BENCH_ROWS rows (2^22).
func BenchmarkNear(b *testing.B) {
	rows := benchsize.Rows(b, 1<<22)
	tab := streamTable(rows)
	q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Aggs: []expr.Aggregate{{Kind: expr.Percentile, Name: "median", Col: 1, F: 0.5, Arg: tab.Fields[1].Type}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(backends.SampledSpans(q)) == 0 {
			b.Fatal("no span")
		}
	}
}

// uploadAlone makes what the visits of a statement read resident, visit after visit. It says what a sweep over all takes, in ms, and
// how many bytes of codes cross the bus.
func uploadAlone(b *testing.B, db *DB, backend, text string) (ms float64, bytes int64, visits int) {
	s, err := db.plan(context.Background(), text)
	if err != nil {
		b.Fatal(err)
	}
	v := devicesOf(db).ByName[backend].(*backends.Passes)
	of := v.Stream(s.plan)
	if of == nil {
		b.Fatalf("%s is not streamed", text)
	}
	p := of.Parts[0]
	err = p.GPU.Query(context.Background(), func() error {
		before := p.GPU.Store.Sent()
		defer func() { bytes = p.GPU.Store.Sent() - before }()
		for _, w := range p.Visits {
			r := &pass.Recorder{}
			one := backends.Part{Part: p.Part, Visits: []partial.Visit{w}, Spans: p.Spans, Recorded: true}
			if len(s.plan.Aggs) == 0 {
				if err := v.FindAll(r, p.GPU, w.First); err != nil {
					return err
				}
			} else if sel, err := one.Selection(backend, r); err == nil {
				_, _ = partial.Finish(sel, p.Query) // the counts are assumed
			}
			start := time.Now()
			err := p.GPU.GL.Apart(w.First.Table, func() error {
				defer p.Visiting(w.First)()
				seen := map[string]bool{}
				for _, one := range r.Passes {
					p.GPU.Store.Begin()
					for _, t := range one.Touches() {
						switch t := t.(type) {
						case textures.Block:
							if k := fmt.Sprint(t.Col, t.Content, t.Part, t.Window); !t.None() && t.Scratch == nil && !seen[k] {
								seen[k] = true
								if err := p.GPU.Store.Reside(t); err != nil {
									return err
								}
							}
						case textures.Ref:
							if k := fmt.Sprint(t.Cols, t.Form, t.High, t.Packed); t.Temp == nil && t.Words == nil && !seen[k] {
								seen[k] = true
								if _, err := p.GPU.Store.Texture(t); err != nil {
									return err
								}
							}
						}
					}
				}
				p.GPU.Context.Finish()
				return nil
			})
			ms += time.Since(start).Seconds() * 1e3
			if err != nil {
				return err
			}
		}
		return nil
	})()
	if err != nil {
		b.Fatal(err)
	}
	return ms, bytes, len(p.Visits)
}
