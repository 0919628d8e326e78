//go:build window

package glctx

import (
	"errors"
	"runtime"
	"sync/atomic"
)

var mainThread uintptr

func init() {
	// The goroutine of main.main then keeps the process's first thread, the only
	// one on which window systems take events.
	runtime.LockOSThread()
	mainThread = threadID()
}

// server takes functions to the main thread while RunMain runs.
type server struct {
	jobs chan func()
	over chan struct{}
}

var serving atomic.Pointer[server]

// RunMain runs f on another goroutine and serves the window system from the main
// thread until f returns. Call it from main.main (or TestMain): elsewhere it
// only runs f, and OpenWindow says what is missing. Windows must be closed
// before f returns.
func RunMain(f func()) {
	s := &server{jobs: make(chan func()), over: make(chan struct{})}
	if threadID() != mainThread || !serving.CompareAndSwap(nil, s) {
		f()
		return
	}
	defer serving.Store(nil)
	go func() {
		defer close(s.over)
		f()
	}()
	for {
		select {
		case job := <-s.jobs:
			job()
		case <-s.over:
			return
		}
	}
}

// onMain runs f on the main thread and returns its error, a panic included: the
// GLFW binding panics where GLFW reports an error.
func onMain(f func() error) error {
	missing := errors.New("glctx: windows need the main thread: call glctx.RunMain from main, and open and close windows inside it")
	s := serving.Load()
	if s == nil {
		return missing
	}
	answer := make(chan error, 1)
	job := func() {
		err := errors.New("glctx: the main thread ended")
		defer func() {
			if v := recover(); v != nil {
				err = recovered(v)
			}
			answer <- err
		}()
		err = f()
	}
	select {
	case s.jobs <- job:
		return <-answer
	case <-s.over:
		return missing
	}
}
