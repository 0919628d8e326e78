package relational_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of sum(x) and row_number() over (partition by p order by o): 1,000 partitions, an order and values of 19 bits.
// Once the columns stay on the device, once they become segments in host memory: median wall times.
//
//	go test -tags egl -run - -bench Window ./compute
//
// STENCILDB_BENCH_ROWS picks the sizes, as for BenchmarkQuery.
func BenchmarkWindow(b *testing.B) { gltest.EachSize(b, benchmarkWindow) }

func benchmarkWindow(b *testing.B, rows int) {
	integer, tab := table.Type{Kind: table.BigInt}, &table.Table{Name: "t"}
	chunk, rng := &table.Chunk{Rows: rows}, rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name string
		most uint32
	}{{"p", 999}, {"o", 1<<19 - 1}, {"x", 1<<19 - 1}} {
		seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Max: uint64(c.most), Bits: 19}
		if c.most == 999 {
			seg.Bits = 10
		}
		seg.Codes.U32 = make([]uint32, rows)
		for i := range seg.Codes.U32 {
			seg.Codes.U32[i] = rng.Uint32N(c.most + 1)
		}
		tab.Fields, chunk.Segments = append(tab.Fields, table.Field{Name: c.name, Type: integer}), append(chunk.Segments, seg)
	}
	tab.Chunks = []*table.Chunk{chunk}
	col := func(i int) *expr.Column { return &expr.Column{Index: i, Name: tab.Fields[i].Name, T: integer} }
	over := func(f expr.Window) *plan.Window {
		f.Partition, f.Order, f.Frame = []expr.Expr{col(0)}, []expr.SortKey{{E: col(1)}}, expr.DefaultFrame
		return &plan.Window{Input: &plan.Scan{Table: "t", Columns: tab.Fields}, Funcs: []*expr.Window{&f}}
	}
	sum := expr.Aggregate{Kind: expr.Sum, Col: 2, Name: "x", Arg: integer}
	windows := map[string]*plan.Window{"sum": over(expr.Window{Kind: expr.OfAggregate, Agg: sum, T: sum.Type()}), "row_number": over(expr.Window{Kind: expr.RowNumber, T: integer})}
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		var list []*gltest.Timed
		for _, name := range []string{"sum", "row_number"} {
			find := func(run pass.Runner) error {
				_, err := relational.WindowColumns(run, d, tab, windows[name])
				return err
			}
			gltest.LogPasses(b, name, g, gl, find)
			defer gltest.LeftThere(b, name, g, gl, find)
			list = append(list, &gltest.Timed{Name: name + "-read", Do: func() error {
				_, err := relational.Window(g, d, tab, windows[name])
				g.End()
				return err
			}})
		}
		gltest.InTurns(b, gl, 5, list)
	})
}
