package engine

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// GPU is an open OpenGL device: a context with what is resident on it, and the runner
// that draws and dispatches. A [DB] opens its own; the benchmarks and the lessons use
// one without a DB.
//
// Everything but OpenGPU and Close is for the GL thread, inside Context.Do. A whole
// query runs as one function there: a hand-over for every pass would cost more than
// small passes take.
type GPU struct {
	Context *glctx.Context
	Store   *textures.Store // within the context's budget
	GL      *pass.GL
	// Draws and Computes are what the algorithms need to know of the device.
	Draws    predicates.Limits
	Computes compute.Profile

	lent   bool // the context is somebody else's to close
	closed bool // what is on the device has been released; for the GL thread
	held   atomic.Pointer[content]

	waiting waiting
	through func(pass.Runner) pass.Runner // of tests: what passes go through
}

// algorithm is what a backend does on a device: it sets up the selection of a query, finds the rows
// of a chunk that a query selects, and, unless nil, counts those that another one does with these, what there is of its groups and runs of
// the rows in their order.
type algorithm = algorithmOn[*GPU]

// algorithmOn is the algorithm of a package that takes a device of its own kind.
type algorithmOn[D any] struct {
	selection func(run pass.Runner, device D, q *physical.Query) (partial.Selection, error)
	rows      func(run pass.Runner, device D, q *physical.Query, chunk int) ([]physical.SelectedRows, error)
	find      func(run pass.Runner, device D, in, above *physical.Query, chunk int) (partial.BracketRows, error)
	groups    func(run pass.Runner, device D, q *physical.Query) ([]physical.GroupStates, error)
	// many is groups, of more combinations of keys' codes, too; in software auto leaves these to cpu.
	many  func(run pass.Runner, device D, q *physical.Query) ([]physical.GroupStates, error)
	order func(run pass.Runner, device D, q *physical.Query) ([]physical.SortedRun, error)
}

// algorithms are those on a device, by the name of the backend.
var algorithms = map[string]algorithm{
	"classic": of((*GPU).draws, algorithmOn[predicates.Limits]{selection: aggregates.Select, rows: aggregates.Rows, order: oneRun(aggregates.Order)}),
	"fused":   of((*GPU).draws, algorithmOn[predicates.Limits]{selection: fused.Select, rows: fused.Rows, find: fused.Find}),
	"compute": of((*GPU).computes, algorithmOn[compute.Profile]{selection: compute.Select, rows: compute.Rows, groups: relational.Groups, many: relational.ManyGroups, order: relational.Order}),
}

func of[D any](device func(*GPU) D, a algorithmOn[D]) algorithm {
	on := algorithm{
		selection: func(run pass.Runner, g *GPU, q *physical.Query) (partial.Selection, error) {
			return a.selection(run, device(g), q)
		},
		rows: func(run pass.Runner, g *GPU, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
			return a.rows(run, device(g), q, chunk)
		},
	}
	if a.find != nil {
		on.find = func(run pass.Runner, g *GPU, in, above *physical.Query, chunk int) (partial.BracketRows, error) {
			return a.find(run, device(g), in, above, chunk)
		}
	}
	if a.groups != nil {
		on.groups = func(run pass.Runner, g *GPU, q *physical.Query) ([]physical.GroupStates, error) {
			return a.groups(run, device(g), q)
		}
	}
	if a.many != nil {
		on.many = func(run pass.Runner, g *GPU, q *physical.Query) ([]physical.GroupStates, error) {
			return a.many(run, device(g), q)
		}
	}
	if a.order != nil {
		on.order = func(run pass.Runner, g *GPU, q *physical.Query) ([]physical.SortedRun, error) {
			return a.order(run, device(g), q)
		}
	}
	return on
}

func (g *GPU) draws() predicates.Limits  { return g.Draws }
func (g *GPU) computes() compute.Profile { return g.Computes }

// watched is the device for a statement under watch: its passes go over one chunk each.
func (g *GPU) watched() *GPU {
	return &GPU{Context: g.Context, Store: g.Store, GL: g.GL, Draws: g.Draws, Computes: g.Computes.ByChunk()}
}

// Run runs a plan by the algorithms of a backend as passes, which it hands to run: GL,
// or a runner around it, or one that only records them. The values are those of
// q.Aggs.
func (g *GPU) Run(backend string, run pass.Runner, q *physical.Query) ([]table.Value, error) {
	s, err := algorithms[backend].selection(run, g, q)
	if err != nil {
		return nil, err
	}
	return partial.Finish(s, q)
}

// OpenGPU opens the device that o picks.
func OpenGPU(o glctx.Options) (*GPU, error) {
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
	g.held.Store(nothing)
	return g, nil
}

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
			g.look(false)
		}
		return nil
	})
}

// look notes what is resident, where that may have changed.
func (g *GPU) look(uploaded bool) {
	if u := g.held.Load().usage; uploaded || u.Used != g.Store.Used() {
		g.held.Store(newContent(g.Store.Resident(), g.Store.Usage()))
	}
}

// query starts f on the GL thread in a scope of its own; wait gives its error. One that has waited
// there while the device was closed is refused: nobody would release what it makes.
func (g *GPU) query(ctx context.Context, f func() error) (wait func() error) {
	return g.Context.Start(ctx, func() error {
		if g.closed {
			return glctx.ErrClosed
		}
		return g.GL.Query(ctx, f)
	})
}

// meter counts what a runner is given.
func (g *GPU) meter(run pass.Runner) *pass.Meter {
	if g.through != nil {
		run = g.through(run)
	}
	return &pass.Meter{Runner: run}
}

// metered starts do, which hands passes of a query to a runner, and adds to took what they
// take; wait gives do's error.
func (g *GPU) metered(ctx context.Context, q *physical.Query, run pass.Runner, took *querystats.Collector, do func(pass.Runner) error) (wait func() error) {
	m := g.meter(run)
	return g.query(ctx, func() error {
		g.Store.Name(q.Table)
		before := g.prepared()
		err := do(m)
		load := g.prepared().Less(before)
		g.look(load != Loading{})
		took.Add(m.Passes, m.Samples, load, g.Context.Device().Index)
		return err
	})
}

func (g *GPU) step(p *pass.Pass) Step {
	return Step{Device: g.Context.Device().Index, Op: p.Op, Pass: p.String(), Counts: p.Op.Counts(), GLSL: p.Program.Text, Fixed: p.Program.Text == ""}
}

// prepared is what the device's uploads and programs have taken so far; for the GL thread.
func (g *GPU) prepared() Loading {
	return Loading{Uploading: g.Store.Uploaded(), Compiling: g.GL.Programs().Compiled()}
}
