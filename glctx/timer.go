package glctx

import (
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Timer measures how long the device takes for what is drawn between Start and
// Stop. Where Caps.GPUTimer it puts a timestamp on either side, which costs
// nothing and may nest. Elsewhere it waits for the device on either side and
// takes the wall clock. A Timer may be started again after Elapsed. All methods
// are for the GL thread.
type Timer struct {
	c       *Context
	queries [2]uint32 // timestamps; 0 with the wall clock
	started time.Time
	elapsed time.Duration
}

// NewTimer returns a timer; Delete frees it.
func (c *Context) NewTimer() *Timer {
	t := &Timer{c: c}
	if c.caps.GPUTimer {
		gl.GenQueries(2, &t.queries[0])
		c.Track("query", 2)
	}
	return t
}

// Start begins the span.
func (t *Timer) Start() {
	if t.queries[0] != 0 {
		gl.QueryCounter(t.queries[0], gl.TIMESTAMP)
		return
	}
	gl.Finish()
	t.started = time.Now()
}

// Stop ends the span.
func (t *Timer) Stop() {
	if t.queries[0] != 0 {
		gl.QueryCounter(t.queries[1], gl.TIMESTAMP)
		return
	}
	gl.Finish()
	t.elapsed = time.Since(t.started)
}

// Elapsed returns the length of the last span; with a GPU timer it waits until
// the device has passed its end.
func (t *Timer) Elapsed() time.Duration {
	if t.queries[0] == 0 {
		return t.elapsed
	}
	var from, to uint64
	gl.GetQueryObjectui64v(t.queries[0], gl.QUERY_RESULT, &from)
	gl.GetQueryObjectui64v(t.queries[1], gl.QUERY_RESULT, &to)
	return time.Duration(to - from)
}

// Delete frees the timer. It may be called twice.
func (t *Timer) Delete() {
	if t.queries[0] != 0 {
		gl.DeleteQueries(2, &t.queries[0])
		t.c.Track("query", -2)
		t.queries = [2]uint32{}
	}
}
