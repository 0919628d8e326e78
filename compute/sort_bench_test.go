package compute_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of ORDER BY a key of 31 bits, of all rows, whose numbers are read back, and of the first 100:
// median wall times.
//
//	go test -tags egl -run - -bench Order ./compute
//
// STENCILDB_BENCH_ROWS picks the sizes, as for BenchmarkQuery.
func BenchmarkOrder(b *testing.B) { eachSize(b, benchmarkOrder) }

func benchmarkOrder(b *testing.B, rows int) {
	integer := table.Type{Kind: table.BigInt}
	seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Max: 1<<31 - 1, Bits: 31}
	seg.Codes.U32 = make([]uint32, rows)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range seg.Codes.U32 {
		seg.Codes.U32[i] = rng.Uint32() >> 1
	}
	tab := &table.Table{Name: "t", Fields: []table.Field{{Name: "k", Type: integer}}, Chunks: []*table.Chunk{{Rows: rows, Segments: []*table.Segment{seg}}}}
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.DeviceOf(gl.Caps())
		took := map[int64][]time.Duration{}
		run := func(first int64) time.Duration {
			q, err := plan.NewQuery(tab, &plan.Fragment{Table: "t", Order: &plan.Sort{Keys: []expr.SortKey{{E: &expr.Column{Name: "k", T: integer}}}, First: first}})
			if err != nil {
				b.Fatal(err)
			}
			gl.Finish()
			start := time.Now()
			if _, err := compute.Order(g, d, q); err != nil {
				b.Fatal(err)
			}
			g.End()
			return time.Since(start)
		}
		for range 2 { // makes the planes resident
			run(-1)
			run(100)
		}
		for b.Loop() {
			for range 5 {
				for _, first := range []int64{-1, 100} {
					took[first] = append(took[first], run(first))
				}
			}
		}
		b.ReportMetric(0, "ns/op")
		for first, list := range took {
			slices.Sort(list)
			b.ReportMetric(float64(list[len(list)/2].Nanoseconds())/1e6, fmt.Sprintf("first%d-ms", first))
		}
	})
}
