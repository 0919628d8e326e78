package aggregates_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/textures"
)

// The mipmap sum is close, and it is not exact: why the paper adds bit by bit.
func TestMipmapSumIsCloseButNotExact(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(9, 10)), 70001, 1<<20, 1<<24-1, true)
	seg := tab.Chunks[0].Segments[0]
	var exact float64 // of codes: below 2^53
	for i := range seg.Rows() {
		exact += float64(seg.Codes.At(i))
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		e := predicates.New(g, predicates.LimitsOf(ctx.Caps()), tab, 0, textures.D24S8, 0, predicates.NewSlots())
		top, texels, err := aggregates.Mipmap(g, e, 0)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := g.Store().Read(textures.Ref{Temp: top})
		if err != nil {
			t.Fatal(err)
		}
		g.End()
		wrong := math.Abs(float64(mean[0])*texels-exact) / exact
		if wrong > 1e-5 || wrong == 0 {
			t.Errorf("mipmap sum %v, exact %v: relative error %g", float64(mean[0])*texels, exact, wrong)
		}
	})
}

func TestMipmapRefusesWideCodes(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(9, 10)), 10, 10, 1<<40, false)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		e := predicates.New(g, predicates.LimitsOf(ctx.Caps()), tab, 0, textures.D24S8, 0, predicates.NewSlots())
		if _, _, err := aggregates.Mipmap(g, e, 0); err == nil {
			t.Error("no error for codes of more than 24 bits")
		}
	})
}
