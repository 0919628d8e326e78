package engine

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// inOrder asks a backend for the rows of a query in their order.
func inOrder(ctx context.Context, b backend, q *plan.Query, took *took) (placedRows, error) {
	v, ok := b.(*passes)
	if !ok || algorithms[v.name].order == nil || len(q.Chunks) != 1 {
		return placedRows{}, orderOfCPU
	}
	g := v.divide(q)[0].g
	return v.placed(ctx, g, q, g.GL, took)
}

// placed runs the passes of a query's order with a runner.
func (b *passes) placed(ctx context.Context, g *GPU, q *plan.Query, run pass.Runner, took *took) (out placedRows, err error) {
	out.starts, _ = chunkStarts(q.Table)
	err = g.metered(ctx, q, run, took, func(run pass.Runner) error {
		rows, err := b.order(run, g, q)
		for _, row := range rows {
			out.places = append(out.places, uint64(row))
		}
		return err
	})()
	return out, err
}

// WatchOrder is [passes.Watch] of the rows of a query in their order.
func (b *passes) WatchOrder(ctx context.Context, q *plan.Query, took *took, wrap func(Stage) pass.Runner) (out placedRows, err error) {
	g := b.list[0]
	err = g.Context.Do(context.WithoutCancel(ctx), func() (err error) {
		out, err = b.placed(ctx, g, q, wrap(Stage{g.GL, g.Context, q}), took)
		return err
	})
	if declined(err) { // else cpu would do it, with nothing to look at
		err = &marked{fmt.Errorf("backend %s: %v; there are passes to look at where classic orders a table of one chunk by columns", b.name, err), ErrUnsupported}
	}
	return out, err
}

// order hands run the passes that check the rows of a query and find their order.
func (b *passes) order(run pass.Runner, g *GPU, q *plan.Query) ([]uint32, error) {
	order := algorithms[b.name].order
	if order == nil || len(q.Chunks) != 1 {
		return nil, orderOfCPU
	}
	if b.checked(q.Chunks[0]) {
		if err := b.check(run, g, q, 0); err != nil {
			return nil, err
		}
	}
	return order(run, g, q)
}

var orderOfCPU = &plan.Declined{Why: "the order is cpu's"}
