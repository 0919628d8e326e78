package relational_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of ORDER BY a key of 31 bits, of all rows, whose numbers are read back, and of the first 100.
// It reports median wall times.
//
//	go test -tags egl -run - -bench Order ./compute
//
// STENCILDB_BENCH_ROWS picks the sizes, as for BenchmarkQuery.
func BenchmarkOrder(b *testing.B) { gltest.EachSize(b, benchmarkOrder) }

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
		d := compute.ProfileOf(gl.Caps())
		var list []*gltest.Timed
		for _, first := range []int64{-1, 100} {
			q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Order: &plan.Sort{Keys: []expr.SortKey{{E: &expr.Column{Name: "k", T: integer}}}, Limit: first}})
			if err != nil {
				b.Fatal(err)
			}
			order := func(run pass.Runner) error {
				_, err := relational.Order(run, d, q)
				return err
			}
			gltest.LogPasses(b, fmt.Sprint("first ", first), g, gl, order)
			defer gltest.LeftThere(b, fmt.Sprint("first", first), g, gl, order)
			list = append(list, &gltest.Timed{Name: fmt.Sprint("first", first), Do: func() error {
				_, err := relational.Order(g, d, q)
				g.End()
				return err
			}})
		}
		gltest.InTurns(b, gl, 5, list)
	})
}
