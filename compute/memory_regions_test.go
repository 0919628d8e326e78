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

// takes counts how often each unit is taken, and each place in the lists.
const takes = `layout(local_size_x = LOCAL) in;
layout(std430, binding = 1) buffer Units { uint taken[]; };
layout(std430, binding = 2) buffer Places { uint listed[]; };
uniform uint units, place, before, total;
shared uint appended;

void main() {
    claim(place);
    if (gl_LocalInvocationIndex == 0u)
        appended = 0u;
    barrier();
    for (uint unit = firstUnit(units, before, total), end = endUnit(units, before, total); unit < end; unit += STEP) {
        atomicAdd(taken[unit], 1u);
#ifndef SOFTWARE
        atomicAdd(listed[room(units, before, total) + atomicAdd(appended, 1u)], 1u);
#endif
    }
}
`

// Every unit is taken once, whatever multiprocessors there are, and has a place of its own in the
// lists that the host makes room for.
func TestEveryUnitIsTakenOnce(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		own := ProfileOf(ctx.Caps())
		rapid.Check(t, func(t *rapid.T) {
			d := own
			units := textures.UnitsPerGroup * rapid.IntRange(1, 200).Draw(t, "groups of rows")
			before := textures.UnitsPerGroup * rapid.IntRange(0, 200).Draw(t, "groups of rows before")
			total := before + units + textures.UnitsPerGroup*rapid.IntRange(0, 200).Draw(t, "groups of rows behind")
			e := &ChunkWork{Regional: rapid.Bool().Draw(t, "regional")}
			if e.Regional || rapid.Bool().Draw(t, "hardware") {
				d.Software, d.Multiprocessors, d.Local = false, rapid.IntRange(1, 5).Draw(t, "multiprocessors"), 32
			}
			k := &Code{Device: d, Regional: e.Regional, PerUnit: rapid.IntRange(1, 3).Draw(t, "groups a multiprocessor")}
			d.Together = rapid.IntRange(1, 2).Draw(t, "together")
			c := &Compiler{compiled: compiled{Device: d}, Units: total}
			groups := c.groups(k, units)
			zeros := func(words int) textures.Block {
				return textures.ScratchBlock(&textures.Scratch{Words: words, Zero: true})
			}
			places := listWords(units, groups, d) - 2*groups
			claims, taken, listed := zeros(max(1, d.Multiprocessors)), zeros(units), zeros(places)
			program := shaders.ComposeCompute("takes", []string{"units.glsl"}, e.Defines(d), takes)
			_, err := g.Run(&pass.Pass{Op: pass.RenderQuad{}, Program: program,
				Uniforms: []shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("place", 0),
					shaders.Uint("before", uint32(before)), shaders.Uint("total", uint32(total))},
				Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: []textures.Block{claims, taken, listed}}})
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
			all := 0
			for at, n := range read(listed) {
				if all += int(n); n > 1 {
					t.Fatalf("place %d of %d has %d units", at, places, n)
				}
			}
			if !d.Software && all != units {
				t.Fatalf("%d of %d units have places", all, units)
			}
		})
	})
}
