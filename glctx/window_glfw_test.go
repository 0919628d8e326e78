//go:build window

package glctx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// These tests need an X display (make window-test): asking for a build with windows is
// asking for one.

func openWindow(t *testing.T, o WindowOptions) *Context {
	t.Helper()
	c, err := OpenWindow(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestWindowDrawsAndShows(t *testing.T) {
	for _, hidden := range []bool{true, false} {
		t.Run(fmt.Sprintf("hidden=%v", hidden), func(t *testing.T) {
			c := openWindow(t, WindowOptions{Width: 320, Height: 200, Hidden: hidden, Title: "test"})
			w := c.Window()
			if width, height := w.Size(); width != 320 || height != 200 {
				t.Errorf("%d x %d", width, height)
			}
			err := c.Do(context.Background(), func() error {
				gl.ClearColor(0, 1, 0, 1)
				gl.Clear(gl.COLOR_BUFFER_BIT)
				var pixel [4]uint8
				gl.ReadPixels(10, 10, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(&pixel[0]))
				if !hidden && (pixel[0] != 0 || pixel[1] != 255) { // a hidden window owns no pixels
					return fmt.Errorf("pixel %v", pixel)
				}
				w.Swap()
				return c.Check("frame")
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := w.Events(time.Millisecond); err != nil {
				t.Error(err)
			}
			if w.ShouldClose() {
				t.Error("nobody asked it to close")
			}
			if d := c.Device(); d.Platform != "window" || d.Renderer == "" {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestWindowBesideContextWithoutDisplay(t *testing.T) {
	headless := open(t, Options{})
	window := openWindow(t, WindowOptions{Hidden: true})
	for i, c := range []*Context{headless, window, headless, window} {
		err := c.Do(context.Background(), func() error { gl.Enable(0xFFFF); return c.Check(fmt.Sprint("pass ", i)) })
		var e *GLError
		if !errors.As(err, &e) || e.Where != fmt.Sprint("pass ", i) {
			t.Errorf("%v", err)
		}
	}
}

func TestManyWindowsOneAfterAnother(t *testing.T) {
	for range 10 {
		c, err := OpenWindow(WindowOptions{Hidden: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if windows != 0 {
		t.Errorf("%d windows are still counted", windows)
	}
}

func TestBadWindowOptions(t *testing.T) {
	if _, err := OpenWindow(WindowOptions{Width: -1, Height: 5}); err == nil {
		t.Error("a window of negative width")
	}
}

func TestPanicOnTheMainThreadIsAnError(t *testing.T) {
	err := onMain(func() error { panic("boom") })
	var p *PanicError
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("%v", err)
	}
}

func TestRunMainElsewhereOnlyRuns(t *testing.T) {
	ran := false
	RunMain(func() { ran = true })
	if !ran {
		t.Error("did not run")
	}
}

// TestWithoutADisplayTheErrorSaysSo runs this test binary again without one.
func TestWithoutADisplayTheErrorSaysSo(t *testing.T) {
	if os.Getenv("GLCTX_CHILD") == "1" {
		_, err := OpenWindow(WindowOptions{Hidden: true})
		if err == nil || !strings.Contains(err.Error(), "no window system") || !strings.Contains(err.Error(), "set DISPLAY") {
			t.Errorf("%v", err)
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "GLCTX_CHILD=1", "DISPLAY=", "WAYLAND_DISPLAY=")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
