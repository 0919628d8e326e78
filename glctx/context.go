package glctx

/*
#include <pthread.h>
#include <stdint.h>
static uintptr_t self(void) { return (uintptr_t)pthread_self(); }
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Options says which context to open. The zero value is the usual one.
type Options struct {
	// Device picks the device: "" takes STENCILDB_DEVICE, and where that is empty
	// too the first hardware device that opens, else software. A number picks an
	// entry of Devices; "hardware", "software" and "surfaceless" the first of
	// that kind. A list, "0,1", or "all" names several for OpenAll. Window contexts
	// ignore it: the window system decides.
	Device string
	origin string // of Device, in words: "--device"
	// Debug asks for a debug context: the driver then explains each error in
	// words. STENCILDB_DEBUG=1 does the same. Errors are found without it, and
	// Mesa explains them even so.
	Debug bool
	// Memory is the budget in bytes for GPU memory (Caps.Budget). 0 is 80 % of the free GPU memory where the
	// driver tells it. Otherwise it is half of the smaller of free RAM and the cgroup limit.
	Memory int64
	// Programs is a folder in which linked programs outlive the process; "": none do.
	Programs string
	// Disable names extensions to pretend absent, with or without "GL_", beside
	// those in STENCILDB_DISABLE (comma-separated): for testing the other path.
	Disable []string
}

// surface is where a context comes from: EGL without a display, or a window.
type surface interface {
	attach() error  // makes the context current on the calling thread
	detach()        // the reverse, on the same thread
	release() error // frees what is left, after detach or a failed attach
}

// Context is an OpenGL 4.5 core context with its own thread. All methods may be
// called from any goroutine, except those that say "on the GL thread": these
// only inside a function given to Do.
type Context struct {
	caps     *Caps
	device   DeviceInfo
	programs string
	window   *Window

	work     chan *task
	spin     bool          // both sides of Do spin before they block
	spinning atomic.Int32  // callers that do
	beside   bool          // other contexts work for the same queries
	quit     chan struct{} // asks the GL thread to end
	ended    chan struct{} // closed when it has
	thread   atomic.Uintptr
	once     sync.Once
	now      atomic.Pointer[task] // that the GL thread runs
	defect   error                // found outside GL, for the next Check

	mutex   sync.Mutex
	live    map[string]int
	created int
}

// task is one function on its way to the GL thread and its error on the way back.
type task struct {
	f     func() error
	err   error
	state atomic.Uint32
	done  chan struct{} // gets a token at the end of a task that is awaited
}

// The states of a task.
const (
	running   uint32 = iota // or on its way
	awaited                 // its caller has blocked
	abandoned               // its caller has gone
	finished
)

// Waking a blocked thread takes 10 to 15 us. It takes up to 70 us where the caller has waited for a query of
// 0.1 ms (an H200's host). So both sides of Do spin for a while before they block, if there are cores to
// spare. On few cores a software renderer needs them all.
const (
	spinCores  = 5                    // processors from which on spinning pays
	serveSpin  = 2 * time.Millisecond // the rows of some hundred groups take so long
	callerSpin = time.Millisecond
	// mostSpinning callers do, for the others have the processors to do something with.
	mostSpinning = 2
)

// spinFor calls ready until it is true or the time is over, and reports whether it
// was true.
func spinFor(d time.Duration, ready func() bool) bool {
	for start := time.Now(); ; {
		for range 64 {
			if ready() {
				return true
			}
		}
		if time.Since(start) > d {
			return false
		}
	}
}

// Receive waits for what comes from a channel, where there are processors enough at first
// without sleeping: a goroutine that sleeps wakes 50 microseconds late. open is false when the
// channel is closed; the error is the context's.
func Receive[T any](ctx context.Context, from <-chan T) (v T, open bool, err error) {
	v, open, quit := receive(from, ctx.Done(), callerSpin, spins())
	if quit {
		err = context.Cause(ctx)
	}
	return v, open, err
}

// receive is Receive that spins for so long, if at all.
func receive[T any](from <-chan T, quit <-chan struct{}, d time.Duration, spin bool) (v T, open, quitted bool) {
	if spin && spinFor(d, func() bool {
		select {
		case v, open = <-from:
			return true
		default:
			return false
		}
	}) {
		return v, open, false
	}
	select {
	case v, open = <-from:
		return v, open, false
	case <-quit:
		return v, false, true
	}
}

func spins() bool { return runtime.GOMAXPROCS(0) >= spinCores }

var tasks = sync.Pool{New: func() any { return &task{done: make(chan struct{}, 1)} }}

// start opens the surface on a new GL thread.
func start(o Options, s surface) (*Context, error) {
	c := &Context{
		programs: o.Programs, work: make(chan *task, 1), quit: make(chan struct{}), ended: make(chan struct{}),
		spin: spins(), live: map[string]int{},
	}
	ready := make(chan error, 1)
	go c.serve(o, s, ready)
	if err := <-ready; err != nil {
		<-c.ended
		return nil, errors.Join(err, s.release())
	}
	return c, nil
}

// serve is the GL thread. It stays locked for good, so that the thread ends with
// the goroutine and no other goroutine inherits driver state.
func (c *Context) serve(o Options, s surface, ready chan<- error) {
	runtime.LockOSThread()
	defer close(c.ended)
	if err := s.attach(); err != nil {
		ready <- err
		return
	}
	defer s.detach()
	if err := c.setUp(o); err != nil {
		ready <- err
		return
	}
	c.thread.Store(threadID())
	defer c.thread.Store(0)
	ready <- nil
	for t := c.next(); t != nil; t = c.next() {
		c.serveOne(t)
	}
}

// next waits for a task; nil asks the thread to end.
func (c *Context) next() *task {
	t, _, _ := receive(c.work, c.quit, serveSpin, c.spin)
	return t
}

var errGoexit = errors.New("glctx: the function given to Do ended the GL thread (runtime.Goexit); the context is closed")

// serveOne runs a task and always answers, even when f ends the goroutine (as
// testing's FailNow does); then the context closes with it. A task that was abandoned
// on its way does not run.
func (c *Context) serveOne(t *task) {
	if t.state.Load() == abandoned {
		return
	}
	c.now.Store(t)
	working.Add(1)
	t.err = errGoexit
	defer func() {
		working.Add(-1)
		c.now.Store(nil)
		if t.state.Swap(finished) == awaited {
			t.done <- struct{}{}
		}
	}()
	t.err = c.call(t.f)
}

// call runs f on the GL thread and turns panics and GL errors into errors.
func (c *Context) call(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
		// A lost context says so at every call.
		if e := c.Check(""); e != nil && !(errors.Is(err, ErrContextLost) && errors.Is(e, ErrContextLost)) {
			err = errors.Join(err, e)
		}
	}()
	return f()
}

func (c *Context) setUp(o Options) error {
	if err := loadFunctions(); err != nil {
		return err
	}
	c.caps = readCaps(o)
	if major, minor := c.caps.major, c.caps.minor; major < 4 || major == 4 && minor < 5 {
		return fmt.Errorf("%s has OpenGL %d.%d, not 4.5", c.caps.Renderer, major, minor)
	}
	listenToDebug()
	// Rows of a texture are not padded to four bytes anywhere in this project.
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
	return nil
}

// Do runs f on the GL thread and returns its error. Joined with it is any GL error or
// debug message of high severity that nobody checked for. A call from f itself
// runs at once. A panic in f comes back as a [*PanicError]. After Close it
// returns [ErrClosed].
//
// When ctx ends, Do returns its error at once. Where f has begun by then it goes on
// without its caller, who must not touch what f touches. f has to look at ctx
// itself, as the passes of package pass do. The GL thread is free when f ends.
func (c *Context) Do(ctx context.Context, f func() error) error { return c.Start(ctx, f)() }

// Start is [Context.Do] that does not wait for f: wait does, and is called once.
func (c *Context) Start(ctx context.Context, f func() error) (wait func() error) {
	ended := func(err error) func() error { return func() error { return err } }
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	if c.onThread() {
		return ended(c.call(f))
	}
	t := tasks.Get().(*task)
	t.f = f
	t.state.Store(running)
	select {
	case c.work <- t:
	case <-c.ended:
		return ended(ErrClosed)
	case <-ctx.Done():
		return ended(ctx.Err())
	}
	return func() error {
		if err := c.await(ctx, t); err != nil {
			return err
		}
		err := t.err
		t.f, t.err = nil, nil
		tasks.Put(t)
		return err
	}
}

// await waits for the end of a task. An error says that the GL thread or the context
// ended first, and the task is left to the GL thread.
func (c *Context) await(ctx context.Context, t *task) error {
	if c.spin {
		over := c.spinning.Add(1) <= mostSpinning && spinFor(callerSpin, func() bool { return t.state.Load() == finished })
		if c.spinning.Add(-1); over {
			return nil
		}
	}
	if !t.state.CompareAndSwap(running, awaited) {
		return nil
	}
	var err error
	select {
	case <-t.done:
		return nil
	case <-c.ended:
		err = ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !t.state.CompareAndSwap(awaited, abandoned) {
		<-t.done
		return nil
	}
	return err
}

// Abandoned reports whether the GL thread works for a caller that has gone: Close
// waits for the end of that.
func (c *Context) Abandoned() bool {
	t := c.now.Load()
	return t != nil && t.state.Load() == abandoned
}

// Busy reports whether the GL thread works, or is about to.
func (c *Context) Busy() bool { return c.now.Load() != nil || len(c.work) > 0 }

// threadID names the calling OS thread, among those alive.
func threadID() uintptr { return uintptr(C.self()) }

// onThread reports whether the caller runs on the GL thread: no other goroutine
// can, the thread is locked.
func (c *Context) onThread() bool { return c.thread.Load() == threadID() }

// Caps returns what the device can do, read once when the context was opened.
// Treat it as read-only.
func (c *Context) Caps() *Caps { return c.caps }

// Device returns the device that was opened and why.
func (c *Context) Device() DeviceInfo { return c.device }

// Programs returns the folder of Options.Programs.
func (c *Context) Programs() string { return c.programs }

// Window returns the window of a context made by OpenWindow, else nil.
func (c *Context) Window() *Window { return c.window }

// Finish waits until the device has done all that was asked of it; on the GL
// thread.
func (c *Context) Finish() { gl.Finish() }

// Close ends the GL thread and frees the context with all its objects. Objects
// still tracked as alive are reported as an error that is [ErrLeak]. A second
// Close does nothing. Inside Do it is refused.
func (c *Context) Close() error {
	if c.onThread() {
		return errors.New("glctx: Close called inside Do: call it after Do has returned")
	}
	var err error
	c.once.Do(func() {
		close(c.quit)
		<-c.ended
		if c.window != nil {
			err = c.window.release()
		}
		err = errors.Join(err, c.leaks())
	})
	return err
}
