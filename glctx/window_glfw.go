//go:build window

package glctx

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"sync/atomic"
	"time"

	"github.com/go-gl/glfw/v3.3/glfw"
)

// HasWindows says whether this binary was built with windows.
const HasWindows = true

// OpenWindow opens a context with a window. It needs a display and [RunMain],
// and is called from inside it.
func OpenWindow(o WindowOptions) (*Context, error) {
	if o.Title == "" {
		o.Title = "stencildb"
	}
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = 1280, 720
	}
	if o.Width < 1 || o.Height < 1 || o.Memory < 0 {
		return nil, fmt.Errorf("glctx: window of %d x %d with %d bytes of memory: give positive numbers, or 0 for the defaults", o.Width, o.Height, o.Memory)
	}
	w := &Window{options: o}
	if err := onMain(w.open); err != nil {
		return nil, err
	}
	c, err := start(o.Options, w)
	if err != nil {
		return nil, fmt.Errorf("glctx: window: %w", err)
	}
	c.window = w
	c.device = DeviceInfo{Platform: "window", Chosen: true, Why: "the window system decides"}.opened(c.caps)
	return c, nil
}

// Window is the visible side of a context made by [OpenWindow]. Its methods may
// be called from any goroutine but not inside Do, except Swap, which is for the
// GL thread. GLFW's calls are made on the main thread, but for those that GLFW documents
// for any thread.
type Window struct {
	options WindowOptions
	window  *glfw.Window
	pending []Event // main thread only
	size    atomic.Uint64
	scale   atomic.Uint32 // a float32's bits
	closing atomic.Bool
}

// windows counts the open ones, on the main thread: GLFW ends with the last.
var windows int

func (w *Window) open() error {
	if windows == 0 {
		if err := initGLFW(); err != nil {
			return fmt.Errorf("glctx: no window system (%w): set DISPLAY", err)
		}
	}
	window, err := w.create()
	if err != nil {
		if windows == 0 {
			glfw.Terminate()
		}
		return fmt.Errorf("glctx: the window system gives no OpenGL 4.5 core window: %w", err)
	}
	windows++
	w.window = window
	w.listen()
	return nil
}

// initGLFW also finds the failure that the binding only writes to the log: there
// is no display, and then every other call panics.
func initGLFW() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("the display cannot be opened")
		}
	}()
	defer log.SetOutput(log.Writer())
	log.SetOutput(io.Discard)
	setDrivers()
	if err := glfw.Init(); err != nil {
		return err
	}
	glfw.DefaultWindowHints()
	return nil
}

// create tries the system's native way to a context (GLX), then EGL.
func (w *Window) create() (window *glfw.Window, err error) {
	for _, api := range []int{glfw.NativeContextAPI, glfw.EGLContextAPI} {
		glfw.DefaultWindowHints()
		glfw.WindowHint(glfw.ContextCreationAPI, api)
		glfw.WindowHint(glfw.ContextVersionMajor, 4)
		glfw.WindowHint(glfw.ContextVersionMinor, 5)
		glfw.WindowHint(glfw.OpenGLProfile, glfw.OpenGLCoreProfile)
		glfw.WindowHint(glfw.OpenGLDebugContext, toGLFW(w.options.debug()))
		glfw.WindowHint(glfw.Visible, toGLFW(!w.options.Hidden))
		glfw.WindowHint(glfw.ScaleToMonitor, glfw.True)
		window, err = glfw.CreateWindow(w.options.Width, w.options.Height, w.options.Title, nil, nil)
		if err == nil {
			return window, nil
		}
	}
	return nil, err
}

func toGLFW(b bool) int { return map[bool]int{true: glfw.True, false: glfw.False}[b] }

func (w *Window) attach() (err error) {
	defer func() {
		if v := recover(); v != nil { // the binding panics where GLFW reports an error
			err = recovered(v)
		}
	}()
	w.window.MakeContextCurrent()
	glfw.SwapInterval(toGLFW(w.options.VSync))
	return nil
}

func (w *Window) detach() { glfw.DetachCurrentContext() }

func (w *Window) release() error {
	return onMain(func() error {
		w.window.Destroy()
		if windows--; windows == 0 {
			glfw.Terminate()
		}
		return nil
	})
}

// Swap shows what was drawn to framebuffer 0; on the GL thread.
func (w *Window) Swap() { w.window.SwapBuffers() }

