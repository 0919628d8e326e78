package devicepool

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// GPU is an open OpenGL device: a context with what is resident on it, and the runner
// that draws and dispatches. A DB opens its own; the benchmarks and the lessons use
// one without a DB.
//
// Everything but [Open] and Close is for the GL thread, inside Context.Do. A whole
// query runs as one function there: a hand-over for every pass would cost more than
// small passes take.
type GPU struct {
	Context *glctx.Context
	Store   *textures.Store // within the context's budget
	GL      *pass.GL
	// Draws and Computes are what the algorithms need to know of the device.
	Draws    predicates.Limits
	Computes compute.Profile

	lent    bool // the context is somebody else's to close
	closed  bool // what is on the device has been released; for the GL thread
	Content atomic.Pointer[Content]

	ScanQueue ScanQueue
	Wrap      func(pass.Runner) pass.Runner // of tests: what passes go through
}

// ByChunk is the device for a statement under watch: its passes go over one chunk each.
func (g *GPU) ByChunk() *GPU {
	return &GPU{Context: g.Context, Store: g.Store, GL: g.GL, Draws: g.Draws, Computes: g.Computes.ByChunk()}
}

// Lent is a device on an open context, which stays its owner's to close.
func Lent(c *glctx.Context) (*GPU, error) { return prepareGPU(&GPU{Context: c, lent: true}) }

// Open opens the device that o picks.
func Open(o glctx.Options) (*GPU, error) {
	ctx, err := glctx.Open(o)
	if err != nil {
		return nil, err
	}
	return prepareGPU(&GPU{Context: ctx})
}

// prepareGPU also finds whether the depth bounds test is exact.
func prepareGPU(g *GPU) (*GPU, error) {
	caps := g.Context.Caps()
	g.Draws, g.Computes = predicates.LimitsOf(caps), compute.ProfileOf(caps)
	err := g.Context.Do(context.Background(), func() (err error) {
		g.Store = textures.NewStore(g.Context, 0)
		g.GL = pass.NewGL(g.Context, g.Store)
		if g.Draws.DepthBounds {
			defer g.GL.End()
			g.Draws.DepthBounds, err = predicates.DepthBoundsExact(g.GL, g.Draws)
			for _, r := range g.Store.Resident() { // the check's own columns
				g.Store.Drop(r.Segment)
			}
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.Content.Store(Empty)
	return g, nil
}

// Closed reports that what is on the device has been released; for the GL thread.
func (g *GPU) Closed() bool { return g.closed }

// Close releases what is on the device, and the context unless it was lent. Where the
// GL thread works for a caller that has gone, it does so after that, and Close does not
// wait.
func (g *GPU) Close() error {
	if !g.lent && g.Context.Abandoned() {
		parallel.Go(func() { _ = g.release() }, func(*parallel.Panic) {}) // nobody is told of its error either
		return nil
	}
	return g.release()
}

func (g *GPU) release() error {
	err := g.Context.Do(context.Background(), func() error {
		if g.GL != nil {
			g.GL.Close()
			g.Store.Close()
		}
		g.closed = true
		return nil
	})
	if g.lent {
		return err
	}
	return errors.Join(err, g.Context.Close())
}

// drop releases what is resident of segments.
func (g *GPU) drop(segments []*table.Segment) { g.succeed(segments, nil) }

// succeed releases what is resident of segments but of those that have heirs, which take it over.
func (g *GPU) succeed(segments []*table.Segment, heirs map[*table.Segment]*table.Segment) {
	_ = g.Context.Do(context.Background(), func() error { // of a closed device nothing is left
		if !g.closed {
			g.Store.Succeed(segments, func(seg *table.Segment) *table.Segment { return heirs[seg] })
			g.Look(false)
		}
		return nil
	})
}

// Look notes what is resident, where that may have changed.
func (g *GPU) Look(uploaded bool) {
	if u := g.Content.Load().Usage; uploaded || u.Used != g.Store.Used() {
		g.Content.Store(NewContent(g.Store.Resident(), g.Store.Usage()))
	}
}

// Query starts f on the GL thread in a scope of its own; wait gives its error. One that has waited
// there while the device was closed is refused: nobody would release what it makes.
func (g *GPU) Query(ctx context.Context, f func() error) (wait func() error) {
	return g.Context.Start(ctx, func() error {
		if g.closed {
			return glctx.ErrClosed
		}
		return g.GL.Query(ctx, f)
	})
}

// meter counts what a runner is given.
func (g *GPU) meter(run pass.Runner) *pass.Meter {
	if g.Wrap != nil {
		run = g.Wrap(run)
	}
	return &pass.Meter{Runner: run}
}

// Start starts do, which hands passes of a query to a runner, and adds to took what they
// take; wait gives do's error.
func (g *GPU) Start(ctx context.Context, q *physical.Query, run pass.Runner, took *querystats.Collector, do func(pass.Runner) error) (wait func() error) {
	m := g.meter(run)
	return g.Query(ctx, func() error {
		g.Store.Name(q.Table)
		before := g.prepared()
		err := do(m)
		load := g.prepared().Less(before)
		g.Look(load != querystats.Loading{})
		took.Add(m.Passes, m.Samples, load, g.Context.Device().Index)
		return err
	})
}

// prepared is what the device's uploads and programs have taken so far; for the GL thread.
func (g *GPU) prepared() querystats.Loading {
	return querystats.Loading{Uploading: g.Store.Uploaded(), Compiling: g.GL.Programs().Compiled()}
}
