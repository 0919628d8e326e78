package pass_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

func target(rows int) textures.TargetRef {
	return textures.TargetRef{Shape: textures.ShapeOf(rows), Format: textures.D24S8}
}

// all is a pass that every record passes.
func all(t textures.TargetRef) *pass.Pass {
	return &pass.Pass{Op: pass.RenderQuad{}, Target: t, Count: true}
}

func TestAPassCountsExactlyTheRows(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, line := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
			full := line * line
			for _, rows := range []int{full - line - 1, full - line, full - line + 1, full - 1, full, full + 1} {
				if rows < 1 {
					continue
				}
				c, err := g.Run(all(target(rows)))
				if err != nil {
					t.Fatal(err)
				}
				if n, err := c.Wait(); n != uint64(rows) || err != nil {
					t.Errorf("%d rows: counted %d (%v)", rows, n, err)
				}
				g.End()
			}
		}
	})
}

func TestStateOfOnePassDoesNotReachTheNext(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := target(100)
		for _, p := range []*pass.Pass{
			{Op: pass.RenderQuad{}, Target: d, Quad: 0.5, Depth: pass.Depth{Test: true, Write: true}},
			{Op: pass.RenderQuad{}, Target: d, Clear: &pass.Clear{Value: 3, Mask: 0xff}, Depth: pass.Depth{Test: true, Func: pass.Never},
				Stencil: pass.Stencil{Test: true, Func: pass.Never}},
		} {
			if _, err := g.Run(p); err != nil {
				t.Fatal(err)
			}
		}
		c, err := g.Run(all(d))
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := c.Wait(); n != 100 {
			t.Errorf("a pass without tests counted %d of 100", n)
		}
		tg, err := g.Store().Target(d)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range tg.Stencil() {
			if v != 3 || tg.Depth()[i] < 0.4999 || tg.Depth()[i] > 0.5001 {
				t.Fatalf("record %d: stencil %d, depth %v", i, v, tg.Depth()[i])
			}
		}
	})
}

// Mesa's zink mixes up the programs that it makes for values of uniforms (docs/hardware.md).
func TestADispatchHasItsOwnUniforms(t *testing.T) {
	const text = `layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Result { uint result[]; };
uniform int turns, word;
void main() {
    uint n = 0u;
    for (int i = 0; i < turns; i++)
        n += result[0] * STEP;
    result[word] = n;
}
`
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		dispatches := []struct{ step, turns int }{{1, 1}, {2, 3}, {1, 1}, {1, 7}, {2, 3}, {1, 7}}
		result := textures.ScratchBlock(&textures.Scratch{Words: 1 + len(dispatches), Init: []uint32{1}, Zero: true})
		for i, d := range dispatches {
			if _, err := g.Run(&pass.Pass{Op: pass.RenderQuad{},
				Program:  shaders.ComposeCompute("turns", nil, []string{fmt.Sprintf("STEP %du", d.step)}, text),
				Uniforms: []shaders.Uniform{shaders.Int("turns", int32(d.turns)), shaders.Int("word", int32(1+i))},
				Dispatch: &pass.Dispatch{Groups: [2]int{1}, Blocks: []textures.Block{result}}}); err != nil {
				t.Fatal(err)
			}
		}
		words := make([]uint32, 1+len(dispatches))
		if err := g.Read(result, words); err != nil {
			t.Fatal(err)
		}
		for i, d := range dispatches {
			if n := int(words[1+i]); n != d.turns*d.step {
				t.Errorf("dispatch %d, %d turns of %d each: %d in all", i, d.turns, d.step, n)
			}
		}
	})
}

func TestErrorsNameThePass(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, p := range []*pass.Pass{
			{Op: pass.Compare{Text: "a < 1"}, Target: target(10), Program: shaders.Source{Name: "bad", Text: "#version 450 core\nnonsense"}},
			{Op: pass.Compare{Text: "a < 1"}, Target: target(10), Bounds: &pass.Bounds{Hi: 1}, Color: &textures.Temp{Width: 1 << 20, Height: 1 << 20}},
		} {
			if _, err := g.Run(p); err == nil || !strings.HasPrefix(err.Error(), "pass Compare(a < 1): ") {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestDepthBoundsWithoutTheExtensionIsAnError(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		p := all(target(10))
		p.Bounds = &pass.Bounds{Hi: 1}
		if _, err := g.Run(p); err == nil || !strings.Contains(err.Error(), "EXT_depth_bounds_test") {
			t.Errorf("error %v", err)
		}
	}, "GL_EXT_depth_bounds_test")
}

// A program reads blocks by their addresses, also those that another scope has left behind. Where the
// device has no addresses the error names the pass and the extension.
func TestBlocksAreReadByTheirAddresses(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for i := range uint32(2) {
			result := textures.ScratchBlock(&textures.Scratch{Words: 2, Zero: true})
			p := &pass.Pass{Op: pass.RenderQuad{}, Program: shaders.ComposeCompute("read", []string{"units.glsl"}, []string{"LOCAL 1"}, `layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Result { uint result[]; };
uniform int address[4];
void main() {
#ifdef GL_NV_shader_buffer_load
    for (int i = 0; i < 2; i++)
        if ((address[2 * i] | address[2 * i + 1]) != 0)
            result[i] = ((uvec4 *)packPtr(uvec2(address[2 * i], address[2 * i + 1])))[1].y;
#endif
}
`), Dispatch: &pass.Dispatch{Groups: [2]int{1}, Blocks: []textures.Block{result}}}
			for j := range uint32(2) {
				if i == 1 && j == 0 {
					p.Dispatch.Addressed = append(p.Dispatch.Addressed, textures.Block{}) // is not read
					continue
				}
				p.Dispatch.Addressed = append(p.Dispatch.Addressed, textures.ScratchBlock(&textures.Scratch{Words: 8, Init: []uint32{0, 0, 0, 0, 0, 10*i + j}}))
			}
			_, err := g.Run(p)
			if !ctx.Caps().BufferAddresses {
				if err == nil || !strings.HasPrefix(err.Error(), "pass RenderQuad") || !strings.Contains(err.Error(), "NV_shader_buffer_load") {
					t.Errorf("without the extension: %v", err)
				}
				continue
			}
			var words [2]uint32
			if err := errors.Join(err, g.Read(result, words[:])); err != nil || words != [2]uint32{0, 10*i + 1} {
				t.Errorf("read %d (%v)", words, err)
			}
			g.End()
		}
	})
}

func TestACancelledContextStopsPasses(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		stop, cancel := context.WithCancel(context.Background())
		cancel()
		err := g.Query(stop, func() error {
			_, err := g.Run(all(target(10)))
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		// and the next query is not affected
		if _, err := g.Run(all(target(10))); err != nil {
			t.Error(err)
		}
	})
}

func TestMeterCountsPassesAndSamples(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		m := &pass.Meter{Runner: g}
		for range 3 {
			c, err := m.Run(all(target(10)))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := c.Wait(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if m.Passes != 3 || m.Samples != 30 {
			t.Errorf("%d passes, %d samples", m.Passes, m.Samples)
		}
	})
}
