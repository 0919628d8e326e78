package devicepool

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/compute/sharedscan"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
)

// fewestBatched is how many statements make a batch. Over 2^28 rows a batch of 8 takes 2.2 ms on an H200, and 8
// statements one by one 3 ms.
const fewestBatched = 8

// longestWait is for how long those are waited for, at most, whom a batch has answered: a client of 64 asks again within 3 ms.
const longestWait = 5 * time.Millisecond

// ScanQueue is the statements that wait for a device and that one sweep may answer together ([sharedscan.Scan]).
//
// Each waits for its own turn on the GL thread, as any other statement. The one whose turn comes answers those that it can with its
// own, and these leave. A statement that finds the device idle takes no part. Nobody waits for a batch to fill, except right after
// another batch: its statements ask again at once, or not at all. Of more than 32 statements half are enough, and a batch takes no
// more. The others ask while the device answers these, and the last of them to come makes the passes of their batch.
type ScanQueue struct {
	mu       sync.Mutex
	list     []*request
	came     chan struct{}    // one has come to the list since the last look
	next     *sharedscan.Scan // of the members, which are of the list, and of one snapshot: made as they come, while the device works
	members  []*request
	closed   bool         // next takes no more: as many as were expected have come, and its passes are made
	expected int          // how many that are; 0 where that is not known
	last     int          // statements that were there at the end of the last batch, those that it has answered included
	until    time.Time    // they are worth waiting for
	Answered atomic.Int64 // statements, by batches
	Least    int          // of tests: instead of fewestBatched
}

func (w *ScanQueue) fewest() int { return cmp.Or(w.Least, fewestBatched) }

// request is a statement that waits.
type request struct {
	form   *sharedscan.Query
	query  *physical.Query
	device compute.Profile
	ctx    context.Context    // of its waiting
	leave  context.CancelFunc // ends that
	found  atomic.Pointer[batched]
}

// batched is what a batch found for a statement, and what the batch took.
type batched struct {
	partial.Selection
	passes int
	load   querystats.Loading
}

// enter has a statement wait, where the device is busy and a batch may answer it; else nil.
func (g *GPU) enter(ctx context.Context, q *physical.Query) *request {
	w := &g.ScanQueue
	if g.Computes.Lines == 0 || !g.Context.Busy() && w.Left() <= 0 {
		return nil
	}
	form := sharedscan.QueryOf(q)
	if form == nil {
		return nil
	}
	r := &request{form: form, query: q, device: g.Computes}
	r.ctx, r.leave = context.WithCancel(ctx)
	if full := w.add(r); full != nil {
		_ = full.Prepare() // its Run has the error
	}
	return r
}

// add adds a statement to those that wait. With the last one that is expected the next batch is full, and nil otherwise.
func (w *ScanQueue) add(r *request) (full *sharedscan.Scan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, r)
	w.join(r)
	select {
	case w.come() <- struct{}{}:
	default:
	}
	if w.closed || len(w.members) != w.expected {
		return nil
	}
	w.closed = true
	return w.next
}

// join makes a statement a member of the next batch, if that has room for it.
func (w *ScanQueue) join(r *request) {
	if w.next == nil {
		w.next, w.members, w.closed = sharedscan.New(r.device), nil, false
	}
	if !w.closed && (len(w.members) == 0 || w.members[0].query.Table == r.query.Table) && w.next.Add(r.form) {
		w.members = append(w.members, r)
	}
}

// fewAsk is up to how many who ask make one batch: a sweep for 32 takes hardly longer than one for 8.
const fewAsk = 32

// share is how many of those who ask make a batch.
func share(asked int) int {
	if asked <= fewAsk {
		return asked
	}
	return min(sharedscan.MaxQueries, (asked+1)/2)
}

// come tells of those that have come to the list, which is locked.
func (w *ScanQueue) come() chan struct{} {
	if w.came == nil {
		w.came = make(chan struct{}, 1)
	}
	return w.came
}

// Left is for how long those whom the last batch has answered are waited for.
func (w *ScanQueue) Left() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == 0 {
		return 0
	}
	return time.Until(w.until)
}

// Len is how many statements wait.
func (w *ScanQueue) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.list)
}

