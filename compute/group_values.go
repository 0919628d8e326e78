package compute

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
)

// PickedGroups picks all groups of slots that are not empty; ok is false where the query's groups have no slots.
func PickedGroups(run pass.Runner, d Profile, q *physical.Query) (list []physical.GroupStates, ok bool, err error) {
	if q.Bound == nil || d.SortsGroups(q) {
		return nil, false, nil
	}
	c, err := compile(d, q)
	if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	p := c.picking(run)
	if p == nil || p.Size*p.Words > mostSlotWords {
		return nil, false, nil
	}
	return p.groups(c)
}

// mostSlotWords is how many words of states a chunk has slots for where all groups are wanted. They are a block of the device, and not
// too many windows.
const mostSlotWords = 1 << 27

// SortsGroups reports whether the keys of a chunk have so many combinations of codes that a sort finds the groups.
func (d Profile) SortsGroups(q *physical.Query) bool {
	if d.SortGroups == 0 || len(q.Star) > 0 { // the keys of joined tables are in no planes
		return false
	}
	for i := range q.Table.Chunks {
		keys, err := q.GroupKeys(i)
		slots := 1
		for _, k := range keys {
			slots *= k.Size
		}
		if err != nil || q.Bound == nil && slots >= d.SortGroups {
			return true
		}
	}
	return false
}

// UpTo is the numbers below n.
func UpTo(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// RecordValues lists what the aggregates of g need of each record: for each window and value vectors of words, by their rows. The first
// two values of a state, its first row and how many there are, need none.
func (x *ChunkWork) RecordValues(run pass.Runner, g *Grouping) ([][][]primitives.Vector, error) {
	c, w := x.Compiler, NewWriter(x)
	c.Begin()
	t := &groupText{Writer: w, Grouping: g, read: map[string]bool{}}
	if err := t.states(); err != nil {
		return nil, err
	}
	out := make([][][]primitives.Vector, len(x.Pieces))
	for j := range out {
		out[j] = make([][]primitives.Vector, len(g.Values))
	}
	body := w.body.String() + t.body.String()
	batches, err := g.batches(x.Device.BlockLimit() - 1 - len(w.Slots))
	if err != nil {
		return nil, err
	}
	for _, batch := range batches {
		one := &Writer{X: x, Slots: slices.Clone(w.Slots), reads: slices.Clone(w.reads), at: maps.Clone(w.at), args: w.args}
		text := body
		for _, i := range batch {
			for _, word := range g.Values[i].words {
				m := &Marks{}
				for j, p := range x.Pieces {
					v := primitives.New(128 * p.units())
					m.Blocks, out[j][i] = append(m.Blocks, v.Block), append(out[j][i], v.First(p.Rows))
				}
				text += fmt.Sprintf("    %s[quad] = %s;\n", one.Block(Source{Marks: m}, "uvec4", "writeonly"), word)
			}
		}
		k := &Code{Name: "group_values.comp", Files: []string{"units.glsl", "codes.glsl"}, after: []string{"group_values.comp"}, Slots: one.Slots, steps: 32 * 5,
			Device: x.Device.forGroups(), PerUnit: groupGroups, Text: fmt.Sprintf("void list(uint unit, uint i) {\n    uint quad = quadOf(unit, i);\n%s}\n", text)}
		k.Defines, k.each = k.Device.defines(), k.Text
		x.Stage(one.Kernels(k, primitives.Op{Verb: fmt.Sprintf("Values(%d of %d)", len(batch), len(g.Values)-ValuesOfAll), Over: "what the aggregates need of each record, in the order of the table"})...)
	}
	c.Flush()
	_, err = c.Dispatch(run)
	return out, err
}

// batches cuts the values of a state, but for those of all states, into parts that take up to so many blocks.
func (g *Grouping) batches(blocks int) (list [][]int, err error) {
	room := 0
	for i, v := range g.Values {
		n := len(v.words)
		switch {
		case i < ValuesOfAll:
			continue
		case n > blocks:
			return nil, &plan.Declined{Why: "the device has too few storage blocks in a compute program for the groups"}
		case n > room:
			list, room = append(list, nil), blocks
		}
		list[len(list)-1], room = append(list[len(list)-1], i), room-n
	}
	return list, nil
}

// ValuesOfAll is how many values all states have: the first row and the number of records.
const ValuesOfAll = 2

// RunChecks runs the checks of a query alone.
func RunChecks(run pass.Runner, d Profile, q *physical.Query) error {
	for _, c := range q.Chunks {
		if len(c.Checks) == 0 {
			continue
		}
		alone := *q
		alone.Groups = nil
		c, err := compile(d, &alone)
		if err != nil {
			return err
		}
		return (&execution{compiled: c, run: run, histograms: map[int]*rankSearch{}}).Check()
	}
	return nil
}
