package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Passes is a backend that runs queries as passes on devices.
type Passes struct {
	*Devices
	name string
	many bool // it finds groups of many combinations of codes, too
}

// Name implements [Backend].
func (b *Passes) Name() string { return b.name }

// Execute implements [Backend].
func (b *Passes) Execute(ctx context.Context, q *physical.Query, took *querystats.Collector) ([]table.Value, error) {
	if values, ok := partial.MetadataCounts(q); ok { // a thousand chunks take no longer than one
		return values, nil
	}
	return b.ExecuteOn(ctx, q, took, func(g *devicepool.GPU) pass.Runner { return g.GL })
}

// ExecuteOn runs a query with a runner on each device that has something of it.
func (b *Passes) ExecuteOn(ctx context.Context, q *physical.Query, took *querystats.Collector, runner func(*devicepool.GPU) pass.Runner) (values []table.Value, err error) {
	var first error // which names what there is no room for as a whole
	for {
		parts := b.inParts(q)
		if len(parts) > 1 {
			values, err = b.MergedOnAll(ctx, q, parts, took, runner)
		} else {
			values, err = b.Alone(ctx, parts[0], took, runner(parts[0].GPU))
			err = Explained(b.name, err)
		}
		if !Lacks(err) {
			return values, err
		}
		if first = cmp.Or(first, err); !b.shrink(q) {
			return nil, first
		}
	}
}

// Alone runs a query that is one device's.
func (b *Passes) Alone(ctx context.Context, p Part, took *querystats.Collector, run pass.Runner) ([]table.Value, error) {
	var values []table.Value
	do := func(m pass.Runner) error {
		s, err := p.Selection(b.name, m)
		if err == nil {
			values, err = partial.Finish(s, p.Query)
		}
		return err
	}
	var found partial.Selection
	var err error
	if b.name == "compute" && p.Visits == nil && run == pass.Runner(p.GPU.GL) {
		found, err = p.GPU.RunShared(ctx, p.Query, took, do)
	} else {
		err = p.GPU.Start(ctx, p.Query, run, took, do)()
	}
	switch {
	case err != nil: // the GL thread may be at its pass yet
		return nil, err
	case found != nil:
		return partial.Finish(found, p.Query)
	}
	return values, nil
}

// Watch runs a query with the runner that wrap makes, which hands its passes on to the stage's. It runs on
// the first device, which has the whole table for it. It returns after the pass that runs when ctx ends: the
// runner is the caller's.
func (b *Passes) Watch(ctx context.Context, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner) (values []table.Value, err error) {
	g := b.GPUs[0]
	err = g.Context.Do(context.WithoutCancel(ctx), func() error {
		return g.Start(ctx, q, wrap(Stage{Runner: g.GL, Context: g.Context, Plan: q}), took, func(run pass.Runner) (err error) {
			values, err = g.ByChunk().Run(b.name, run, q)
			return err
		})()
	})
	if err == nil {
		return values, nil
	}
	able := b.able(q)
	if len(able) == 0 {
		return nil, advised(b.name, err, "no other backend runs passes for it")
	}
	return nil, advised(b.name, err, "take "+asking(able))
}

// able returns the other backends of passes that can run a query.
func (b *Passes) able(q *physical.Query) (names []string) {
	for _, name := range []string{"classic", "fused", "compute"} {
		other := &Passes{Devices: b.Devices, name: name, many: b.many}
		if _, err := other.record(q); err == nil && name != b.name {
			names = append(names, name)
		}
	}
	return names
}

// Explain implements backend: the passes of each device in turn. They are those of every
// chunk; adaptive ones stand for a family.
func (b *Passes) Explain(ctx context.Context, q *physical.Query, analyze bool) (steps []Step, err error) {
	if analyze && len(q.Aggs) > 0 {
		return b.analyze(ctx, q)
	}
	list, err := b.record(q)
	if err != nil {
		return nil, advised(b.name, err, "use "+asking(append(b.able(q), "cpu")))
	}
	if s := b.Stream(q); s != nil {
		steps = append(steps, s.step("those of the first"))
	}
	for _, r := range list {
		for _, one := range r.Plan() {
			steps = append(steps, StepOn(r.G, one))
		}
	}
	return steps, nil
}

// Recorded is the passes that a device would run.
type Recorded struct {
	*pass.Recorder
	G *devicepool.GPU
}

// record finds the passes of a query on each device that has a part of it. Of a device that goes over its part in visits it finds
// those of the first visit.
func (b *Passes) record(q *physical.Query) ([]Recorded, error) {
	return b.RecordParts(q, b.FirstVisits(q))
}

