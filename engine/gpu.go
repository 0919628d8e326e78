package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
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
	Draws    predicates.Device
	Computes compute.Device

	lent     bool // the context is somebody else's to close
	closed   bool // what is on the device has been released; for the GL thread
	backends map[string]backend
	held     atomic.Pointer[content]
}

// selectors set up the selection of a query, by the name of the backend.
var selectors = map[string]func(run pass.Runner, g *GPU, q *plan.Query) (plan.Selection, error){
	"classic": func(run pass.Runner, g *GPU, q *plan.Query) (plan.Selection, error) {
		return aggregates.Select(run, g.Draws, q)
	},
	"fused": func(run pass.Runner, g *GPU, q *plan.Query) (plan.Selection, error) {
		return fused.Select(run, g.Draws, q)
	},
	"compute": func(run pass.Runner, g *GPU, q *plan.Query) (plan.Selection, error) {
		return compute.Select(run, g.Computes, q)
	},
}

// Run runs a plan by the algorithms of a backend as passes, which it hands to run: GL,
// or a runner around it, or one that only records them. The values are those of
// q.Aggs.
func (g *GPU) Run(backend string, run pass.Runner, q *plan.Query) ([]table.Value, error) {
	s, err := selectors[backend](run, g, q)
	if err != nil {
		return nil, err
	}
	return plan.Finish(s, q)
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
	g.Draws, g.Computes = predicates.DeviceOf(caps), compute.DeviceOf(caps)
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
	g.backends = map[string]backend{}
	for name := range selectors {
		g.backends[name] = &passes{GPU: g, name: name}
	}
	g.held.Store(nothing)
	return g, nil
}

// Close releases what is on the device, and the context unless it was lent. Where the
// GL thread works for a caller that has gone, it does so after that, and Close does not
// wait.
func (g *GPU) Close() error {
	if !g.lent && g.Context.Abandoned() {
		go func() { _ = g.release() }()
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

func (g *GPU) backend(name string) backend { return g.backends[name] }

func (g *GPU) key() cost.Key { return KeyOf(g.Context.Caps()) }

func (g *GPU) content() *content { return g.held.Load() }

func (g *GPU) drop(segments []*table.Segment) {
	_ = g.Context.Do(context.Background(), func() error { // of a closed device nothing is left
		if !g.closed {
			g.Store.Drop(segments...)
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

// query runs f on the GL thread in a scope of its own. One that has waited there while
// the device was closed is refused: nobody would release what it makes.
func (g *GPU) query(ctx context.Context, f func() error) error {
	return g.Context.Do(ctx, func() error {
		if g.closed {
			return glctx.ErrClosed
		}
		return g.GL.Query(ctx, f)
	})
}

// passes is a backend that runs queries as passes on a GPU.
type passes struct {
	*GPU
	name string
}

// Name implements backend.
func (b *passes) Name() string { return b.name }

// Close implements backend: the GPU is the DB's.
func (b *passes) Close() error { return nil }

// Execute implements backend.
func (b *passes) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	return b.execute(ctx, q, b.GL)
}

// Analyze implements analyzer: every pass is waited for and timed.
func (b *passes) Analyze(ctx context.Context, q *plan.Query) (*plan.Answer, []Step, error) {
	p := &pass.Profiler{Runner: b.GL, Uploaded: b.Store.Uploaded}
	var a *plan.Answer
	err := b.Context.Do(ctx, func() (err error) {
		t := b.Context.NewTimer()
		defer t.Delete()
		p.Timer = t
		a, err = b.execute(ctx, q, p)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return a, b.profiled(p), nil
}

// profiled are the passes that ran, with what each took.
func (g *GPU) profiled(p *pass.Profiler) (steps []Step) {
	for _, f := range p.Profiles {
		s := g.step(f.Pass)
		s.Counted, s.Samples, s.Elapsed = f.Pass.Count, f.Samples, f.Elapsed
		steps = append(steps, s)
	}
	return steps
}

func (b *passes) execute(ctx context.Context, q *plan.Query, run pass.Runner) (*plan.Answer, error) {
	m := &pass.Meter{Runner: run}
	a := &plan.Answer{Devices: []int{b.Context.Device().Index}}
	err := b.query(ctx, func() error {
		b.Store.Name(q.Table.Attributes())
		before := b.Store.Uploaded()
		values, err := b.Run(b.name, m, q)
		a.Values, a.Load = values, b.Store.Uploaded()-before
		b.look(a.Load > 0)
		return err
	})
	if err != nil {
		return nil, explained(b.name, err)
	}
	a.Passes, a.Samples = m.Passes, m.Samples
	return a, nil
}

// explained marks what another backend than the one of that name may be able to do.
func explained(backend string, err error) error {
	var budget *textures.BudgetError
	var declined *plan.Declined
	switch {
	case errors.As(err, &budget):
		return &marked{err, ErrDeviceMemory}
	case errors.As(err, &declined):
		return fmt.Errorf("backend %s: %w: %w; use --backend cpu", backend, err, ErrUnsupported)
	}
	return err
}

// marked is an error that is also another one, which it does not mention.
type marked struct {
	error
	also error
}

func (m *marked) Unwrap() []error { return []error{m.error, m.also} }

// Explain implements backend. The passes are those of every chunk; adaptive ones
// stand for a family.
func (b *passes) Explain(q *plan.Query) ([]Step, error) {
	r := &pass.Recorder{}
	var err error
	if len(q.Aggs) > 0 {
		_, err = b.Run(b.name, r, q)
	} else {
		err = b.findAll(r, q)
	}
	if err != nil {
		return nil, explained(b.name, err)
	}
	var steps []Step
	for _, p := range r.Plan() {
		steps = append(steps, b.step(p))
	}
	return steps, nil
}

func (g *GPU) step(p *pass.Pass) Step {
	return Step{Device: g.Context.Device().Index, Pass: p.String(), Op: p.Op, Counts: p.Op.Counts(), GLSL: p.Program.Text, Fixed: p.Program.Text == ""}
}
