//go:build !window

package glctx

import "errors"

// HasWindows says whether this binary was built with windows.
const HasWindows = false

// RunMain runs f. In a build with windows it also serves the window system from
// the main thread meanwhile: call it from main.
func RunMain(f func()) { f() }

// OpenWindow opens a context with a window, in a build with windows.
func OpenWindow(WindowOptions) (*Context, error) {
	return nil, errors.New("glctx: built without windows: go build -tags egl,window")
}
