package engine

import (
	"context"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// orderer is a backend that gives rows in their order where it can: else the error is a [plan.Declined].
type orderer interface {
	Order(ctx context.Context, q *plan.Query, took *took) (placedRows, error)
}

// Order implements orderer, for a table of one chunk.
func (b *passes) Order(ctx context.Context, q *plan.Query, took *took) (placed placedRows, err error) {
	if algorithms[b.name].order == nil || len(q.Chunks) != 1 {
		return placed, orderOfCPU
	}
	g := b.divide(q)[0].g
	placed.starts, _ = chunkStarts(q.Table)
	err = g.metered(ctx, q, g.GL, took, func(run pass.Runner) error {
		rows, err := b.order(run, g, q)
		for _, row := range rows {
			placed.places = append(placed.places, uint64(row))
		}
		return err
	})()
	return placed, err
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
