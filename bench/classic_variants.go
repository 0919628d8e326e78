package bench

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// targetsOf notes the targets of the passes that run gets.
func targetsOf(run pass.Runner) (pass.Runner, map[textures.TargetRef]bool) {
	targets := map[textures.TargetRef]bool{}
	return filter{run, func(p *pass.Pass) (pass.Count, error) {
		targets[p.Target] = true
		return run.Run(p)
	}}, targets
}

// withoutCount leaves the selection of a WHERE in the stencil buffer, as the paper's COUNT does, but
// without the occlusion queries. The records whose stencil value, the scratch bit aside, is not 0
// are counted after the clock has stopped.
func (q *figureQuery) withoutCount(ctx context.Context) (out meter.Outcome, err error) {
	run, targets := targetsOf(filter{q.GL, func(p *pass.Pass) (pass.Count, error) {
		bare := *p
		bare.Count = false
		_, err := q.GL.Run(&bare)
		return pass.Known(0), err
	}})
	err = q.scope(ctx, func() error {
		err := q.timed(ctx, &out, func() error {
			_, err := aggregates.NewSelection(run, q.Draws, q.plan, true).Count()
			return err
		})
		if err != nil {
			return err
		}
		n, err := q.countTargets(targets)
		out.Answer = counted(n)
		return err
	})
	return out, err
}

// countOnly counts a selection that the stencil buffer holds already (section 5.11): the passes that
// leave it there run before the clock.
func (q *figureQuery) countOnly(ctx context.Context) (out meter.Outcome, err error) {
	run, targets := targetsOf(q.GL)
	err = q.scope(ctx, func() error {
		if _, err := aggregates.NewSelection(run, q.Draws, q.plan, true).Count(); err != nil {
			return err
		}
		return q.timed(ctx, &out, func() error {
			n, err := q.countTargets(targets)
			out.Answer = counted(n)
			return err
		})
	})
	return out, err
}

// countTargets counts the records of targets that are selected.
func (q *figureQuery) countTargets(targets map[textures.TargetRef]bool) (uint64, error) {
	var sum pass.Sum
	for t := range targets {
		c, err := q.GL.Run(&pass.Pass{Op: pass.CountSelection, Target: t, Count: true,
			Stencil: pass.Stencil{Test: true, Func: pass.NotEqual, Mask: 0xbf}})
		if err != nil {
			return 0, err
		}
		sum = append(sum, c)
	}
	return sum.Wait()
}

// unguarded is a fragment program that does nothing, of which the compiler knows it.
var unguarded = shaders.Compose("unguarded.frag", nil, "void main() {}\n")

// withoutGuard is a runner that gives the plain quads of depth tests a program of their own. So package pass
// does not add its guard. The device may then decide many records at once (early depth culling, section 6.2),
// and count wrongly.
func withoutGuard(run pass.Runner) pass.Runner {
	return filter{run, func(p *pass.Pass) (pass.Count, error) {
		if p.Program.Text == "" && p.Dispatch == nil && p.Depth.Test {
			bare := *p
			bare.Program = unguarded
			p = &bare
		}
		return run.Run(p)
	}}
}

// semilinearFP is the paper's SemilinearFP as it is published, in float32: it is approximate where
// a record lies near the limit.
func (q *figureQuery) semilinearFP(l *meter.Linear) (meter.Contender, error) {
	for _, c := range q.plan.Table.Chunks {
		for _, col := range l.Columns {
			if bits := c.Segments[col].Bits; bits > textures.LimbBits {
				return meter.Contender{}, fmt.Errorf("%w: %s has codes of %d bits, a float is exact to %d", meter.ErrCannot, q.plan.Table.Fields[col].Name, bits, textures.LimbBits)
			}
		}
	}
	return meter.Contender{Device: true, Near: true, Wrong: func(ctx context.Context) (int, error) { return q.wrong(ctx, l) },
		Run: func(ctx context.Context) (out meter.Outcome, err error) {
			err = q.scope(ctx, func() error {
				return q.timed(ctx, &out, func() error {
					var sum pass.Sum
					for i := range q.plan.Table.Chunks {
						sum = append(sum, q.evaluator(i).SemilinearFP(overCodes(l, q.plan.Table.Chunks[i]), pass.Stencil{}))
					}
					n, err := sum.Wait()
					out.Answer = counted(n)
					return err
				})
			})
			return out, err
		}}, nil
}

func (q *figureQuery) evaluator(chunk int) *predicates.Evaluator {
	return predicates.New(q.GL, q.Draws, q.plan.Table, chunk, textures.D24S8, 0, predicates.NewSlots())
}

// overCodes is a combination over the codes of a chunk, which begin at the smallest value.
func overCodes(l *meter.Linear, c *table.Chunk) predicates.LinearFP {
	f := predicates.LinearFP{Columns: l.Columns, Op: expr.LT, Text: "the float form"}
	limit := l.Limit
	for i, col := range l.Columns {
		f.S = append(f.S, float32(l.Coefficients[i]))
		limit -= l.Coefficients[i] * float64(table.IntFromOrdinal(c.Segments[col].Base))
	}
	f.B = float32(limit)
	return f
}

// wrong is the number of records for which the float form and the exact one differ. It is the number that
// either selects, less twice the number that both do.
func (q *figureQuery) wrong(ctx context.Context, l *meter.Linear) (wrong int, err error) {
	err = q.scope(ctx, func() error {
		for i, c := range q.plan.Table.Chunks {
			e := q.evaluator(i)
			exact := e.Select(q.plan.Chunks[i].Pred, true)
			n, err := exact.Wait()
			if err != nil {
				return err
			}
			float, err := e.SemilinearFP(overCodes(l, c), pass.Stencil{}).Wait()
			if err != nil {
				return err
			}
			both := uint64(0)
			if !exact.None() {
				both, err = e.SemilinearFP(overCodes(l, c), exact.Test()).Wait()
			}
			if err != nil {
				return err
			}
			wrong += int(n + float - 2*both)
		}
		return nil
	})
	return wrong, err
}