// remove takes a statement from those that wait.
func (w *ScanQueue) remove(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(o *request) bool { return o == r })
	if len(w.list) == 0 {
		w.next, w.members = nil, nil
	}
}

// RunShared answers a query of compute, by itself or with others that wait. do runs it by itself, and then found is
// nil.
func (g *GPU) RunShared(ctx context.Context, q *physical.Query, took *querystats.Collector, do func(pass.Runner) error) (found partial.Selection, err error) {
	r := g.enter(ctx, q)
	if r == nil {
		return nil, g.Start(ctx, q, g.GL, took, do)()
	}
	defer r.leave()
	defer g.ScanQueue.remove(r)
	err = g.Context.Start(r.ctx, func() error {
		if r.found.Load() != nil || g.lead(r) {
			return nil
		}
		return g.Start(r.ctx, q, g.GL, took, do)()
	})()
	if b := r.found.Load(); b != nil {
		took.Add(b.passes, 0, b.load, g.Context.Device().Index)
		return b.Selection, nil
	}
	return nil, err
}

// lead answers a statement whose turn it is with others that wait, on the GL thread. It reports whether it did:
// where a batch fails, those in it run one by one, when their turns come.
func (g *GPU) lead(r *request) bool {
	w := &g.ScanQueue
	w.await(r)
	batch, members := w.take(r, func(b *sharedscan.Scan) bool { return !g.closed && g.Store.Fits(b.Columns()) })
	return batch != nil && g.answer(batch, members) == nil
}

// take removes a statement from those that wait. If it is in the next batch and that fits, take removes all of the batch. Otherwise it
// removes the statement alone, with no batch.
func (w *ScanQueue) take(r *request, fits func(*sharedscan.Scan) bool) (batch *sharedscan.Scan, members []*request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.list, r) { // a batch with it has failed
		return nil, nil
	}
	last, of := w.last, slices.Contains(w.members, r)
	w.last, w.expected = 0, 0
	if of && len(w.members) >= w.fewest() && fits(w.next) {
		batch, members = w.next, w.members
		if n := min(share(last), last-len(members)); n >= w.fewest() {
			w.expected = n
		}
	} else {
		members = []*request{r}
	}
	w.list = slices.DeleteFunc(w.list, func(o *request) bool { return slices.Contains(members, o) })
	if of {
		w.next, w.members = nil, nil
		for _, o := range w.list {
			w.join(o)
		}
	}
	return batch, members
}

// await waits for those whom the last batch has answered, with the statement whose turn it is.
func (w *ScanQueue) await(r *request) {
	for {
		w.mu.Lock()
		missing, came := share(w.last)-len(w.list), w.come()
		enough := missing <= 0 || w.closed
		w.mu.Unlock()
		left := w.Left()
		if enough || left <= 0 {
			return
		}
		ctx, done := context.WithTimeout(r.ctx, left)
		_, _, _ = glctx.Receive(ctx, came)
		done()
	}
}

// answer runs a batch; its passes stop when all its statements have ended.
func (g *GPU) answer(batch *sharedscan.Scan, members []*request) error {
	ctx, done := untilAll(members)
	start := time.Now()
	err := g.GL.Query(ctx, func() error {
		g.Store.Name(members[0].query.Table)
		m, before := g.meter(g.GL), g.prepared()
		found, err := batch.Run(m)
		load := g.prepared().Less(before)
		g.Look(load != querystats.Loading{})
		for i := range found {
			members[i].found.Store(&batched{found[i], m.Passes, load})
		}
		return err
	})
	if err == nil {
		g.ScanQueue.Ended(len(members), min(time.Since(start), longestWait))
	}
	parallel.Go(func() { // the GL thread has something else to do
		done()
		for _, r := range members {
			if r.found.Load() != nil {
				r.leave()
			}
		}
	}, func(*parallel.Panic) {})
	return err
}

// Ended notes that a batch has answered so many statements; those who asked are waited for, for so long.
func (w *ScanQueue) Ended(n int, wait time.Duration) {
	w.Answered.Add(int64(n))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.until = n+len(w.list), time.Now().Add(wait)
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
