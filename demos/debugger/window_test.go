//go:build window

package debugger

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
)

// These tests need an X display (make window-test).

func TestMain(m *testing.M) {
	status := 0
	glctx.RunMain(func() { status = m.Run() })
	os.Exit(status)
}

func openWindow(t *testing.T, backend string) *Demo {
	t.Helper()
	gpu, err := glctx.OpenWindow(glctx.WindowOptions{Width: 1000, Height: 700, Title: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, gpu, backend, flights(t, 3000), cnf)
}

// loops is a context that ends after so many looks at it.
type loops struct {
	context.Context
	left int
}

func (c *loops) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTheWindowStepsThroughTheStatementAndShowsTheFrame(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		t.Run(backend, func(t *testing.T) { stepsThrough(t, openWindow(t, backend)) })
	}
}

func stepsThrough(t *testing.T, d *Demo) {
	d.Toggle()
	d.Speed = fastest
	d.due = 0
	for tries := 0; !d.AtAnswer() && tries < 100; tries++ {
		if err := Window(&loops{t.Context(), 20}, d); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if !d.AtAnswer() || d.Running {
		t.Errorf("at step %d of %d, running %v", d.Step, d.Last(), d.Running)
	}
	d.draws(t)
	want := d.view.shown.RGBA
	if got := screenshot(t, d); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("what the window shows is not the frame")
	}
}

// screenshot reads what the window is about to show, its first line on top.
func screenshot(t *testing.T, d *Demo) *image.RGBA {
	t.Helper()
	img := image.NewRGBA(image.Rectangle{Max: d.size})
	err := d.gl.Do(context.Background(), func() error {
		d.view.surface.show(d.view.shown.RGBA.Pix, d.size.X, d.size.Y)
		gl.BindFramebuffer(gl.READ_FRAMEBUFFER, 0)
		for y := range d.size.Y {
			gl.ReadPixels(0, int32(d.size.Y-1-y), int32(d.size.X), 1, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(img.Pix[y*img.Stride:]))
		}
		return d.gl.Check("screenshot")
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255 // a window need not have alpha
	}
	return img
}
