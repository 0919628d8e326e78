package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// passes is a backend that runs queries as passes on devices.
type passes struct {
	*gpus
	name string
}

// Name implements backend.
func (b *passes) Name() string { return b.name }

// Execute implements backend.
func (b *passes) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	return b.execute(ctx, q, func(g *GPU) pass.Runner { return g.GL })
}

// execute runs a query with a runner on each device that has something of it.
func (b *passes) execute(ctx context.Context, q *plan.Query, runner func(*GPU) pass.Runner) (*plan.Answer, error) {
	parts := b.divide(q)
	if len(parts) == 1 {
		a, err := b.alone(ctx, parts[0].g, q, runner(parts[0].g))
		return a, explained(b.name, err)
	}
	return b.together(ctx, q, parts, runner)
}

// alone runs a query on one device.
func (b *passes) alone(ctx context.Context, g *GPU, q *plan.Query, run pass.Runner) (*plan.Answer, error) {
	a, took := &plan.Answer{}, &took{}
	err := g.metered(ctx, q, run, took, func(m pass.Runner) (err error) {
		a.Values, err = g.Run(b.name, m, q)
		return err
	})
	if err != nil { // the GL thread may be at its pass yet
		return nil, err
	}
	s := took.now()
	a.Passes, a.Samples, a.Load, a.Devices = s.Passes, s.Samples, s.Load, s.Devices
	return a, nil
}

// Analyze implements analyzer: every pass is waited for and timed. It lists the passes of
// each device in turn.
func (b *passes) Analyze(ctx context.Context, q *plan.Query) (*plan.Answer, []Step, error) {
	profilers := map[*GPU]*pass.Profiler{}
	for _, p := range b.divide(q) {
		f := &pass.Profiler{Runner: p.g.GL, Uploaded: p.g.Store.Uploaded}
		if err := p.g.Context.Do(ctx, func() error { f.Timer = p.g.Context.NewTimer(); return nil }); err != nil {
			return nil, nil, err
		}
		defer func() {
			_ = p.g.Context.Do(context.Background(), func() error { f.Timer.(*glctx.Timer).Delete(); return nil })
		}()
		profilers[p.g] = f
	}
	a, err := b.execute(ctx, q, func(g *GPU) pass.Runner { return profilers[g] })
	if err != nil {
		return nil, nil, err
	}
	var steps []Step
	for _, p := range b.divide(q) {
		for _, f := range profilers[p.g].Profiles {
			s := p.g.step(f.Pass)
			s.Counted, s.Samples, s.Elapsed = f.Pass.Count, f.Samples, f.Elapsed
			steps = append(steps, s)
		}
	}
	return a, steps, nil
}

// Watch implements watcher, on the first device, which has the whole table for it. It
// returns after the pass that runs when ctx ends: the runner is the caller's.
func (b *passes) Watch(ctx context.Context, q *plan.Query, wrap func(Stage) pass.Runner) (a *plan.Answer, err error) {
	g := b.list[0]
	err = g.Context.Do(context.WithoutCancel(ctx), func() error {
		a, err = b.alone(ctx, g, q, wrap(Stage{g.GL, g.Context, q}))
		return err
	})
	return a, advised(b.name, err, "take another of --backend classic, fused and compute")
}

// Explain implements backend: the passes of each device in turn. They are those of every
// chunk; adaptive ones stand for a family.
func (b *passes) Explain(q *plan.Query) ([]Step, error) {
	parts := b.divide(q)
	recorders := make([]*pass.Recorder, len(parts))
	var selections []plan.Selection
	for i, p := range parts {
		recorders[i] = &pass.Recorder{}
		var s plan.Selection
		var err error
		if len(q.Aggs) > 0 {
			s, err = algorithms[b.name].selection(recorders[i], p.g, p.q)
		} else { // each device finds the rows of its chunks by itself
			err = b.findAll(recorders[i], p.g, p.q)
		}
		if err != nil {
			return nil, explained(b.name, err)
		}
		selections = append(selections, s)
	}
	if len(q.Aggs) > 0 {
		if _, err := plan.Finish(plan.Merge(q, selections), q); err != nil {
			return nil, explained(b.name, err)
		}
	}
	var steps []Step
	for i, p := range parts {
		for _, one := range recorders[i].Plan() {
			steps = append(steps, p.g.step(one))
		}
	}
	return steps, nil
}

// explained marks what another backend than the one of that name may be able to do, and
// says what to do about it.
func explained(backend string, err error) error {
	return advised(backend, err, "use --backend cpu")
}

func advised(backend string, err error, advice string) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*textures.BudgetError)):
		return &marked{fmt.Errorf("%w, or %s", err, advice), ErrDeviceMemory}
	case errors.As(err, new(*plan.Declined)):
		return fmt.Errorf("backend %s: %w: %w; %s", backend, err, ErrUnsupported, advice)
	}
	return err
}

// marked is an error that is also another one, which it does not mention.
type marked struct {
	error
	also error
}

func (m *marked) Unwrap() []error { return []error{m.error, m.also} }
