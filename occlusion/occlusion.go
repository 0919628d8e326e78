// Package occlusion counts samples: the pixel pass count of the paper, which is
// how COUNT is answered.
//
// A [Counter] is one count in flight. Begin one, draw, End it; Wait blocks until
// the device knows the number. Many may be in flight, so that a sum bit by bit
// waits once. Counters belong to a [Scope], come from its [Pool] and go back to it when
// waited for.
//
// A counter that nobody waits for (a query that ended early) must not be begun
// again while the device may still be counting. llvmpipe then adds the old count to
// the new one, now and then. [Scope.Close] sets such counters aside, and they are
// reused after their result has come.
//
// Caveat: GL allows one active sample counter at a time: End one before the next
// Begin.
package occlusion

import (
	"errors"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
)

// Pool reuses query objects. It belongs to one context; call it on the GL thread.
type Pool struct {
	ctx   *glctx.Context
	free  []uint32 // ready to begin
	stale []uint32 // abandoned: the device may still be counting
	made  []uint32
}

// NewPool returns an empty pool.
func NewPool(ctx *glctx.Context) *Pool { return &Pool{ctx: ctx} }

// Scope is the counters of one query. Several may be open on a pool.
type Scope struct {
	pool *Pool
	busy map[uint32]bool // begun, not waited for
}

// Open returns a new scope.
func (p *Pool) Open() *Scope { return &Scope{p, map[uint32]bool{}} }

// Counter is a count of samples in flight.
type Counter struct {
	scope *Scope
	id    uint32
	n     uint64
	done  bool
}

// Begin starts counting the samples that pass all tests.
func (s *Scope) Begin() *Counter {
	p := s.pool
	if len(p.free) == 0 {
		p.collect()
	}
	if len(p.free) == 0 {
		var ids [16]uint32
		gl.CreateQueries(gl.SAMPLES_PASSED, int32(len(ids)), &ids[0])
		p.ctx.Track("query", len(ids))
		p.free = append(p.free, ids[:]...)
		p.made = append(p.made, ids[:]...)
	}
	id := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	s.busy[id] = true
	gl.BeginQuery(gl.SAMPLES_PASSED, id)
	return &Counter{scope: s, id: id}
}

// End stops counting.
func (c *Counter) End() { gl.EndQuery(gl.SAMPLES_PASSED) }

// ErrClosed says that the scope or the pool of a counter was closed before it was waited
// for.
var ErrClosed = errors.New("occlusion: the counter's scope is closed")

// Wait blocks until the count is known and returns it; a second Wait returns the
// same number.
func (c *Counter) Wait() (uint64, error) {
	if c.done {
		return c.n, nil
	}
	pool := c.scope.pool
	if pool.made == nil || !c.scope.busy[c.id] {
		return 0, ErrClosed
	}
	pool.watch(c.id)
	gl.GetQueryObjectui64v(c.id, gl.QUERY_RESULT, &c.n)
	c.done = true
	delete(c.scope.busy, c.id)
	pool.free = append(pool.free, c.id)
	return c.n, nil
}

// watching is how long a result is polled before the thread blocks. An H200's driver, asked to block, wakes
// up to 0.2 ms late.
const watching = 20 * time.Millisecond

// watch returns when a result is there, or after some time. Software renderers want
// the core.
func (p *Pool) watch(id uint32) {
	if p.ctx.Caps().Software {
		return
	}
	var available int32
	flushed := false
	for start := time.Now(); ; {
		gl.GetQueryObjectiv(id, gl.QUERY_RESULT_AVAILABLE, &available)
		if available != 0 || time.Since(start) > watching {
			return
		}
		if !flushed {
			gl.Flush()
			flushed = true
		}
	}
}

// Close sets aside counters that were begun and never waited for, when a query ended
// early. The scope may be used again.
func (s *Scope) Close() {
	for id := range s.busy {
		s.pool.stale = append(s.pool.stale, id)
	}
	clear(s.busy)
}

// collect makes abandoned counters ready again, waiting for the device where it
// still counts.
func (p *Pool) collect() {
	var n uint64
	for _, id := range p.stale {
		gl.GetQueryObjectui64v(id, gl.QUERY_RESULT, &n)
	}
	p.free, p.stale = append(p.free, p.stale...), p.stale[:0]
}

// Close deletes all query objects.
func (p *Pool) Close() {
	if len(p.made) > 0 {
		gl.DeleteQueries(int32(len(p.made)), &p.made[0])
		p.ctx.Track("query", -len(p.made))
	}
	p.free, p.stale, p.made = nil, nil, nil
}
