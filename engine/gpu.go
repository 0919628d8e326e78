package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/gpu"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// gpuDevice is the device that the backends on it share. A whole query runs as one
// function on the GL thread: a hand-over for every pass would cost more than small
// passes take.
type gpuDevice struct {
	*gpu.Device
	backends map[string]Backend
	held     atomic.Pointer[content]
}

// openGPU opens the device that o picks.
func openGPU(o Options) (*gpuDevice, error) {
	d, err := deviceOf(o)
	if err != nil {
		return nil, err
	}
	g := &gpuDevice{Device: d, backends: map[string]Backend{}}
	g.held.Store(nothing)
	for name := range gpu.Algorithms {
		g.backends[name] = &passes{g, name}
	}
	return g, nil
}

func deviceOf(o Options) (*gpu.Device, error) {
	if o.Context != nil {
		return gpu.On(o.Context)
	}
	return gpu.Open(glctx.Options{Device: o.Device, Memory: o.GPUMemory})
}

func (g *gpuDevice) close() error { return g.Close() }

func (g *gpuDevice) backend(name string) Backend { return g.backends[name] }

func (g *gpuDevice) key() cost.Key { return KeyOf(g.Context.Caps()) }

func (g *gpuDevice) content() *content { return g.held.Load() }

// look notes what is resident, where that may have changed.
func (g *gpuDevice) look(uploaded bool) {
	if u := g.held.Load().usage; uploaded || u.Used != g.Store.Used() {
		g.held.Store(newContent(g.Store.Resident(), g.Store.Usage()))
	}
}

// passes is a backend that runs queries as passes on a GPU.
type passes struct {
	*gpuDevice
	name string
}

// Name implements Backend.
func (b *passes) Name() string { return b.name }

// Close implements Backend: the GPU is the DB's.
func (b *passes) Close() error { return nil }

// Execute implements Backend.
func (b *passes) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	return b.execute(ctx, q, b.GL)
}

// Analyze implements Analyzer: every pass is waited for and timed.
func (b *passes) Analyze(ctx context.Context, q *plan.Query) (*plan.Answer, []Step, error) {
	p := &pass.Profiler{Runner: b.GL, Uploaded: b.Store.Uploaded}
	var a *plan.Answer
	err := b.Context.Do(func() (err error) {
		t := b.Context.NewTimer()
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
	err := b.Context.Do(func() error {
		b.GL.Use(ctx)
		defer b.GL.End()
		b.Store.Name(q.Table.Fields)
		before := b.Store.Uploaded()
		values, err := gpu.Algorithms[b.name](m, b.Device, q)
		a.Values, a.Load = values, b.Store.Uploaded()-before
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
		return fmt.Errorf("backend %s: %w: %w; use --backend cpu", b.name, err, ErrUnsupported)
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
	if _, err := gpu.Algorithms[b.name](r, b.Device, q); err != nil {
		return nil, b.explainError(err)
	}
	var steps []Step
	for _, p := range r.Passes {
		steps = append(steps, stepOf(p))
	}
	return steps, nil
}

func stepOf(p *pass.Pass) Step {
	return Step{Pass: p.Name, Counts: p.Counts, GLSL: p.Program.Text, Fixed: p.Program.Text == ""}
}
