package compute

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// Groups aggregates the selected records of each chunk by the query's keys.
func Groups(run pass.Runner, d Device, q *plan.Query) ([]plan.GroupStates, error) {
	if d.sortsGroups(q) {
		return sortedGroups(run, d, q)
	}
	c, err := d.compile(q)
	if err != nil {
		return nil, err
	}
	if p := c.picking(run); p != nil {
		if list, ok, err := p.groups(c); ok || err != nil {
			return list, err
		}
	}
	if c.words > mostGroupWords {
		return nil, tooManyWords(c.words)
	}
	x := &execution{compiled: c, run: run, histograms: map[int]*histogram{}}
	if err := x.Check(); err != nil {
		return nil, err
	}
	return x.groups(), nil
}

// tooManyWords says that the states of groups are too large to be read back, or for the device.
func tooManyWords(words int) error {
	return &plan.Declined{Why: fmt.Sprintf("the groups take %d MB, more than one storage block is to have", 4*int64(words)>>20)}
}

// groups are those of the windows.
func (x *execution) groups() (list []plan.GroupStates) {
	for _, c := range x.chunks {
		if c.grouping == nil {
			continue
		}
		for i, p := range c.pieces {
			g := c.grouping
			words := x.words[g.place[i]:][:g.size*g.words]
			list = append(list, g.states(x.q.Place(c.index), p.From, words))
		}
	}
	return list
}

// states reads the groups of a window from their slots.
func (g *grouping) states(chunk, from int, words []uint32) plan.GroupStates {
	out := plan.GroupStates{Chunk: chunk}
	each := g.words
	var order []uint64 // first rows and slots
	for slot := range len(words) / each {
		if w := words[slot*each:]; w[records] > 0 {
			order = append(order, uint64(^w[firstRow])<<32|uint64(slot))
		}
	}
	slices.Sort(order)
	slots := make([][]uint32, len(order))
	for i, o := range order {
		slots[i] = words[int(uint32(o))*each:][:each]
	}
	out.Rows, out.N = make([]uint32, 0, len(slots)), make([]uint64, 0, len(slots))
	for _, w := range slots {
		out.Rows = append(out.Rows, uint32(from)+^w[firstRow])
		out.N = append(out.N, uint64(w[records]))
	}
	for _, p := range g.parts {
		out.Aggs = append(out.Aggs, g.state(p, slots))
	}
	return out
}

// state reads what an aggregate needs of the groups.
func (g *grouping) state(p groupPart, slots [][]uint32) (s plan.GroupState) {
	n := len(slots)
	s.N = make([]uint64, n)
	if p.Ends >= 0 {
		s.Least, s.Greatest = make([]uint32, n), make([]uint32, n)
	}
	s.High, s.Low = make([]int64, n), make([]int64, n)
	if p.none {
		return s
	}
	for i, w := range slots {
		s.N[i] = uint64(w[p.n])
		if p.Ends >= 0 && p.ends[0] >= 0 {
			s.Least[i], s.Greatest[i] = ^w[g.values[p.ends[0]].at], w[g.values[p.ends[1]].at]
		}
	}
	for k, term := range p.Sum.Terms {
		at, coef := p.terms[k], term.Coef.Int64()
		switch at {
		case ofZeros:
		case ofRecords:
			for i, n := range s.N {
				s.Add(i, n, coef)
			}
		default:
			v := g.values[at]
			for i, w := range slots {
				var words [3]uint32
				copy(words[:], w[v.at:][:v.size])
				s.Add(i, uint64(words[0])|uint64(words[1])<<32, coef)
				s.High[i] += int64(words[2]) * coef
			}
		}
	}
	return s
}
