package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// finder asks a backend for what it finds of a query's groups; a [plan.Declined] leaves that to cpu.
type finder func(ctx context.Context, b backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error)

// groupsOf are the groups of the fragment's rows, keys and then aggregates. A device finds them. Where it
// declines, cpu makes them from the rows that the backend selects.
func (s *planned) groupsOf(ctx context.Context, b backend, n *plan.Aggregate, took *querystats.Collector, find finder) iter.Seq2[aggregation.GroupRows, error] {
	if s.star != nil {
		return s.groupsOfStar(ctx, b, n, took, find)
	}
	if v, ok := b.(*coprocessing); ok {
		return v.groupsOf(ctx, s.plan, n, took)
	}
	var states []physical.GroupStates
	err := s.supports(b)
	if err == nil {
		states, err = find(ctx, b, s.plan, took)
	}
	switch {
	case s.away != nil:
		return s.groupsThere(ctx, b, n, took, find, states, err)
	case err == nil:
		slices.SortStableFunc(states, func(a, b physical.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
		return aggregation.GroupStates(ctx, s.plan.Table, n, states)
	case !declined(err):
		return func(yield func(aggregation.GroupRows, error) bool) {
			yield(aggregation.GroupRows{}, explained(b.Name(), err))
		}
	}
	return aggregation.Group(ctx, s.plan.Table, n, b.Rows(ctx, s.plan, took))
}

// groupsThere is groupsOf over rows on devices, of groups that a device has found. The keys are those of the first row of each group, which
// is gathered. Where the device leaves the groups to others, they are those of rows in host memory.
func (s *planned) groupsThere(ctx context.Context, b backend, n *plan.Aggregate, took *querystats.Collector, find finder, states []physical.GroupStates, err error) iter.Seq2[aggregation.GroupRows, error] {
	return func(yield func(aggregation.GroupRows, error) bool) {
		if s.fallsBack(err) {
			now, done, err := s.fetchToHost(ctx)
			if err != nil {
				yield(aggregation.GroupRows{}, err)
				return
			}
			defer done()
			now.groupsOf(ctx, b, n, took, find)(yield)
			return
		}
		t := *s.plan.Table
		if err == nil {
			var first []uint32
			starts := physical.RowOffsetsOf(&t)
			for i, of := range states {
				states[i].Chunk, states[i].Rows = 0, make([]uint32, len(of.Rows))
				for k := range of.Rows {
					states[i].Rows[k] = uint32(len(first) + k)
				}
				first = append(first, shifted(of.Rows, starts[of.Chunk])...)
			}
			t.Chunks = make([]*table.Chunk, 1)
			t.Chunks[0], err = s.away.Chunk(ctx, first)
		}
		if err != nil {
			yield(aggregation.GroupRows{}, explained(b.Name(), err))
			return
		}
		aggregation.GroupStates(ctx, &t, n, states)(yield)
	}
}

// groupsOfStar is groupsOf over a star of joins.
func (s *planned) groupsOfStar(ctx context.Context, b backend, n *plan.Aggregate, took *querystats.Collector, find finder) iter.Seq2[aggregation.GroupRows, error] {
	return func(yield func(aggregation.GroupRows, error) bool) {
		now, done, err := s.adapt(ctx, b, took)
		var t *table.Table
		var states []physical.GroupStates
		if err == nil && now.star != nil {
			if states, err = find(ctx, b, s.query(), took); err == nil {
				slices.SortStableFunc(states, func(a, b physical.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
				t, states, err = s.star.Groups(states)
			}
			if declined(err) {
				s.star.Decline(err)
				s.keepStar() // nor is it built again
				now, done, err = s.withJoin(ctx, b, took)
			}
		}
		if err != nil {
			yield(aggregation.GroupRows{}, explained(b.Name(), err))
			return
		}
		defer done()
		if now.star == nil {
			now.groupsOf(ctx, ofSlots(b), n, took, find)(yield)
			return
		}
		aggregation.GroupStates(ctx, t, n, states)(yield)
	}
}

// query is what a backend is asked, the same every time. Of a star with its arms it has the bound of the statement's
// groups, if that is a bound of the star's.
func (s *planned) query() *physical.Query {
	if s.star == nil {
		return s.plan
	}
	s.starOnce.Do(func() {
		s.bounded = s.plan.Bounded(s.star.Bound(s.fragment.Bound))
	})
	return s.bounded
}

// groups runs the fragment for the groups of its rows.
func (x *execution) groups(n *plan.Aggregate) stream {
	if x.beyond != nil {
		return x.beyond.groups(n)
	}
	return func(yield func(batch, error) bool) {
		var opening time.Duration
		err := x.backend(&opening, func(b backend) error {
			x.rows.collector = &querystats.Collector{}
			x.rows.collector.Start(b.Name(), opening)
			for rows, err := range x.groupsOf(x.ctx, b, n, x.rows.collector, x.states) {
				if err != nil {
					return err
				}
				var b batch = valueRows(rows.Values)
				if rows.Chunk != nil {
					b = intermediateOf(rows.Chunk)
				}
				if !yield(b, nil) {
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

// groups is how the backend finds groups; nil where it does not.
func (b *passes) groups() func(run pass.Runner, g *devicepool.GPU, q *physical.Query) ([]physical.GroupStates, error) {
	if a := devicepool.Algorithms[b.name]; !b.many || a.Many == nil {
		return a.Groups
	}
	return devicepool.Algorithms[b.name].Many
}

// ofSlots is a backend that sorts no groups: rows of a join would be uploaded for that alone.
func ofSlots(b backend) backend {
	if p, ok := b.(*passes); ok {
		return &passes{gpus: p.gpus, name: p.name}
	}
	return b
}

// inGroups asks a backend for what it finds of a query's groups: each device for those of its chunks.
func inGroups(ctx context.Context, b backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error) {
	v, ok := b.(*passes)
	if !ok || v.groups() == nil || q.Groups == nil {
		return nil, groupsOfCPU
	}
	return onAll(ctx, v, q, took, v.groups(), (*windows).states)
}

// WatchGroups is [passes.Watch] of what a device finds of a query's groups.
func (b *passes) WatchGroups(ctx context.Context, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner) ([]physical.GroupStates, error) {
	groups := b.groups()
	if groups == nil || q.Groups == nil {
		return nil, nothingToSee(b.name, groupsOfCPU)
	}
	return onFirst(ctx, b, q, took, wrap, groups)
}

// nothingToSee is the error of a statement under watch that cpu would do, with nothing to look at.
func nothingToSee(backend string, err error) error {
	if !declined(err) {
		return err
	}
	return &marked{fmt.Errorf("backend %s: %v; there are passes to look at where compute orders by columns or groups, and where classic orders a table of one chunk", backend, err), ErrUnsupported}
}

// onFirst has the first device find something of a query, which has the whole table for it.
func onFirst[T any](ctx context.Context, b *passes, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (found []T, err error) {
	g := b.GPUs[0]
	err = g.Context.Do(context.WithoutCancel(ctx), func() error {
		return g.Start(ctx, q, wrap(Stage{Runner: g.GL, Context: g.Context, Plan: q}), took, func(run pass.Runner) (err error) {
			found, err = find(run, g.ByChunk(), q)
			return err
		})()
	})
	return found, nothingToSee(b.name, err)
}

// onAll has each device find something of its part of a query, all at the same time. in says of what was found in windows
// where it is in the table.
func onAll[T any](ctx context.Context, b *passes, q *physical.Query, took *querystats.Collector, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error), in func(*windows, []T)) (all []T, err error) {
	for {
		s := b.stream(q)
		if s == nil {
			all, err = allOn(ctx, b, b.parts(q), took, find)
		} else if all, err = allOn(ctx, b, s.parts, took, find); err == nil {
			in(s.windows, all)
		}
		if !lacks(err) || !b.shrink(q) {
			return all, err
		}
	}
}

// allOn is onAll of these parts.
func allOn[T any](ctx context.Context, b *passes, parts []part, took *querystats.Collector, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (all []T, err error) {
	start := time.Now()
	defer func() { took.AddSide(querystats.OnDevices, time.Since(start)) }()
	found, waits := make([][]T, len(parts)), make([]func() error, len(parts))
	for i, p := range parts {
		waits[i] = p.GPU.Start(ctx, p.Query, p.GPU.GL, took, func(m pass.Runner) (err error) {
			found[i], err = visited(m, p, find)
			return err
		})
	}
	if err := partial.WaitAll(waits); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

var groupsOfCPU = &plan.Declined{Why: "groups are cpu's"}

// findGroups hands run the passes that find the groups of a query; done is false where they are cpu's.
func (b *passes) findGroups(run pass.Runner, g *devicepool.GPU, q *physical.Query) (done bool, err error) {
	groups := b.groups()
	if q.Groups == nil || groups == nil {
		return false, nil
	}
	_, err = groups(run, g, q)
	if declined(err) {
		return false, nil
	}
	return err == nil, err
}
