package cpu

import (
	"context"
	"iter"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// takesStates is a state that takes in what a device found of groups.
type takesStates interface {
	state
	take(groups []uint32, from *plan.GroupState)
}

// GroupStates is [Group] over what devices found of the groups: all states of a chunk follow
// one another, and chunks are in order.
func GroupStates(ctx context.Context, t *table.Table, n *plan.Aggregate, list []plan.GroupStates) iter.Seq2[[][]table.Value, error] {
	return func(yield func([][]table.Value, error) bool) {
		newGrouping(t, n).worker().withStates(ctx, list)(yield)
	}
}

// GroupBeside is [Group] over rows that devices have not grouped, and then over what states says that they found of the
// groups of the others.
func GroupBeside(ctx context.Context, t *table.Table, n *plan.Aggregate, in iter.Seq2[table.Block, error], states func() ([]plan.GroupStates, error)) iter.Seq2[[][]table.Value, error] {
	return func(yield func([][]table.Value, error) bool) {
		workers, _, err := newGrouping(t, n).group(ctx, in, false)
		var list []plan.GroupStates
		if err == nil {
			list, err = states()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		merged(workers).withStates(ctx, list)(yield)
	}
}

// withStates are the groups after it has taken in states.
func (w *worker) withStates(ctx context.Context, list []plan.GroupStates) iter.Seq2[[][]table.Value, error] {
	return func(yield func([][]table.Value, error) bool) {
		var err error
		for i := 0; i < len(list) && err == nil; i++ {
			err = w.takeStates(&list[i])
		}
		if err == nil {
			err = w.arrange()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		groupsFound{w}.rows(ctx, w.node.First)(yield)
	}
}

// takeStates takes in the groups of a chunk. Their keys are those of their first rows.
func (w *worker) takeStates(s *plan.GroupStates) error {
	c, b := w.table.Chunks[s.Chunk], table.Block{Chunk: s.Chunk, Rows: s.Rows}
	words, err := w.words(c, b)
	if err != nil {
		return err
	}
	groups := w.groups(words, b)
	w.left += s.Left
	for i, g := range groups { // it may be known by a later row
		w.first[g] = min(w.first[g], placeOf(b, i))
	}
	taken := map[place]bool{}
	for i := range s.Aggs {
		at := w.places[i]
		if taken[at] {
			continue
		}
		taken[at] = true
		st, from := w.states[at.input][at.state], &s.Aggs[i]
		st.resize(len(w.first))
		if to, ok := st.(takesStates); ok {
			to.take(groups, from)
		} else if err := w.takeEnds(st, w.inputs[at.input], c, groups, from); err != nil {
			return err
		}
	}
	return nil
}

// takeEnds adds the smallest and the largest values of groups to their state.
func (w *worker) takeEnds(st state, in *input, c *table.Chunk, groups []uint32, from *plan.GroupState) error {
	var some []uint32 // groups with values
	var rows []uint32
	for i, n := range from.N {
		if n > 0 {
			some, rows = append(some, groups[i]), append(rows, uint32(i))
		}
	}
	column := in.x.(*expr.Column).Index
	of := c.Segments[column]
	for _, codes := range [][]uint32{from.Least, from.Greatest} {
		one := &table.Chunk{Rows: len(codes), Segments: make([]*table.Segment, len(c.Segments))}
		one.Segments[column] = &table.Segment{Type: of.Type, Base: of.Base, Max: of.Max, Bits: of.Bits, Dict: of.Dict, Codes: table.Codes{U32: codes}}
		x, err := w.eval.Vector(in.x, one, table.Block{Rows: rows})
		if err != nil {
			return err
		}
		st.add(some, &x, &Vector{})
	}
	return nil
}

func (s *counts) take(groups []uint32, from *plan.GroupState) {
	for i, g := range groups {
		s.n[g] += from.N[i]
	}
}

func (s *intSums) take(groups []uint32, from *plan.GroupState) {
	s.counts.take(groups, from)
	for i, g := range groups {
		s.larger()[g].addWide(from.High[i], from.Low[i])
	}
}
