package glctx

import "time"

// WindowOptions says which window to open.
type WindowOptions struct {
	Options
	Title         string // "stencildb" where empty
	Width, Height int    // in screen units; 1280 x 720 where 0
	Hidden        bool   // keep it off the screen
	VSync         bool   // Swap waits for the display
}

// Window is the visible side of a context made by [OpenWindow]. Its methods may
// be called from any goroutine but not inside Do, except Swap, which is for the
// GL thread.
type Window struct{ impl windowImpl }

// windowImpl is what the build with windows supplies.
type windowImpl interface {
	release() error
	swap()
	events(wait time.Duration) ([]Event, error)
	framebufferSize() (width, height int)
	shouldClose() bool
}

// EventKind is a kind of [Event].
type EventKind string

// The kinds of event.
const (
	KeyPressed    EventKind = "key"     // Key is set; also when it repeats
	MousePressed  EventKind = "mouse"   // Button, X and Y are set
	MouseReleased EventKind = "release" // likewise
	MouseMoved    EventKind = "move"    // X and Y are set
	MouseScrolled EventKind = "scroll"  // X and Y are the steps
	Resized       EventKind = "resized" // X and Y are the new framebuffer size
)

// Event is something that a person did with the window.
type Event struct {
	Kind   EventKind
	Key    string // "a", "1", "space", "enter", "escape", "left", "f1", ...
	Shift  bool
	Ctrl   bool
	Button int // 0 left, 1 right, 2 middle
	// X, Y are where, in pixels of the framebuffer; of Resized its new size, of
	// MouseScrolled how far.
	X, Y float64
}

// Swap shows what was drawn to framebuffer 0; on the GL thread.
func (w *Window) Swap() { w.impl.swap() }

// Events returns what happened since the last call, waiting up to wait for
// something; 0 does not wait.
func (w *Window) Events(wait time.Duration) ([]Event, error) { return w.impl.events(wait) }

// Size returns the size of framebuffer 0 in pixels.
func (w *Window) Size() (width, height int) { return w.impl.framebufferSize() }

// ShouldClose reports whether the person asked for the window to close.
func (w *Window) ShouldClose() bool { return w.impl.shouldClose() }