// FirstVisits are the parts of a query, of those that are gone over in visits the first one.
func (b *Passes) FirstVisits(q *physical.Query) []Part {
	parts := slices.Clone(b.inParts(q))
	for i, p := range parts {
		if p.Visits != nil {
			if parts[i].Visits = p.Visits[:1]; len(q.Aggs) == 0 {
				parts[i].Query = p.Visits[0].First
			}
		}
	}
	return parts
}

// RecordParts is record of these parts.
func (b *Passes) RecordParts(q *physical.Query, parts []Part) (list []Recorded, err error) {
	selections := make([]partial.Selection, len(parts))
	for i, p := range parts {
		r := Recorded{&pass.Recorder{}, p.GPU}
		p.Recorded = true
		if len(q.Aggs) > 0 {
			selections[i], err = p.Selection(b.name, r)
		} else { // each device finds the rows of its chunks by itself
			err = b.FindAll(r, p.GPU, p.Query)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	if len(q.Aggs) == 0 {
		return list, nil
	}
	var all partial.Partial = selections[0]
	if len(parts) > 1 {
		all = partial.Merge(q, len(parts), func(i int, do func(partial.Selection) error) func() error {
			err := do(selections[i])
			return func() error { return err }
		})
	}
	_, err = partial.Finish(all, q)
	return list, assumed(err)
}

// assumed drops the error of an aggregate, such as that there is no k-th value: counts that are assumed are no answer.
func assumed(err error) error {
	if errors.As(err, new(*expr.Error)) {
		return nil
	}
	return err
}

// analyze executes a query; every pass is waited for and timed. Those of several visits are added up.
func (b *Passes) analyze(ctx context.Context, q *physical.Query) (steps []Step, err error) {
	s := b.Stream(q)
	steps, err = b.timed(ctx, b.inParts(q), func(runner func(*devicepool.GPU) pass.Runner) error {
		_, err := b.ExecuteOn(ctx, q, &querystats.Collector{}, runner)
		return err
	})
	if err == nil && s != nil {
		steps = append([]Step{s.step("those of all visits, added up")}, Added(steps)...)
	}
	return steps, err
}

// timed calls do, which executes a query with a runner on each device that has a part of it. It returns the passes
// with what each took.
func (b *Passes) timed(ctx context.Context, parts []Part, do func(runner func(*devicepool.GPU) pass.Runner) error) (steps []Step, err error) {
	profilers := map[*devicepool.GPU]*pass.Profiler{}
	for _, p := range parts {
		f := &pass.Profiler{Runner: p.GPU.GL, Prepared: p.GPU.GL.Prepared}
		if err := p.GPU.Context.Do(ctx, func() error { f.Timer = p.GPU.Context.NewTimer(); return nil }); err != nil {
			return nil, err
		}
		defer func() {
			_ = p.GPU.Context.Do(context.Background(), func() error { f.Timer.(*glctx.Timer).Delete(); return nil })
		}()
		profilers[p.GPU] = f
	}
	if err := do(func(g *devicepool.GPU) pass.Runner { return profilers[g] }); err != nil {
		return nil, err
	}
	for _, p := range parts {
		for _, f := range profilers[p.GPU].Profiles {
			s := StepOn(p.GPU, f.Pass)
			s.MS = new(float64(f.Elapsed) / 1e6)
			if f.Pass.Count {
				s.Samples = new(f.Samples)
			}
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// Explained marks what another backend than the one of that name may be able to do, and
// says what to do about it.
func Explained(backend string, err error) error {
	return advised(backend, err, "use "+asking([]string{"cpu"}))
}

// asking says how one asks for one of some backends: on the command line, and in SQL.
func asking(backends []string) string {
	return "--backend " + strings.Join(backends, " or ") + ", or SET backend = " + backends[0]
}

func advised(backend string, err error, advice string) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*textures.BudgetError)):
		return sqlstate.Also(fmt.Errorf("%w, or %s", err, advice), ErrDeviceMemory)
	case plan.IsDeclined(err):
		return fmt.Errorf("backend %s: %w: %w; %s", backend, err, ErrUnsupported, advice)
	}
	return err
}

// Stage is where the passes of a watched statement run. All of it is for the GL
// thread, on which the runner that was made for it is called.
type Stage struct {
	Runner  *pass.GL
	Context *glctx.Context
	Plan    *physical.Query     // nil where a join's pairs are found
	Pairs   *physical.JoinQuery // else nil
}

// PassesOf is a backend as one that has passes.
func PassesOf(b Backend) (*Passes, error) {
	if v, ok := b.(*Passes); ok {
		return v, nil
	}
	return nil, sqlstate.Also(fmt.Errorf("backend %s runs no passes to look at: take --backend classic, fused or compute", b.Name()), ErrUnsupported)
}
