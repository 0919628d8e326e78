//go:build !window

package glctx

import (
	"errors"
	"time"
)

// HasWindows says whether this binary was built with windows.
const HasWindows = false

// RunMain runs f. In a build with windows it also serves the window system from
// the main thread meanwhile: call it from main.
func RunMain(f func()) { f() }

// OpenWindow opens a context with a window, in a build with windows.
func OpenWindow(WindowOptions) (*Context, error) {
	return nil, errors.New("glctx: built without windows: go build -tags egl,window")
}

// Window is what [OpenWindow] opens in a build with windows.
type Window struct{}

// Swap shows what was drawn.
func (*Window) Swap() {}

// Events returns what happened.
func (*Window) Events(time.Duration) ([]Event, error) { return nil, nil }

// Size is that of framebuffer 0.
func (*Window) Size() (width, height int) { return 0, 0 }

// Scale is how large text is to be.
func (*Window) Scale() float64 { return 1 }

// ShouldClose reports whether the window is to close.
func (*Window) ShouldClose() bool { return false }

func (*Window) release() error { return nil }
