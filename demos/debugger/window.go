package debugger

import (
	"context"
	"image"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
)

// Window shows the debugger in the window of its context until the person leaves or
// ctx ends.
func Window(ctx context.Context, d *Demo) error {
	w := d.gl.Window()
	last := time.Now()
	for stale := true; !w.ShouldClose() && ctx.Err() == nil; {
		if stale {
			width, height := w.Size()
			d.ResizeTo(width, height, w.Scale())
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
			width, height := w.Size()
			d.view.surface.show(d.view.shown.Pix, width, height)
			w.Swap()
			return d.gl.Check("debugger: show a frame")
		})
	})
}

// show copies a frame, its first line on top, to the window of so many pixels.
func (s *surface) show(pixels []uint8, width, height int) {
	x, y := int32(s.size.X), int32(s.size.Y)
	gl.TextureSubImage2D(s.color, 0, 0, 0, x, y, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(pixels))
	gl.BindFramebuffer(gl.DRAW_FRAMEBUFFER, 0)
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, s.frame)
	gl.Viewport(0, 0, int32(width), int32(height)) // Mesa then looks at the size of the window again
	filter := uint32(gl.NEAREST)
	if s.size != image.Pt(width, height) {
		filter = gl.LINEAR
	}
	gl.BlitFramebuffer(0, 0, x, y, 0, int32(height), int32(width), 0, gl.COLOR_BUFFER_BIT, filter)
}
