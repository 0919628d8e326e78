package compute

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// takes counts how often each unit is taken, and how many each work group takes.
const takes = `layout(local_size_x = LOCAL) in;
layout(std430, binding = 1) buffer Units { uint taken[]; };
layout(std430, binding = 2) buffer Groups { uint most[]; };
uniform uint units, place, from;

void main() {
    claim(place);
    for (uint unit = firstUnit(units, from), end = endUnit(units, from); unit < end; unit += STEP) {
        atomicAdd(taken[unit], 1u);
        atomicAdd(most[GROUP], 1u);
    }
}
`

// Every unit is taken once, whatever multiprocessors there are, and no work group takes
// more than the room that the host makes for its list.
func TestEveryUnitIsTakenOnce(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		own := DeviceOf(ctx.Caps())
		rapid.Check(t, func(t *rapid.T) {
			d := own
			units := textures.UnitsPerGroup * rapid.IntRange(1, 200).Draw(t, "groups of rows")
			from := textures.UnitsPerGroup * rapid.IntRange(0, 20).Draw(t, "groups of rows before")
			e := &evaluator{regional: rapid.Bool().Draw(t, "regional")}
			if e.regional || rapid.Bool().Draw(t, "hardware") {
				d.Software, d.Multiprocessors, d.local = false, rapid.IntRange(1, 5).Draw(t, "multiprocessors"), 32
			}
			k := &code{device: d, regional: e.regional, perUnit: rapid.IntRange(1, 3).Draw(t, "groups a multiprocessor")}
			d.Together = rapid.IntRange(1, 2).Draw(t, "together")
			c := &compiler{device: d, units: from + units}
			groups := c.groups(k, piece{Window: textures.Window{Rows: units / textures.UnitsPerGroup * textures.GroupRows}})
			zeros := func(words int) textures.Block {
				return textures.ScratchBlock(&textures.Scratch{Words: words, Zero: true})
			}
			claims, taken, most := zeros(max(1, d.Multiprocessors)), zeros(units), zeros(groups)
			program := shaders.ComposeCompute("takes", []string{"units.glsl"}, e.defines(d), takes)
			_, err := g.Run(&pass.Pass{Op: pass.RenderQuad{}, Program: program,
				Uniforms: []shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("place", 0), shaders.Uint("from", uint32(from))},
				Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: []textures.Block{claims, taken, most}}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.End()
			read := func(b textures.Block) []uint32 {
				words := make([]uint32, b.Scratch.Words)
				if err := g.Read(b, words); err != nil {
					t.Fatal(err)
				}
				return words
			}
			for unit, n := range read(taken) {
				if n != 1 {
					t.Fatalf("unit %d of %d is taken %d times", unit, units, n)
				}
			}
			share := k.share(units, groups)
			for group, n := range read(most) {
				if int(n) > share {
					t.Fatalf("group %d of %d takes %d units, with room for %d", group, groups, n, share)
				}
			}
		})
	})
}
