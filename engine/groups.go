package engine

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// groupsOf are the groups of the fragment's rows, keys and then aggregates. A device finds them. Where it
// declines, cpu makes them from the rows that the backend selects.
func (s *planned) groupsOf(ctx context.Context, b backends.Backend, n *plan.Aggregate, took *querystats.Collector, find backends.Finder) iter.Seq2[aggregation.GroupRows, error] {
	if s.star != nil {
		return s.groupsOfStar(ctx, b, n, took, find)
	}
	if v, ok := b.(*backends.Coprocessing); ok {
		return v.GroupsOf(ctx, s.plan, n, took)
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
	case !plan.IsDeclined(err):
		return func(yield func(aggregation.GroupRows, error) bool) {
			yield(aggregation.GroupRows{}, backends.Explained(b.Name(), err))
		}
	}
	return aggregation.Group(ctx, s.plan.Table, n, b.Rows(ctx, s.plan, took))
}

// groupsThere is groupsOf over rows on devices, of groups that a device has found. The keys are those of the first row of each group, which
// is gathered. Where the device leaves the groups to others, they are those of rows in host memory.
func (s *planned) groupsThere(ctx context.Context, b backends.Backend, n *plan.Aggregate, took *querystats.Collector, find backends.Finder, states []physical.GroupStates, err error) iter.Seq2[aggregation.GroupRows, error] {
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
				first = append(first, backends.Shifted(of.Rows, starts[of.Chunk])...)
			}
			t.Chunks = make([]*table.Chunk, 1)
			t.Chunks[0], err = s.away.Chunk(ctx, first)
		}
		if err != nil {
			yield(aggregation.GroupRows{}, backends.Explained(b.Name(), err))
			return
		}
		aggregation.GroupStates(ctx, &t, n, states)(yield)
	}
}

// groupsOfStar is groupsOf over a star of joins.
func (s *planned) groupsOfStar(ctx context.Context, b backends.Backend, n *plan.Aggregate, took *querystats.Collector, find backends.Finder) iter.Seq2[aggregation.GroupRows, error] {
	return func(yield func(aggregation.GroupRows, error) bool) {
		now, done, err := s.adapt(ctx, b, took)
		var t *table.Table
		var states []physical.GroupStates
		if err == nil && now.star != nil {
			if states, err = find(ctx, b, s.query(), took); err == nil {
				slices.SortStableFunc(states, func(a, b physical.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
				t, states, err = s.star.Groups(states)
			}
			if plan.IsDeclined(err) {
				s.star.Decline(err)
				s.keepStar() // nor is it built again
				now, done, err = s.withJoin(ctx, b, took)
			}
		}
		if err != nil {
			yield(aggregation.GroupRows{}, backends.Explained(b.Name(), err))
			return
		}
		defer done()
		if now.star == nil {
			now.groupsOf(ctx, backends.OfSlots(b), n, took, find)(yield)
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
		err := x.backend(&opening, func(b backends.Backend) error {
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
