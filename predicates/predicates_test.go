package predicates_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// segment makes a column of n rows whose largest code is top. Its codes are at and around every limb
// boundary and power of two, with NULLs where asked.
func segment(rng *rand.Rand, n int, top uint64, nulls bool) *table.Segment {
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}, 0)
	col := b.Column(0)
	edges := boundaries(top)
	for i := range n {
		code := rng.Uint64()
		if top != ^uint64(0) {
			code %= top + 1
		}
		switch {
		case i < len(edges):
			code = edges[i]
		case nulls && rng.IntN(5) == 0:
			col.Null()
			continue
		}
		col.Int(table.IntFromOrdinal(code + offset(top)))
	}
	return col.Segment()
}

// offset centres the values, so that the minimum is not 0.
func offset(top uint64) uint64 { return (^uint64(0) - top) / 2 }

func boundaries(top uint64) []uint64 {
	list := []uint64{0, top}
	for k := range 64 {
		for d := -1; d <= 1; d++ {
			if v := uint64(1)<<k + uint64(d); v <= top && v < 1<<63 {
				list = append(list, v)
			}
		}
	}
	return list
}

// tops are the largest codes whose widths change how a code lies in textures or
// which depth format it needs.
var tops = []uint64{0, 1, 2, 1<<19 - 1, 1<<22 - 1, 1 << 22, 1<<23 + 5, 1<<24 - 1, 1 << 24, 1<<25 - 1,
	1<<40 + 12345, 1<<48 - 1, 1 << 48, 1<<53 + 1, 1<<63 - 1, ^uint64(0)}

func TestEveryComparisonAtEveryBoundary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	other := true // the device has another way to do a range
	for _, disable := range [][]string{nil, {"GL_EXT_depth_bounds_test"}} {
		if !other {
			break // that was done already
		}
		gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
			other = predicates.LimitsOf(ctx.Caps()).DepthBounds
			for _, top := range tops {
				for _, nulls := range []bool{false, true} {
					tab := &table.Table{Name: "t", Fields: []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}}
					seg := segment(rng, 1000+rng.IntN(200), top, nulls)
					tab.Chunks = []*table.Chunk{{Rows: seg.Rows(), Segments: []*table.Segment{seg}}}
					checkComparisons(t, ctx, g, tab, seg)
				}
			}
		}, disable...)
	}
}

func checkComparisons(t *testing.T, ctx *glctx.Context, g *pass.GL, tab *table.Table, seg *table.Segment) {
	format := predicates.Format(tab, []int{0})
	e := predicates.New(g, predicates.LimitsOf(ctx.Caps()), tab, 0, format, 0, predicates.NewSlots())
	try := func(l predicate.Leaf) {
		t.Helper()
		p := &predicate.Pred{Op: predicate.Simple, Leaf: l}
		for _, keep := range []bool{false, true} {
			checkSelect(t, g, e, tab.Chunks[0], p, keep)
		}
	}
	edges := boundaries(seg.Max)
	for i, k := range edges {
		for _, op := range []expr.CmpOp{expr.LT, expr.LE, expr.EQ, expr.NE, expr.GE, expr.GT} {
			none := op == expr.LT && k == 0 || op == expr.GT && k == seg.Max
			all := op == expr.GE && k == 0 || op == expr.LE && k == seg.Max || seg.Max == 0
			if none || all || i%3 != int(op)%3 && seg.Bits > 30 {
				continue // folded away by the plan; or a sample of the wide ones
			}
			try(&predicate.Compare{Col: 0, Op: op, Code: k, Text: fmt.Sprintf("x %v code %d", op, k)})
		}
		if lo, hi := min(k, edges[len(edges)/2]), max(k, edges[len(edges)/2]); lo < hi && (lo > 0 || hi < seg.Max) {
			try(&predicate.Range{Col: 0, Lo: lo, Hi: hi, Text: fmt.Sprintf("x in codes %d..%d", lo, hi)})
		}
	}
	if seg.Nulls > 0 {
		try(&predicate.NullTest{Col: 0, Text: "x IS NULL"})
		try(&predicate.NullTest{Col: 0, Not: true, Text: "x IS NOT NULL"})
	}
	var spans []predicate.Span
	for i := 0; i+2 < len(edges) && i < 60; i += 3 {
		lo := uint64(i) * (seg.Max / 80)
		if len(spans) == 0 || lo > spans[len(spans)-1].Hi+1 {
			spans = append(spans, predicate.Span{Lo: lo, Hi: lo + seg.Max/400})
		}
	}
	if len(spans) > predicate.MaxSpans {
		try(&predicate.Members{Col: 0, Spans: spans, Text: "x IN (...)"})
	}
}

// checkSelect compares count and stencil buffer with the scalar evaluation.
func checkSelect(t *testing.T, g *pass.GL, e *predicates.Evaluator, c *table.Chunk, p *predicate.Pred, keep bool) {
	t.Helper()
	s := e.Select(p, keep)
	n, err := s.Wait()
	if err != nil {
		t.Fatalf("%v: %v", p.Leaf, err)
	}
	holds, err := cpu.Selected(p, c)
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(holds.Count())
	if n != want {
		t.Errorf("%v over %d bits: counted %d, want %d", p.Leaf, c.Segments[0].Bits, n, want)
	}
	if !keep || s.All() || s.None() {
		return
	}
	target, err := g.Store().Target(e.Target())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range target.Stencil() {
		if passes(s.Test(), v) != holds.Get(i) {
			t.Fatalf("%v: row %d has stencil %d, selected %v", p.Leaf, i, v, holds.Get(i))
		}
	}
}

// passes is the stencil test in Go.
func passes(s pass.Stencil, stored uint8) bool {
	a, b := s.Ref&s.Mask, stored&s.Mask
	switch s.Func {
	case pass.Equal:
		return a == b
	case pass.NotEqual:
		return a != b
	}
	return true
}

func TestDepthFormatFollowsTheWidth(t *testing.T) {
	for _, c := range []struct {
		top  uint64
		want textures.Format
	}{{1<<22 - 1, textures.D24S8}, {1 << 22, textures.D32FS8}, {^uint64(0), textures.D32FS8}} {
		seg := segment(rand.New(rand.NewPCG(1, 1)), 200, c.top, false)
		tab := &table.Table{Chunks: []*table.Chunk{{Rows: seg.Rows(), Segments: []*table.Segment{seg}}}}
		if got := predicates.Format(tab, []int{0}); got != c.want {
			t.Errorf("codes up to %d: %v, want %v", c.top, got, c.want)
		}
	}
}
