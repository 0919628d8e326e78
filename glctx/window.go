package glctx

// WindowOptions says which window to open.
type WindowOptions struct {
	Options
	Title         string // "stencildb" where empty
	Width, Height int    // in pixels on a desktop of 96 dots an inch; 1280 x 720 where 0
	Hidden        bool   // keep it off the screen
	VSync         bool   // Swap waits for the display
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
	Button int // 0 left, 1 right, 2 middle
	// X, Y are where, in pixels of the framebuffer; of Resized its new size, of
	// MouseScrolled how far.
	X, Y float64
}
