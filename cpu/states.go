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
		g := newGrouping(t, n)
		w := g.worker()
		for i := range list {
			if err := w.takeStates(&list[i]); err != nil {
				yield(nil, err)
				return
			}
		}
		if err := w.arrange(); err != nil {
			yield(nil, err)
			return
		}
		groupsFound{w}.rows(ctx, n.First)(yield)
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
