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

// gpu is the OpenGL context that the backends on it share, with one budget for
// what they keep resident. A whole query runs as one function on the GL thread: a
// hand-over for every pass would cost more than small passes take.
type gpu struct {
	ctx     *glctx.Context
	store   *textures.Store
	gl      *pass.GL
	device  predicates.Device
	compute compute.Device
	lent    bool // ctx is the caller's to close

	backends map[string]Backend
	held     atomic.Pointer[content]
}

// openGPU opens the device that o picks.
func openGPU(o Options) (*gpu, error) {
	ctx, err := o.Context, error(nil)
	if ctx == nil {
		ctx, err = glctx.Open(glctx.Options{Device: o.Device, Memory: o.GPUMemory})
	}
	if err != nil {
		return nil, err
	}
	g := &gpu{ctx: ctx, device: predicates.DeviceOf(ctx.Caps()), lent: o.Context != nil,
		compute: compute.DeviceOf(ctx.Caps()), backends: map[string]Backend{}}
	g.held.Store(nothing)
	for name := range algorithms {
		g.backends[name] = &passes{g, name}
	}
	err = ctx.Do(func() error {
		g.store = textures.NewStore(ctx, 0)
		g.gl = pass.NewGL(ctx, g.store)
		if !g.device.DepthBounds {
			return nil
		}
		defer g.gl.End()
		var err error
		g.device.DepthBounds, err = predicates.DepthBoundsExact(g.gl, g.device)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *gpu) close() error {
	err := g.ctx.Do(func() error {
		if g.gl != nil {
			g.gl.Close()
			g.store.Close()
		}
		return nil
	})
	if g.lent {
		return err
	}
	return errors.Join(err, g.ctx.Close())
}

// algorithms are the ways to run a query as passes: the backends on the GPU.
var algorithms = map[string]func(run pass.Runner, g *gpu, q *plan.Query) ([]table.Value, error){
	"classic": func(run pass.Runner, g *gpu, q *plan.Query) ([]table.Value, error) {
		return aggregates.Run(run, g.device, q)
	},
	"fused": func(run pass.Runner, g *gpu, q *plan.Query) ([]table.Value, error) {
		return fused.Run(run, g.device, q)
	},
	"compute": func(run pass.Runner, g *gpu, q *plan.Query) ([]table.Value, error) {
		return compute.Run(run, g.compute, q)
	},
}

func (g *gpu) backend(name string) Backend { return g.backends[name] }

func (g *gpu) key() cost.Key { return KeyOf(g.ctx.Caps()) }

func (g *gpu) content() *content { return g.held.Load() }

// look notes what is resident, where that may have changed.
func (g *gpu) look(uploaded bool) {
	if u := g.held.Load().usage; uploaded || u.Used != g.store.Used() {
		g.held.Store(newContent(g.store.Resident(), g.store.Usage()))
	}
}

// passes is a backend that runs queries as passes on a GPU.
type passes struct {
	*gpu
	name string
}

// Name implements Backend.
func (b *passes) Name() string { return b.name }

// Close implements Backend: the GPU is the DB's.
func (b *passes) Close() error { return nil }

// Execute implements Backend.
func (b *passes) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	return b.execute(ctx, q, b.gl)
}

// Analyze implements Analyzer: every pass is waited for and timed.
func (b *passes) Analyze(ctx context.Context, q *plan.Query) (*plan.Answer, []Step, error) {
	p := &pass.Profiler{Runner: b.gl, Uploaded: b.store.Uploaded}
	var a *plan.Answer
	err := b.ctx.Do(func() (err error) {
		t := b.ctx.NewTimer()
		defer t.Delete()
		p.Timer = t
		a, err = b.execute(ctx, q, p)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var steps []Step
	for _, f := range p.Profiles {
		s := stepOf(f.Pass)
		s.Counted, s.Samples, s.Elapsed = f.Pass.Count, f.Samples, f.Elapsed
		steps = append(steps, s)
	}
	return a, steps, nil
}

func (b *passes) execute(ctx context.Context, q *plan.Query, run pass.Runner) (*plan.Answer, error) {
	m := &pass.Meter{Runner: run}
	a := &plan.Answer{}
	err := b.ctx.Do(func() error {
		b.gl.Use(ctx)
		defer b.gl.End()
		b.store.Name(q.Table.Fields)
		before := b.store.Uploaded()
		values, err := algorithms[b.name](m, b.gpu, q)
		a.Values, a.Load = values, b.store.Uploaded()-before
		b.look(a.Load > 0)
		return err
	})
	if err != nil {
		return nil, b.explainError(err)
	}
	a.Passes, a.Samples = m.Passes, m.Samples
	return a, nil
}

// explainError marks what another backend may be able to do.
func (b *passes) explainError(err error) error {
	var budget *textures.BudgetError
	var declined *plan.Declined
	switch {
	case errors.As(err, &budget):
		return &marked{err, ErrDeviceMemory}
	case errors.As(err, &declined):
		return fmt.Errorf("%s: %w: %w; use --backend cpu", b.name, err, ErrUnsupported)
	}
	return err
}

// marked is an error that is also another one, which it does not mention.
type marked struct {
	error
	also error
}

func (m *marked) Unwrap() []error { return []error{m.error, m.also} }

// Explain implements Backend. The passes are those of every chunk; adaptive ones
// stand for a family.
func (b *passes) Explain(q *plan.Query) ([]Step, error) {
	r := &pass.Recorder{}
	if _, err := algorithms[b.name](r, b.gpu, q); err != nil {
		return nil, b.explainError(err)
	}
	var steps []Step
	for _, p := range r.Passes {
		steps = append(steps, stepOf(p))
	}
	return steps, nil
}

func stepOf(p *pass.Pass) Step {
	return Step{Pass: p.Name, Counts: p.Counts, GLSL: p.Program.Text}
}
