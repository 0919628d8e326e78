package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// timedDevice is a device on which the paper's figures are measured. All systems on it share one context and
// one budget. The clock is around each query, on the GL thread, from an idle device to an idle device.
type timedDevice struct{ *devicepool.GPU }

// do runs f on the GL thread.
func (r *timedDevice) do(f func() error) error { return r.Context.Do(context.Background(), f) }

// scope runs f on the GL thread as one query. What the device cannot do is marked.
func (r *timedDevice) scope(ctx context.Context, f func() error) error {
	return markUnsupported(r.do(func() error { return r.GL.Query(ctx, f) }))
}

// markUnsupported marks what a backend on the device is not able to do.
func markUnsupported(err error) error {
	var budget *textures.BudgetError
	var declined *plan.Declined
	if errors.As(err, &budget) || errors.As(err, &declined) {
		return fmt.Errorf("%w: %w", meter.ErrCannot, err)
	}
	return err
}

// timed runs f on the GL thread and fills in the times of the outcome.
func (r *timedDevice) timed(ctx context.Context, out *meter.Outcome, f func() error) error {
	took, err := lab.Time(r.Context, f)
	out.Wall, out.GPU = took.Wall, took.Device
	return errors.Join(err, ctx.Err())
}

// runPlan stands between the figures and the device, for the tests.
var runPlan = (*devicepool.GPU).Run

// figureQuery is a plan and the system that runs it.
type figureQuery struct {
	*timedDevice
	backend string
	plan    *physical.Query
	selects bool // the selection stays in the stencil buffer
	bare    bool // without the guard program
}

// prepare readies queries for a system of the figures.
func (r *timedDevice) prepare(system string) func(meter.Query, *physical.Query) (meter.Contender, error) {
	return func(text meter.Query, p *physical.Query) (meter.Contender, error) {
		q := &figureQuery{timedDevice: r, backend: report.BackendsOfFigures[system], plan: p, bare: system == report.ClassicNoGuard}
		q.selects = text.Work == meter.Selects && q.backend == report.Classic && system != report.ClassicCountOnly
		decided := slices.ContainsFunc(p.Chunks, func(c physical.ChunkPlan) bool { return c.Pred.Op == predicate.True || c.Pred.Op == predicate.False })
		switch {
		case decided && (text.Work == meter.Copies || text.Work == meter.Counts || system == report.ClassicNoCount):
			return meter.Contender{}, fmt.Errorf("%w: the condition is true, or false, of all records of a chunk, which takes no pass", meter.ErrCannot)
		case q.bare && r.Context.Caps().Software:
			return meter.Contender{}, fmt.Errorf("%w: on a software rasteriser no pass has the guard program", meter.ErrCannot)
		case system == report.MipmapSum:
			return r.mipmap(p)
		case system == report.ClassicFloat:
			return q.semilinearFP(text.Linear)
		case text.Work == meter.Copies:
			return meter.Contender{Device: true, Run: q.copies}, nil
		case text.Work == meter.Counts:
			return meter.Contender{Device: true, Run: q.countOnly}, nil
		case system == report.ClassicNoCount:
			return meter.Contender{Device: true, Run: q.withoutCount}, nil
		case system == report.CopyExcluded:
			return meter.Contender{Device: true, Run: q.withoutCopies}, nil
		case q.bare: // what it counts may be wrong
			return meter.Contender{Device: true, Near: true, Run: q.whole}, nil
		}
		c := meter.Contender{Device: true, Run: q.whole}
		if text.Again || system == report.ClassicCountOnly { // the others have these
			return c, nil
		}
		c.Cold = q.cold
		if system == report.Classic { // whose passes are the paper's
			c.Profile = q.profile
		}
		return c, nil
	}
}

// run is the answer of the passes, which run gets.
func (q *figureQuery) run(run pass.Runner, out *meter.Outcome) error {
	if q.bare {
		run = withoutGuard(run)
	}
	if q.selects {
		n, err := aggregates.NewSelection(run, q.Draws, q.plan, true).Count()
		out.Answer = counted(n)
		return err
	}
	values, err := runPlan(q.GPU, q.backend, run, q.plan)
	out.Answer = answer.Answer{values}
	return err
}

func counted(n uint64) answer.Answer { return answer.Answer{{table.Int(int64(n))}} }

// whole runs the whole query.
func (q *figureQuery) whole(ctx context.Context) (out meter.Outcome, err error) {
	err = q.scope(ctx, func() error {
		return q.timed(ctx, &out, func() error { return q.run(q.GL, &out) })
	})
	return out, err
}

// cold runs the query over segments that are new to the store, so that it uploads what
// it reads; afterwards they are dropped.
func (q *figureQuery) cold(ctx context.Context) (meter.Outcome, error) {
	fresh := q.plan.Table.Renewed()
	p, err := physical.NewQuery(fresh, &plan.Fragment{Where: q.plan.Where, Aggs: q.plan.Aggs})
	if err != nil {
		return meter.Outcome{}, err
	}
	out, err := (&figureQuery{timedDevice: q.timedDevice, backend: q.backend, plan: p, selects: q.selects}).whole(ctx)
	return out, errors.Join(err, q.do(func() error {
		for _, c := range fresh.Chunks {
			q.Store.Drop(c.Segments...)
		}
		return nil
	}))
}

