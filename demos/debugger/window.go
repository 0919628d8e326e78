package debugger

import (
	"context"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
)

// Window shows the debugger in the window of its context until the person leaves or
// ctx ends.
func Window(ctx context.Context, d *Demo) error {
	w := d.gl.Window()
	d.Resize(w.Size())
	last := time.Now()
	for stale := true; !w.ShouldClose() && ctx.Err() == nil; {
		if stale {
			if err := d.Frame(); err != nil {
				return err
			}
			if err := d.show(w); err != nil {
				return err
			}
		}
		events, err := w.Events(d.Wait())
		if err != nil {
			return err
		}
		for _, e := range events {
			if d.Handle(e) {
				return nil
			}
		}
		now := time.Now()
		stale = d.Tick(now.Sub(last)) || len(events) > 0
		last = now
	}
	return ctx.Err()
}

func (d *Demo) show(w *glctx.Window) error {
	return d.gl.Do(context.Background(), func() error {
		return d.stage.Runner.Lend(func() error {
			d.view.surface.show(d.view.shown.Pix)
			w.Swap()
			return d.gl.Check("debugger: show a frame")
		})
	})
}

// show copies a frame, its first line on top, to the window.
func (s *surface) show(pixels []uint8) {
	x, y := int32(s.size.X), int32(s.size.Y)
	gl.TextureSubImage2D(s.color, 0, 0, 0, x, y, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(pixels))
	gl.BindFramebuffer(gl.DRAW_FRAMEBUFFER, 0)
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, s.frame)
	gl.Viewport(0, 0, x, y) // Mesa then looks at the size of the window again
	gl.BlitFramebuffer(0, 0, x, y, 0, y, x, 0, gl.COLOR_BUFFER_BIT, gl.NEAREST)
}