// ShouldClose reports whether the person asked for the window to close.
func (w *Window) ShouldClose() bool { return w.closing.Load() }

// Size returns the size of framebuffer 0 in pixels.
func (w *Window) Size() (width, height int) {
	size := w.size.Load()
	return int(size >> 32), int(uint32(size))
}

// Scale returns how many times as large as on a desktop of 96 dots an inch text is to be.
func (w *Window) Scale() float64 { return float64(math.Float32frombits(w.scale.Load())) }

func (w *Window) setScale(x, _ float32) { w.scale.Store(math.Float32bits(x)) }

func (w *Window) setSize(width, height int) {
	w.size.Store(uint64(width)<<32 | uint64(uint32(height)))
}

// Events returns what happened since the last call, waiting up to wait for
// something; 0 does not wait.
func (w *Window) Events(wait time.Duration) (list []Event, err error) {
	err = onMain(func() error {
		glfw.PollEvents()
		if wait > 0 && len(w.pending) == 0 && !w.closing.Load() {
			glfw.WaitEventsTimeout(wait.Seconds())
		}
		list, w.pending = w.pending, nil
		return nil
	})
	return list, err
}

// listen collects events; GLFW calls back on the main thread while it polls.
func (w *Window) listen() {
	add := func(e Event) { w.pending = append(w.pending, e) }
	w.setSize(w.window.GetFramebufferSize())
	w.setScale(w.window.GetContentScale())
	w.window.SetContentScaleCallback(func(_ *glfw.Window, x, y float32) { w.setScale(x, y) })
	w.window.SetCloseCallback(func(*glfw.Window) { w.closing.Store(true) })
	w.window.SetFramebufferSizeCallback(func(_ *glfw.Window, width, height int) {
		w.setSize(width, height)
		add(Event{Kind: Resized, X: float64(width), Y: float64(height)})
	})
	w.window.SetKeyCallback(func(_ *glfw.Window, key glfw.Key, code int, action glfw.Action, mods glfw.ModifierKey) {
		if name := keyName(key, code); action != glfw.Release && name != "" {
			add(Event{Kind: KeyPressed, Key: name, Shift: mods&glfw.ModShift != 0})
		}
	})
	w.window.SetMouseButtonCallback(func(_ *glfw.Window, button glfw.MouseButton, action glfw.Action, mods glfw.ModifierKey) {
		if kind, ok := map[glfw.Action]EventKind{glfw.Press: MousePressed, glfw.Release: MouseReleased}[action]; ok {
			x, y := w.pixels(w.window.GetCursorPos())
			add(Event{Kind: kind, Button: int(button), X: x, Y: y, Shift: mods&glfw.ModShift != 0})
		}
	})
	w.window.SetCursorPosCallback(func(_ *glfw.Window, x, y float64) {
		x, y = w.pixels(x, y)
		add(Event{Kind: MouseMoved, X: x, Y: y})
	})
	w.window.SetScrollCallback(func(_ *glfw.Window, x, y float64) { add(Event{Kind: MouseScrolled, X: x, Y: y}) })
}

// pixels turns a place in the window into one in the framebuffer, which has more
// pixels where the desktop is scaled.
func (w *Window) pixels(x, y float64) (float64, float64) {
	width, height := w.window.GetSize()
	fw, fh := w.Size()
	return x * float64(fw) / float64(max(1, width)), y * float64(fh) / float64(max(1, height))
}

var keyNames = map[glfw.Key]string{
	glfw.KeySpace: "space", glfw.KeyEnter: "enter", glfw.KeyKPEnter: "enter", glfw.KeyEscape: "escape",
	glfw.KeyTab: "tab", glfw.KeyBackspace: "backspace", glfw.KeyDelete: "delete", glfw.KeyInsert: "insert",
	glfw.KeyLeft: "left", glfw.KeyRight: "right", glfw.KeyUp: "up", glfw.KeyDown: "down",
	glfw.KeyHome: "home", glfw.KeyEnd: "end", glfw.KeyPageUp: "pageup", glfw.KeyPageDown: "pagedown",
}

// keyName follows the keyboard's layout for printable keys; "" is a key without
// a name here (modifiers).
func keyName(key glfw.Key, code int) string {
	if name, ok := keyNames[key]; ok {
		return name
	}
	if key >= glfw.KeyF1 && key <= glfw.KeyF25 {
		return fmt.Sprintf("f%d", key-glfw.KeyF1+1)
	}
	return glfw.GetKeyName(key, code)
}
