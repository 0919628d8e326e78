package engine

import (
	"context"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
)

// sortedRuns asks a backend for the rows of a query in runs that are in its order. Each device sorts the rows of its chunks. of is the query by
// whose chunks the runs name rows; asked is the query whose rows all are wanted from the first on, where that differs.
func sortedRuns(ctx context.Context, b backend, q *physical.Query, took *querystats.Collector) (asked, of *physical.Query, runs []physical.SortedRun, err error) {
	switch v := b.(type) {
	case *coprocessing:
		q = fromFirst(q)
		of, runs, err = v.sortedRows(ctx, q, took)
		return q, of, runs, err
	case *passes:
		runs, err = onAll(ctx, v, q, took, v.order, (*windows).runs)
		return q, q, runs, err
	}
	return q, q, nil, orderOfCPU
}

// fromFirst is a query of whose rows in order all are wanted from the first on.
func fromFirst(q *physical.Query) *physical.Query {
	if q.Order == nil || q.Order.Offset == 0 {
		return q
	}
	all, order := *q, *q.Order
	order.Offset, all.Order = 0, &order
	return &all
}

// WatchOrder is [passes.Watch] of the rows of a query in their order.
func (b *passes) WatchOrder(ctx context.Context, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner) ([]physical.SortedRun, error) {
	return onFirst(ctx, b, q, took, wrap, b.order)
}

// orders reports whether a backend gives the rows of a query in their order.
func orders(b backend, q *physical.Query) bool {
	if v, ok := b.(*coprocessing); ok {
		d := v.divide(q)
		switch v.assign(d, q) {
		case cost.OnCPU:
			return false
		case cost.OnBoth:
			return d.ordered
		}
		b = v.passes
	}
	v, ok := b.(*passes)
	if !ok || q.Order == nil {
		return false
	}
	for _, p := range v.inParts(q) {
		if p.visits != nil {
			p.Query = p.visits[0].First
		}
		if _, err := v.order(&pass.Recorder{}, p.GPU, p.Query); err != nil {
			return false
		}
	}
	return true
}

// order hands run the passes that find the order of the rows of a query, then those that check them. If the
// order is left to cpu, no pass has run yet.
func (b *passes) order(run pass.Runner, g *devicepool.GPU, q *physical.Query) ([]physical.SortedRun, error) {
	order := devicepool.Algorithms[b.name].Order
	if order == nil {
		return nil, orderOfCPU
	}
	runs, err := order(run, g, q)
	for i := 0; i < len(q.Chunks) && err == nil; i++ {
		if b.checked(q.Chunks[i]) {
			err = b.check(run, g, q, i)
		}
	}
	return runs, err
}

var orderOfCPU = &plan.Declined{Why: "the order is cpu's"}
