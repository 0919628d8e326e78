package cpu

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Division by the reciprocal of a constant is division, at the ends of what it is for.
func TestDivideBy(t *testing.T) {
	ends := []int64{0, 1, 2, 3, 9, 10, 11, 1<<16 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.SampledFrom(ends), rapid.Int64Range(0, 1<<32-1))
		d := max(2, number.Draw(t, "divisor"))
		var of, quotients, remainders []int64
		for _, x := range append(rapid.SliceOfN(number, 1, 50).Draw(t, "numbers"), d-1, d, min(d+1, 1<<32-1), (1<<32-1)/d*d, (1<<32-1)/d*d-1) {
			of = append(of, x, -x)
		}
		quotients, remainders = slices.Clone(of), slices.Clone(of)
		divideBy(d, false, quotients)
		divideBy(d, true, remainders)
		for i, x := range of {
			if quotients[i] != x/d || remainders[i] != x%d {
				t.Fatalf("%d / %d gives %d, %d", x, d, quotients[i], remainders[i])
			}
		}
	})
}

func BenchmarkAssign(b *testing.B) {
	const rows = 1 << 22
	integer := table.Type{Kind: table.BigInt}
	k, v := make([]uint32, rows), make([]uint32, rows)
	for i := range k {
		k[i] = uint32(i)
	}
	seg := func(codes []uint32) *table.Segment {
		return &table.Segment{Type: integer, Base: table.OrdinalInt(0), Max: 1<<22 - 1, Bits: 22, Codes: table.Codes{U32: codes}}
	}
	c := &table.Chunk{Rows: rows, Segments: []*table.Segment{seg(k), seg(v)}}
	t := &table.Table{Name: "t", Fields: []table.Field{{Name: "k", Type: integer}, {Name: "v", Type: integer}}, Chunks: []*table.Chunk{c}}
	col := &expr.Column{Index: 0, Name: "k", T: integer}
	mod := func(n int64) expr.Expr {
		return &expr.Arith{Op: expr.Mod, L: col, R: &expr.Const{V: table.Int(n)}, T: integer}
	}
	q, err := physical.NewQuery(t, &plan.Fragment{Table: "t", Where: &expr.Compare{Op: expr.EQ, L: mod(10), R: &expr.Const{V: table.Int(3)}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Assign(q.Chunks[0].Pred, c, []expr.Expr{mod(1000003)}, []*table.Segment{c.Segments[1]}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
