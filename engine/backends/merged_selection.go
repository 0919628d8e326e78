package backends

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// MergedOnAll runs the parts of a query at the same time. Each device's GL thread is held from the first request to the
// end of the query. cpu's part runs beside them. The first error stops them all.
func (b *Passes) MergedOnAll(ctx context.Context, q *physical.Query, parts []Part, took *querystats.Collector, runner func(*devicepool.GPU) pass.Runner) ([]table.Value, error) {
	if err := b.Turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer b.Turn.Release(1)
	group, inner := parallel.WithContext(ctx)
	var work []chan func(partial.Selection) error // for each GL thread; closed at the end of the query
	for _, p := range parts {
		asked := make(chan func(partial.Selection) error, 1)
		work = append(work, asked)
		answer := func(s partial.Selection, err error) error {
			for err == nil {
				do, more, ended := glctx.Receive(inner, asked)
				if ended != nil || !more {
					return ended
				}
				start := time.Now()
				err = do(s)
				took.AddSide(p.side(), time.Since(start))
			}
			return err
		}
		if p.GPU == nil {
			group.Go(func() error { return answer(cpu.New(0).Select(inner, p.Query)) })
			continue
		}
		group.Go(p.GPU.Start(inner, p.Query, runner(p.GPU), took, func(m pass.Runner) error {
			return answer(p.Selection(b.name, m))
		}))
	}
	values, err := partial.Finish(partial.Merge(q, len(parts), func(i int, do func(partial.Selection) error) func() error {
		done := make(chan error, 1)
		work[i] <- func(s partial.Selection) error {
			err := do(s)
			done <- err
			if errors.As(err, new(*physical.CheckError)) { // another device's may come before it
				return nil
			}
			return err
		}
		return func() error {
			err, _, ended := glctx.Receive(inner, done)
			return cmp.Or(ended, err) // the GL thread may be at its pass yet
		}
	}), q)
	for _, asked := range work {
		close(asked)
	}
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	if err != nil {
		return nil, Explained(b.name, err)
	}
	return values, nil
}
