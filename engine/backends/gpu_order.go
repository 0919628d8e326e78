package backends

import (
	"context"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
)

// SortedRuns asks a backend for the rows of a query in runs that are in its order. Each device sorts the rows of its chunks. of is the query by
// whose chunks the runs name rows; asked is the query, without an offset where the runs have all rows.
func SortedRuns(ctx context.Context, b Backend, q *physical.Query, took *querystats.Collector) (asked, of *physical.Query, runs []physical.SortedRun, err error) {
	switch v := b.(type) {
	case *Coprocessing:
		q = FromFirst(q)
		of, runs, err = v.sortedRows(ctx, q, took)
		return q, of, runs, err
	case *Passes:
		runs, err = onAll(ctx, v, q, took, v.order, (*windows).runs)
		return q, q, runs, err
	}
	return q, q, nil, OrderOfCPU
}

// FromFirst is a query of whose rows in order all are wanted from the first on.
func FromFirst(q *physical.Query) *physical.Query {
	if q.Order == nil || q.Order.Offset == 0 {
		return q
	}
	all, order := *q, *q.Order
	order.Offset, all.Order = 0, &order
	return &all
}

// WatchOrder is [passes.Watch] of the rows of a query in their order.
func (b *Passes) WatchOrder(ctx context.Context, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner) ([]physical.SortedRun, error) {
	return onFirst(ctx, b, q, took, wrap, b.order)
}

// Orders reports whether a backend gives the rows of a query in their order.
func Orders(b Backend, q *physical.Query) bool {
	if v, ok := b.(*Coprocessing); ok {
		d := v.Divide(q)
		switch v.Assign(d, q) {
		case cost.OnCPU:
			return false
		case cost.OnBoth:
			return d.ordered
		}
		b = v.Passes
	}
	v, ok := b.(*Passes)
	if !ok || q.Order == nil {
		return false
	}
	for _, p := range v.inParts(q) {
		if p.Visits != nil {
			p.Query = p.Visits[0].First
		}
		if _, err := v.order(&pass.Recorder{}, p.GPU, p.Query); err != nil {
			return false
		}
	}
	return true
}

// order hands run the passes that find the order of the rows of a query, then those that check them. If the
// order is left to cpu, no pass has run yet.
func (b *Passes) order(run pass.Runner, g *devicepool.GPU, q *physical.Query) ([]physical.SortedRun, error) {
	order := devicepool.Algorithms[b.name].Order
	if order == nil {
		return nil, OrderOfCPU
	}
	runs, err := order(run, g, q)
	for i := 0; i < len(q.Chunks) && err == nil; i++ {
		if b.checked(q.Chunks[i]) {
			err = b.check(run, g, q, i)
		}
	}
	return runs, err
}

// OrderOfCPU leaves the order of rows to cpu.
var OrderOfCPU = &plan.Declined{Why: "the order is cpu's"}
