package pass_test

import (
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
)

func TestAPassIsTheSameAfterOthersHaveDrawn(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		below := func(clear *pass.Clear) *pass.Pass {
			return &pass.Pass{Op: pass.RenderQuad{}, Target: target(100), Clear: clear, Quad: 0.25, Count: true,
				Depth:   pass.Depth{Test: true, Func: pass.Less},
				Stencil: pass.Stencil{Test: true, Func: pass.Equal, Ref: 3, Mask: 0xff, Pass: pass.Incr, WriteMask: 0xff}}
		}
		first := &pass.Pass{Op: pass.RenderQuad{}, Target: target(100), Quad: 0.5, Depth: pass.Depth{Test: true, Write: true}}
		for _, p := range []*pass.Pass{first, below(&pass.Clear{Value: 2, Mask: 0xff}), below(&pass.Clear{Value: 3, Mask: 0xff})} {
			if _, err := g.Run(p); err != nil {
				t.Fatal(err)
			}
			err := g.Lend(func() error {
				for _, test := range []uint32{gl.DEPTH_TEST, gl.STENCIL_TEST} {
					if gl.IsEnabled(test) {
						t.Errorf("after %v test 0x%x is on", p, test)
					}
				}
				gl.BindFramebuffer(gl.FRAMEBUFFER, 0)
				gl.BindVertexArray(0)
				gl.UseProgram(0)
				gl.Viewport(0, 0, 1, 1)
				gl.ColorMask(true, true, true, true)
				gl.Enable(gl.DEPTH_TEST)
				gl.DepthFunc(gl.NEVER)
				gl.DepthMask(true)
				gl.Enable(gl.STENCIL_TEST)
				gl.StencilFunc(gl.NEVER, 1, 1)
				gl.StencilOp(gl.ZERO, gl.ZERO, gl.ZERO)
				gl.StencilMask(0xff)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		c, err := g.Run(&pass.Pass{Op: pass.RenderQuad{}, Target: target(100), Count: true,
			Stencil: pass.Stencil{Test: true, Func: pass.Equal, Ref: 4, Mask: 0xff}})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := c.Wait(); n != 100 || err != nil {
			t.Errorf("counted %d of 100 (%v)", n, err)
		}
	})
}