// profile says what each pass of the query takes.
func (q *figureQuery) profile(ctx context.Context) (list []report.PassTime, err error) {
	var parts []lab.Section
	err = q.scope(ctx, func() error {
		parts, err = lab.Sections(q.Context, q.GL, func(run pass.Runner) error { return q.run(run, &meter.Outcome{}) })
		return err
	})
	return passTimes(parts), err
}

// passTimes are parts of a run as a result has them.
func passTimes(parts []lab.Section) (list []report.PassTime) {
	for _, p := range parts {
		list = append(list, report.PassTime{Pass: p.What, Routine: p.Name, MS: meter.Milliseconds(p.Took)})
	}
	return list
}

// filter is a runner that does something else with some passes.
type filter struct {
	pass.Runner
	run func(p *pass.Pass) (pass.Count, error)
}

// Run implements pass.Runner.
func (f filter) Run(p *pass.Pass) (pass.Count, error) { return f.run(p) }

func isCopy(p *pass.Pass) bool {
	_, ok := p.Op.(pass.CopyToDepth)
	return ok
}

// withoutCopies is the paper's "computation only" time, the copy excluded. The CopyToDepth passes are timed on
// the way and subtracted. Timestamps time them where the device's timer is real, which wait for nothing, else
// the wall clock between two finishes.
func (q *figureQuery) withoutCopies(ctx context.Context) (out meter.Outcome, err error) {
	var timers []*glctx.Timer
	timing := filter{q.GL, func(p *pass.Pass) (pass.Count, error) {
		if !isCopy(p) {
			return q.GL.Run(p)
		}
		t := q.Context.NewTimer()
		timers = append(timers, t)
		t.Start()
		defer t.Stop()
		return q.GL.Run(p)
	}}
	err = q.scope(ctx, func() error {
		err := q.timed(ctx, &out, func() error { return q.run(timing, &out) })
		took := time.Duration(0)
		for _, t := range timers {
			took += t.Elapsed()
			t.Delete()
		}
		out.Wall = max(1, out.Wall-took)
		if out.GPU > 0 {
			out.GPU = max(1, out.GPU-took)
		}
		return err
	})
	return out, err
}

// copies measures the copies of the query alone. What follows the copies runs after the clock has stopped, on
// the depth that they have left, and gives the answer. The limbs of a wide attribute leave only the last one,
// so then the whole query runs.
func (q *figureQuery) copies(ctx context.Context) (out meter.Outcome, err error) {
	targets, again := map[textures.TargetRef]bool{}, false // whether one was copied to twice
	only := func(copies bool) pass.Runner {
		return filter{q.GL, func(p *pass.Pass) (pass.Count, error) {
			if isCopy(p) != copies {
				return pass.Known(0), nil
			}
			again = again || copies && targets[p.Target]
			targets[p.Target] = true
			return q.GL.Run(p)
		}}
	}
	err = q.scope(ctx, func() error {
		if err := q.timed(ctx, &out, func() error { return q.run(only(true), &out) }); err != nil {
			return err
		}
		if again {
			return q.run(q.GL, &out)
		}
		return q.run(only(false), &out)
	})
	return out, err
}

// mipmap is the sum by a mipmap, which the paper discusses and rejects: fast, and with
// an error.
func (r *timedDevice) mipmap(p *physical.Query) (meter.Contender, error) {
	col, why := p.Aggs[0].Col, ""
	f, seg := p.Table.Fields[col], p.Table.Chunks[0].Segments[col]
	switch {
	case !f.Type.IsInteger():
		why = fmt.Sprintf("the mipmap sums integers, %s is of type %v", f.Name, f.Type)
	case len(p.Table.Chunks) != 1:
		why = fmt.Sprintf("the mipmap is drawn over one chunk, the table has %d", len(p.Table.Chunks))
	case seg.Bits > textures.LimbBits:
		why = fmt.Sprintf("the mipmap sums codes of at most %d bits, %s has %d", textures.LimbBits, f.Name, seg.Bits)
	case seg.NonNull() == 0:
		why = "there are no values"
	}
	if why != "" {
		return meter.Contender{}, fmt.Errorf("%w: %s", meter.ErrCannot, why)
	}
	return meter.Contender{Device: true, Near: true, Run: func(ctx context.Context) (meter.Outcome, error) {
		var out meter.Outcome
		sum, err := r.MipmapSum(ctx, p.Table, col, func(f func() error) error { return r.timed(ctx, &out, f) })
		out.Answer = answer.Answer{{table.Float(sum)}}
		return out, markUnsupported(err)
	}}, nil
}
