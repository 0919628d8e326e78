package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// rig is a device on which the paper's figures are measured: one context and one
// budget for all systems on it, and a clock around each query, on the GL thread,
// from an idle device to an idle device.
type rig struct {
	*engine.GPU
	timer *glctx.Timer // of a whole query
}

func openRig(o engine.Options) (*rig, error) {
	d, err := engine.OpenGPU(glctx.Options{Device: o.Device, Memory: o.GPUMemory})
	if err != nil {
		return nil, err
	}
	r := &rig{GPU: d}
	err = d.Context.Do(context.Background(), func() error {
		r.timer = d.Context.NewTimer()
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return r, nil
}

func (r *rig) close() error {
	err := r.Context.Do(context.Background(), func() error {
		r.timer.Delete()
		return nil
	})
	return errors.Join(err, r.GPU.Close())
}

// timed runs f on the GL thread and fills in the times of the outcome: the wall clock
// around f and a finish, and the device's timer where it is real.
func (r *rig) timed(ctx context.Context, out *Outcome, f func() error) error {
	r.Context.Finish()
	gpu := r.Context.Caps().GPUTimer
	start := time.Now()
	if gpu {
		r.timer.Start()
	}
	if err := f(); err != nil {
		return err
	}
	if gpu {
		r.timer.Stop()
	}
	r.Context.Finish()
	out.Wall = time.Since(start)
	if gpu {
		out.GPU = r.timer.Elapsed()
	}
	return ctx.Err()
}

// gpuSystem is a way to run queries on a rig.
type gpuSystem struct {
	*rig
	name  string
	table *table.Table
}

// algorithms are those of the systems.
var algorithms = map[string]algorithm{
	classic: of("classic"), classicCompute: of("classic"), "fused": of("fused"), "compute": of("compute"),
}

type algorithm func(run pass.Runner, g *engine.GPU, q *plan.Query) ([]table.Value, error)

func of(backend string) algorithm {
	return func(run pass.Runner, g *engine.GPU, q *plan.Query) ([]table.Value, error) {
		return g.Run(backend, run, q)
	}
}

// Load implements System.
func (g *gpuSystem) Load(_ context.Context, t *table.Table) error {
	g.table = t
	return nil
}

// Close implements System: the rig is shared.
func (g *gpuSystem) Close() error { return nil }

// Prepare implements System.
func (g *gpuSystem) Prepare(_ context.Context, q Query) (Statement, error) {
	p, err := planOf(g.table, q.SQL)
	if err != nil {
		return nil, err
	}
	if q.Work != Whole && slices.ContainsFunc(p.Chunks, decided) {
		return nil, fmt.Errorf("%w: the condition is true, or false, of all records of a chunk, which takes no pass", ErrCannot)
	}
	s := gpuStatement{g, q, p}
	switch {
	case q.Work == Copies:
		return &copyStatement{s}, nil
	case q.Work == Selects:
		return &selectStatement{s, g.name != classicAlone}, nil
	case g.name == classicCompute:
		return &computeOnlyStatement{s}, nil
	}
	return &wholeStatement{s}, nil
}

// decided reports whether a chunk's condition takes no pass.
func decided(c plan.ChunkPlan) bool { return c.Pred.Op == plan.True || c.Pred.Op == plan.False }

// planOf plans a statement over a table.
func planOf(t *table.Table, text string) (*plan.Query, error) {
	q, err := sql.Fragment(t, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return plan.NewQuery(t, q)
}

// gpuStatement is a plan and the system that runs it.
type gpuStatement struct {
	*gpuSystem
	query Query
	plan  *plan.Query
}

func (s *gpuStatement) execute(ctx context.Context, q *plan.Query) (out Outcome, err error) {
	err = s.on(ctx, func() error {
		return s.timed(ctx, &out, func() error {
			values, err := algorithms[s.name](s.GL, s.GPU, q)
			out.Answer = answerOf(values)
			return err
		})
	})
	return out, err
}

// scope runs f on the GL thread as one query.
func (r *rig) scope(ctx context.Context, f func() error) error {
	return r.Context.Do(context.Background(), func() error { return r.GL.Query(ctx, f) })
}

// on is query with what the system cannot do marked.
func (s *gpuStatement) on(ctx context.Context, f func() error) error {
	err := s.scope(ctx, f)
	var budget *textures.BudgetError
	var declined *plan.Declined
	if errors.As(err, &budget) || errors.As(err, &declined) {
		return fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return err
}

// wholeStatement runs a whole query.
type wholeStatement struct{ gpuStatement }

// Run implements Statement.
func (s *wholeStatement) Run(ctx context.Context) (Outcome, error) { return s.execute(ctx, s.plan) }

// Cold implements coldStatement: the table's segments are new to the store, so that
// the query uploads what it reads; afterwards they are dropped.
func (s *wholeStatement) Cold(ctx context.Context) (Outcome, error) {
	var segments []*table.Segment
	var chunks []*table.Chunk
	for _, c := range s.table.Chunks {
		fresh := &table.Chunk{Rows: c.Rows, Deleted: c.Deleted}
		for _, seg := range c.Segments {
			if seg != nil {
				seg = seg.Copy()
			}
			fresh.Segments = append(fresh.Segments, seg)
		}
		chunks, segments = append(chunks, fresh), append(segments, fresh.Segments...)
	}
	q, err := planOf(s.table.With(chunks...), s.query.SQL)
	if err != nil {
		return Outcome{}, err
	}
	out, err := s.execute(ctx, q)
	return out, errors.Join(err, s.Context.Do(context.WithoutCancel(ctx), func() error {
		s.Store.Drop(segments...)
		return nil
	}))
}

// Profile implements profiledStatement; of classic only, whose passes are the
// paper's.
func (s *wholeStatement) Profile(ctx context.Context) (list []PassTime, err error) {
	if s.name != classic {
		return nil, nil
	}
	p := &pass.Profiler{Runner: s.GL, Uploaded: s.Store.Uploaded, Timer: s.timer}
	err = s.on(ctx, func() error {
		_, err := algorithms[s.name](p, s.GPU, s.plan)
		return err
	})
	for _, f := range p.Profiles {
		list = append(list, PassTime{f.Pass.String(), f.Pass.Routine(), inMS(f.Elapsed)})
	}
	return list, err
}

func isCopy(p *pass.Pass) bool {
	_, ok := p.Op.(pass.CopyToDepth)
	return ok
}

// computeOnlyStatement is the paper's "computation only" time: the CopyToDepth
// passes are timed on the way and taken off.
type computeOnlyStatement struct{ gpuStatement }

// Run implements Statement.
func (s *computeOnlyStatement) Run(ctx context.Context) (out Outcome, err error) {
	c := &copyTimer{Runner: s.GL, ctx: s.Context}
	err = s.on(ctx, func() error {
		defer c.free()
		err := s.timed(ctx, &out, func() error {
			values, err := algorithms[s.name](c, s.GPU, s.plan)
			out.Answer = answerOf(values)
			return err
		})
		took := c.elapsed()
		out.Wall = max(1, out.Wall-took)
		if out.GPU > 0 {
			out.GPU = max(1, out.GPU-took)
		}
		return err
	})
	return out, err
}

// copyTimer wraps a runner and times the copies: with timestamps where the device's
// timer is real, which wait for nothing, else by the wall between two finishes.
type copyTimer struct {
	pass.Runner
	ctx    *glctx.Context
	timers []*glctx.Timer
}

// Run implements pass.Runner.
func (c *copyTimer) Run(p *pass.Pass) (pass.Count, error) {
	if !isCopy(p) {
		return c.Runner.Run(p)
	}
	t := c.ctx.NewTimer()
	c.timers = append(c.timers, t)
	t.Start()
	n, err := c.Runner.Run(p)
	t.Stop()
	return n, err
}

func (c *copyTimer) elapsed() (sum time.Duration) {
	for _, t := range c.timers {
		sum += t.Elapsed()
	}
	return sum
}

func (c *copyTimer) free() {
	for _, t := range c.timers {
		t.Delete()
	}
}

// copyStatement measures the copies of a query alone. What follows them runs after
// the clock has stopped, on the depth that they have left, and gives the answer; the
// limbs of a wide attribute leave only the last one, so then the whole query does.
type copyStatement struct{ gpuStatement }

// Run implements Statement.
func (s *copyStatement) Run(ctx context.Context) (out Outcome, err error) {
	err = s.on(ctx, func() error {
		copies := &copier{Runner: s.GL, targets: map[textures.TargetRef]bool{}}
		err := s.timed(ctx, &out, func() error {
			_, err := algorithms[classic](copies, s.GPU, s.plan)
			return err
		})
		if err != nil {
			return err
		}
		var rest pass.Runner = s.GL
		if !copies.again {
			rest = &copyless{s.GL}
		}
		values, err := algorithms[classic](rest, s.GPU, s.plan)
		out.Answer = answerOf(values)
		return err
	})
	return out, err
}

// copier wraps a runner and runs only the copies.
type copier struct {
	pass.Runner
	targets map[textures.TargetRef]bool
	again   bool // whether a target was copied to twice
}

// Run implements pass.Runner.
func (c *copier) Run(p *pass.Pass) (pass.Count, error) {
	if !isCopy(p) {
		return pass.Known(0), nil
	}
	c.again = c.again || c.targets[p.Target]
	c.targets[p.Target] = true
	return c.Runner.Run(p)
}

// copyless wraps a runner and leaves the copies out.
type copyless struct{ pass.Runner }

// Run implements pass.Runner.
func (c *copyless) Run(p *pass.Pass) (pass.Count, error) {
	if isCopy(p) {
		return pass.Known(0), nil
	}
	return c.Runner.Run(p)
}

// selectStatement leaves the selection of a WHERE in the stencil buffer, with the
// counts that the paper's COUNT asks for or without. Without them the records are
// counted after the clock has stopped.
type selectStatement struct {
	gpuStatement
	count bool
}

// Run implements Statement.
func (s *selectStatement) Run(ctx context.Context) (out Outcome, err error) {
	err = s.on(ctx, func() error {
		var run pass.Runner = s.GL
		bare := &uncounted{Runner: s.GL, targets: map[textures.TargetRef]bool{}}
		if !s.count {
			run = bare
		}
		var n uint64
		err := s.timed(ctx, &out, func() (err error) {
			n, err = aggregates.NewSelection(run, s.Draws, s.plan, true).Count()
			return err
		})
		if err == nil && !s.count {
			n, err = bare.selected()
		}
		out.Answer = Answer{fmt.Sprint(n)}
		return err
	})
	return out, err
}

// uncounted wraps a runner and takes the occlusion queries off the passes.
type uncounted struct {
	pass.Runner
	targets map[textures.TargetRef]bool
}

// Run implements pass.Runner.
func (u *uncounted) Run(p *pass.Pass) (pass.Count, error) {
	bare := *p
	bare.Count = false
	u.targets[p.Target] = true
	if _, err := u.Runner.Run(&bare); err != nil {
		return nil, err
	}
	return pass.Known(0), nil
}

// selected counts the records whose stencil value, the scratch bit aside, is not 0.
func (u *uncounted) selected() (n uint64, err error) {
	for t := range u.targets {
		c, err := u.Runner.Run(&pass.Pass{Op: pass.CountSelection, Target: t, Count: true,
			Stencil: pass.Stencil{Test: true, Func: pass.NotEqual, Mask: 0xbf}})
		if err != nil {
			return 0, err
		}
		k, err := c.Wait()
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}
