package trace

import (
	"slices"
	"testing"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// A pass with depth bounds has marks for both, which devices without the test never show.
func TestDepthBoundsAreMarked(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.Integer}}}, 0)
	for i := range 100 {
		b.Column(0).Int(int64(i + 10))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tr := &tracer{plan: &physical.Query{Table: b.Table()}}
	l := &look{Pass: &Pass{}, pass: &pass.Pass{Bounds: &pass.Bounds{Lo: 5.0 / (1 << 24), Hi: 50.0 / (1 << 24)}}}
	want := []Quad{{5.0 / (1 << 24), "from depth 5\u00a0/\u00a02^24 (a\u00a0=\u00a015)"}, {50.0 / (1 << 24), "to depth 50\u00a0/\u00a02^24 (a\u00a0=\u00a060)"}}
	if got := tr.quads(l, &buffer{}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	l.pass = &pass.Pass{Quad: 7.0 / (1 << 24), Depth: pass.Depth{Test: true, Func: pass.Less}}
	want = []Quad{{float64(float32(7.0 / (1 << 24))), "quad at depth 7\u00a0/\u00a02^24 (a\u00a0=\u00a017)"}}
	if got := tr.quads(l, &buffer{}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
