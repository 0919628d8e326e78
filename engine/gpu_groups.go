package engine

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// grouper is a backend that aggregates by keys where it can: else the error is a [plan.Declined].
type grouper interface {
	Groups(ctx context.Context, q *plan.Query, took *took) ([]plan.GroupStates, error)
}

// groupsOf are the groups of the fragment's rows, keys and then aggregates: from what the backend finds
// of them, or, where it leaves them to cpu, from the rows.
func (s *planned) groupsOf(ctx context.Context, b backend, n *plan.Aggregate, took *took) iter.Seq2[[][]table.Value, error] {
	if g, ok := b.(grouper); ok {
		states, err := g.Groups(ctx, s.plan, took)
		if err == nil {
			return cpu.GroupStates(ctx, s.plan.Table, n, states)
		}
		if !declined(err) {
			return func(yield func([][]table.Value, error) bool) { yield(nil, explained(b.Name(), err)) }
		}
	}
	return cpu.Group(ctx, s.plan.Table, n, b.Rows(ctx, s.plan, took))
}

// groups runs the fragment for the groups of its rows.
func (x *execution) groups(n *plan.Aggregate) stream {
	return func(yield func(batch, error) bool) {
		var opening time.Duration
		err := x.backend(&opening, func(b backend) error {
			x.rows.took = &took{}
			x.rows.took.start(b.Name(), opening)
			for rows, err := range x.groupsOf(x.ctx, b, n, x.rows.took) {
				if err != nil {
					return err
				}
				if !yield(valueRows(rows), nil) {
					return errStopped
				}
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// Groups implements grouper: each device has the groups of its chunks.
func (b *passes) Groups(ctx context.Context, q *plan.Query, took *took) (all []plan.GroupStates, err error) {
	groups := algorithms[b.name].groups
	if groups == nil || q.Groups == nil {
		return nil, groupsOfCPU
	}
	if all, err = onAll(ctx, b, q, took, groups); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b plan.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
	return all, nil
}

// onAll has each device find something of its part of a query, all at the same time.
func onAll[T any](ctx context.Context, b *passes, q *plan.Query, took *took, find func(pass.Runner, *GPU, *plan.Query) ([]T, error)) (all []T, err error) {
	parts := b.divide(q)
	found, waits := make([][]T, len(parts)), make([]func() error, len(parts))
	for i, p := range parts {
		waits[i] = p.g.metered(ctx, p.q, p.g.GL, took, func(m pass.Runner) (err error) {
			found[i], err = find(m, p.g, p.q)
			return err
		})
	}
	if err := plan.First(waits); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

var groupsOfCPU = &plan.Declined{Why: "groups are cpu's"}

// findGroups hands run the passes that find the groups of a query; done is false where they are cpu's.
func (b *passes) findGroups(run pass.Runner, g *GPU, q *plan.Query) (done bool, err error) {
	groups := algorithms[b.name].groups
	if q.Groups == nil || groups == nil {
		return false, nil
	}
	_, err = groups(run, g, q)
	if declined(err) {
		return false, nil
	}
	return err == nil, err
}
