package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// fewestBatched is how many statements make a batch: over 2^28 rows one of 16 took 10.6 ms on an H100, and 16 one by one 8,
// one of 32 11.9, and 32 one by one 16.
const fewestBatched = 24

// waiting are the statements that wait for a device and that one sweep may answer together ([compute.Batch]).
//
// Each waits for its own turn on the GL thread, as any other statement. The one whose turn comes answers those that it
// can with its own, and these leave. So nobody waits for a batch to fill, and one that finds the device idle takes no part.
type waiting struct {
	mu       sync.Mutex
	list     []*request
	answered atomic.Int64 // statements, by batches
	least    int          // of tests: instead of fewestBatched
}

func (w *waiting) fewest() int { return cmp.Or(w.least, fewestBatched) }

// request is a statement that waits.
type request struct {
	form  *compute.Form
	query *plan.Query
	ctx   context.Context    // of its waiting
	leave context.CancelFunc // ends that
	found atomic.Pointer[batched]
}

// batched is what a batch found for a statement, and what the batch took.
type batched struct {
	plan.Selection
	passes int
	load   Loading
}

// enter has a statement wait, where the device is busy and a batch may answer it; else nil.
func (g *GPU) enter(ctx context.Context, q *plan.Query) *request {
	if g.Computes.Lines == 0 || !g.Context.Busy() {
		return nil
	}
	form := compute.FormOf(q)
	if form == nil {
		return nil
	}
	r := &request{form: form, query: q}
	r.ctx, r.leave = context.WithCancel(ctx)
	w := &g.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, r)
	return r
}

// remove takes a statement from those that wait, and reports whether it was there.
func (w *waiting) remove(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.list)
	w.list = slices.DeleteFunc(w.list, func(o *request) bool { return o == r })
	return len(w.list) < n
}

// shared answers a query of compute, by itself or with others that wait: found is nil where do, which runs it by
// itself, has answered it.
func (g *GPU) shared(ctx context.Context, q *plan.Query, took *took, do func(pass.Runner) error) (found plan.Selection, err error) {
	r := g.enter(ctx, q)
	if r == nil {
		return nil, g.metered(ctx, q, g.GL, took, do)()
	}
	defer r.leave()
	defer g.waiting.remove(r)
	err = g.Context.Start(r.ctx, func() error {
		if r.found.Load() != nil || g.lead(r) {
			return nil
		}
		return g.metered(r.ctx, q, g.GL, took, do)()
	})()
	if b := r.found.Load(); b != nil {
		took.add(b.passes, 0, b.load, g.Context.Device().Index)
		return b.Selection, nil
	}
	return nil, err
}

// lead answers a statement whose turn it is with others that wait, on the GL thread. It reports whether it did:
// where a batch fails, those in it run one by one, when their turns come.
func (g *GPU) lead(r *request) bool {
	if !g.waiting.remove(r) { // a batch with it has failed
		return false
	}
	batch, members := g.gather(r)
	if len(members) < g.waiting.fewest() || g.closed || !g.Store.Fits(batch.Columns()) {
		g.putBack(members[1:])
		return false
	}
	return g.answer(batch, members) == nil
}

// gather takes the statements over the same snapshot that fit in a batch with one.
func (g *GPU) gather(first *request) (*compute.Batch, []*request) {
	w := &g.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	batch, members := compute.NewBatch(g.Computes), []*request{first}
	if !batch.Add(first.form) {
		return batch, members
	}
	w.list = slices.DeleteFunc(w.list, func(r *request) bool {
		takes := r.query.Table == first.query.Table && r.ctx.Err() == nil && batch.Add(r.form)
		if takes {
			members = append(members, r)
		}
		return takes
	})
	return batch, members
}

// putBack has statements wait again, before those that came meanwhile.
func (g *GPU) putBack(list []*request) {
	g.waiting.mu.Lock()
	defer g.waiting.mu.Unlock()
	g.waiting.list = slices.Concat(list, g.waiting.list)
}

// answer runs a batch; its passes stop when all its statements have ended.
func (g *GPU) answer(batch *compute.Batch, members []*request) error {
	ctx, done := untilAll(members)
	defer done()
	return g.GL.Query(ctx, func() error {
		g.Store.Name(members[0].query.Table)
		m, before := g.meter(g.GL), g.prepared()
		found, err := batch.Run(m)
		load := g.prepared().less(before)
		g.look(load != Loading{})
		if err != nil {
			return err
		}
		g.waiting.answered.Add(int64(len(members)))
		for i, r := range members {
			r.found.Store(&batched{found[i], m.Passes, load})
			r.leave()
		}
		return nil
	})
}

// untilAll is a context that ends when those of all statements have.
func untilAll(members []*request) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	left := atomic.Int64{}
	left.Store(int64(len(members)))
	var stops []func() bool
	for _, r := range members {
		stops = append(stops, context.AfterFunc(r.ctx, func() {
			if left.Add(-1) == 0 {
				cancel(context.Cause(r.ctx))
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(glctx.ErrClosed)
	}
}
