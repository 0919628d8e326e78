package aggregation

import (
	"context"
	"iter"
	"slices"

	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// takesStates is a state that takes in what a device found of groups.
type takesStates interface {
	State
	take(groups []uint32, from *physical.GroupState)
}

// GroupStates is [Group] over what devices found of the groups: all states of a chunk follow
// one another, and chunks are in order.
func GroupStates(ctx context.Context, t *table.Table, n *plan.Aggregate, list []physical.GroupStates) iter.Seq2[GroupRows, error] {
	return func(yield func(GroupRows, error) bool) {
		newGrouping(t, n).worker().withStates(ctx, list)(yield)
	}
}

// GroupBeside is [Group] over rows that devices have not grouped, and then over what states says that they found of the
// groups of the others.
func GroupBeside(ctx context.Context, t *table.Table, n *plan.Aggregate, in iter.Seq2[table.Block, error], states func() ([]physical.GroupStates, error)) iter.Seq2[GroupRows, error] {
	return func(yield func(GroupRows, error) bool) {
		workers, _, err := newGrouping(t, n).group(ctx, in, false)
		var list []physical.GroupStates
		if err == nil {
			list, err = states()
		}
		if err != nil {
			yield(GroupRows{}, err)
			return
		}
		merged(workers).withStates(ctx, list)(yield)
	}
}

// withStates are the groups after it has taken in states.
func (w *worker) withStates(ctx context.Context, list []physical.GroupStates) iter.Seq2[GroupRows, error] {
	return func(yield func(GroupRows, error) bool) {
		err := w.takeAllStates(list)
		if err == nil {
			err = w.arrange()
		}
		if err != nil {
			yield(GroupRows{}, err)
			return
		}
		groupsFound{w}.rows(ctx, w.node.TopN)(yield)
	}
}

// takeAllStates takes in states. What is found is not ready to be read.
func (w *worker) takeAllStates(list []physical.GroupStates) error {
	if _, ok := w.onlyDistinct(); ok {
		parts := xslices.Map(list, func(s physical.GroupStates) *physical.DistinctCodes { return s.Aggs[0].Codes })
		w.states[0][0].(*counts).n = []uint64{uint64(physical.CountDistinctCodes(parts))}
		return nil
	}
	for i := range list {
		if err := w.takeStates(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// takeStates takes in the groups of a chunk. Their keys are those of their first rows.
func (w *worker) takeStates(s *physical.GroupStates) error {
	c, b := w.table.Chunks[s.Chunk], table.Block{Chunk: s.Chunk, Rows: s.Rows}
	groups, err := w.groupsOfStates(s, c, b)
	if err != nil {
		return err
	}
	w.left += s.Omitted
	taken := map[place]bool{}
	for i := range s.Aggs {
		at := w.places[i]
		st, from := w.states[at.input][at.state], &s.Aggs[i]
		st.Resize(len(w.first))
		switch to, ok := st.(takesStates); {
		case !ok: // of the smallest and of the largest value: each says its own
			if err := w.takeEnds(st, w.inputs[at.input], c, groups, from); err != nil {
				return err
			}
		case !taken[at]:
			taken[at] = true
			to.take(groups, from)
		}
	}
	return nil
}

// groupsOfStates are the groups of a chunk's states.
func (w *worker) groupsOfStates(s *physical.GroupStates, c *table.Chunk, b table.Block) ([]uint32, error) {
	if s.Distinct && len(w.first) == 0 && w.direct == nil && w.keys.deterministic() { // all are new
		w.ids.Words, w.first = w.keys.directWords(c, b), make([]uint64, b.Len())
		for i := range w.first {
			w.first[i] = placeOf(b, i)
		}
		return radixsort.UpTo[uint32](b.Len()), nil
	}
	words, err := w.words(c, b)
	if err != nil {
		return nil, err
	}
	groups := w.groups(words, b)
	for i, g := range groups { // it may be known by a later row
		w.first[g] = min(w.first[g], placeOf(b, i))
	}
	return groups, nil
}

// takeEnds adds the smallest or the largest values of groups to their state.
func (w *worker) takeEnds(st State, in *input, c *table.Chunk, groups []uint32, from *physical.GroupState) error {
	b := table.Block{N: len(groups)}
	if slices.Contains(from.N, 0) {
		var some []uint32 // groups with values
		b.Rows = []uint32{}
		for i, n := range from.N {
			if n > 0 {
				some, b.Rows = append(some, groups[i]), append(b.Rows, uint32(i))
			}
		}
		groups = some
	}
	column := in.x.(*expr.Column).Index
	of := c.Segments[column]
	one := &table.Chunk{Rows: len(from.Extremes), Segments: make([]*table.Segment, len(c.Segments))}
	one.Segments[column] = &table.Segment{Type: of.Type, Base: of.Base, Max: of.Max, Bits: of.Bits, Dict: of.Dict, Spans: of.Spans, Codes: table.Codes{U32: from.Extremes}}
	x, err := w.eval.Vector(in.x, one, b)
	if err == nil {
		st.Add(groups, &x, &expr.Vector{})
	}
	return err
}

func (s *counts) take(groups []uint32, from *physical.GroupState) {
	for i, g := range groups {
		s.n[g] += from.N[i]
	}
}

func (s *intSums) take(groups []uint32, from *physical.GroupState) {
	s.counts.take(groups, from)
	most, wide := uint64(0), int64(0)
	for i, v := range from.Low {
		most |= uint64(v ^ v>>63)
		wide |= from.High[i] ^ v>>63
	}
	if most++; wide == 0 && most < MostReach && s.reach+most <= MostReach {
		s.reach += most
		for i, g := range groups {
			s.small[g] += from.Low[i]
		}
		return
	}
	for i, g := range groups {
		s.larger()[g].AddInt128(from.High[i], from.Low[i])
	}
}
