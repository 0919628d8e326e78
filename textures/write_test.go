package textures_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// What is written is what the block has, at its place, in pieces smaller and larger than the ring's slots. A pass before reads what
// was there, and the host's memory may change at once.
func TestWrite(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		const n = 300_000 // several slots where the CPU renders
		shapes, store := primitives.ShapesOf(ctx.Caps()), g.Store()
		want := make([]uint32, n)
		v, before := primitives.Zeros(n), primitives.New(n)
		for _, part := range [][2]int{{0, 1}, {7, 70}, {5, 65_541}, {100, n}, {n - 1, n}, {3, 3}} {
			if err := primitives.Map(g, shapes, primitives.Expr("x"), before, v); err != nil {
				t.Fatal(err)
			}
			was := slices.Clone(want)
			words := make([]uint32, part[1]-part[0])
			for i := range words {
				words[i] = uint32(i*7 + part[1])
			}
			copy(want[part[0]:], words)
			if err := store.Write(v.Block, part[0], words); err != nil {
				t.Fatal(err)
			}
			clear(words)
			for name, x := range map[string]struct {
				v    primitives.Vector
				want []uint32
			}{"after": {v, want}, "before": {before, was}} {
				if got, err := x.v.Read(g); err != nil || !slices.Equal(got, x.want) {
					t.Errorf("words %d to %d, %s: %v, other words", part[0], part[1], name, err)
				}
			}
		}
		for want, err := range map[string]error{
			"words 299999 to 300001 of a block of 300000": store.Write(v.Block, n-1, make([]uint32, 2)),
			"words -1 to 0": store.Write(v.Block, -1, make([]uint32, 1)), "no working memory": store.Write(textures.Block{Chunk: randomChunk(rand.New(rand.NewPCG(1, 2)), 8, 100)}, 0, nil),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}
