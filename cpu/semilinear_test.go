package cpu

import (
	"testing"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// Sums that just fit 32 or 64 bits, and those that just do not, over codes of every
// width.
func TestLinearSumsAroundTheirEdges(t *testing.T) {
	const rows = sumRows + 70
	tops := []int64{1, 1<<8 - 1, 1<<16 - 1, 1<<31 - 1, 1<<32 - 1, 1 << 40}
	var fields []table.Field
	for range tops {
		fields = append(fields, table.Field{Type: table.Type{Kind: table.BigInt}})
	}
	b := table.NewBuilder("t", fields, 0)
	for row := range rows {
		for i, top := range tops {
			switch k := (row >> i) % 4; {
			case row%97 == i:
				b.Column(i).Null()
			case k == 3:
				b.Column(i).Int(int64(row*7919) % (top + 1))
			default:
				b.Column(i).Int([]int64{0, top, top / 2}[k])
			}
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	narrow, wide := 0, 0
	holds := func(t rapid.TB, op expr.CmpOp, sum expr.Expr, rhs int64) {
		where := &expr.Compare{Op: op, L: sum, R: &expr.Const{V: table.Int(rhs)}}
		p, _, err := lower.Lower(where, tab, tab.Chunks[0])
		if err != nil {
			t.Fatal(err)
		}
		if leaf, ok := p.Leaf.(*predicate.Computed); ok {
			if l := newLinearLeaf(leaf, tab.Chunks[0], kernels.Best()); l != nil && l.narrow {
				narrow++
			} else if l != nil {
				wide++
			}
		}
		checkHolds(t, where, p, tab.Chunks[0])
	}
	for i := range len(tops) - 1 { // whatever is drawn below
		left, right := Column(tab, i), Column(tab, i+1)
		holds(t, expr.LT, &expr.Arith{Op: expr.Add, L: left, R: right, T: left.T}, tops[i+1])
	}
	rapid.Check(t, func(t *rapid.T) {
		coef := rapid.SampledFrom([]int64{1, -1, 3, -4, 1, -1, 1 << 15, -1<<15 - 1, 1 << 22, -1 << 30})
		term := func() expr.Expr {
			col := Column(tab, rapid.IntRange(0, len(tops)-1).Draw(t, "column"))
			return &expr.Arith{Op: expr.Mul, L: &expr.Const{V: table.Int(coef.Draw(t, "coefficient"))}, R: col, T: col.T}
		}
		sum := term()
		for range rapid.IntRange(1, 3).Draw(t, "terms") {
			sum = &expr.Arith{Op: expr.Add, L: sum, R: term(), T: sum.Type()}
		}
		rhs := rapid.SampledFrom([]int64{0, -1, 255, 1<<31 - 1, 1 << 31, -1 << 31, 1 << 45}).Draw(t, "against")
		holds(t, expr.CmpOp(rapid.IntRange(0, 5).Draw(t, "op")), sum, rhs)
	})
	if narrow == 0 || wide == 0 {
		t.Errorf("%d sums of 32 bits and %d of 64: want some of each", narrow, wide)
	}
}
