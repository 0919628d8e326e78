package compute

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Groups aggregates the selected records of each chunk by the query's keys, a slot for each combination of their codes.
func Groups(run pass.Runner, d Profile, q *physical.Query) ([]physical.GroupStates, error) {
	q, err := withBuilds(run, d, q)
	if err != nil {
		return nil, err
	}
	c, err := d.compileGroups(q)
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
	x := &execution{compiled: c, run: run, histograms: map[int]*rankSearch{}}
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
func (x *execution) groups() (list []physical.GroupStates) {
	for _, c := range x.Chunks {
		if c.grouping == nil {
			continue
		}
		for i, p := range c.Pieces {
			g := c.grouping
			words := x.Words[g.place[i]:][:g.Size*g.Words]
			slots := g.firstRows(words)
			list = append(list, g.States(x.Q.ChunkID(c.Index), p.From, words, slots, slots))
		}
	}
	return list
}

// firstRows are the slots with records, in the order of their first rows.
func (g *Grouping) firstRows(words []uint32) []uint32 {
	var mu sync.Mutex
	var order []uint64 // first rows and slots
	table.InParts(len(words)/g.Words, func(lo, hi int) {
		var part []uint64
		for slot := lo; slot < hi; slot++ {
			if w := words[slot*g.Words:]; w[Records] > 0 {
				part = append(part, uint64(^w[firstRow])<<32|uint64(slot))
			}
		}
		mu.Lock()
		order = append(order, part...)
		mu.Unlock()
	})
	slices.Sort(order)
	out := make([]uint32, len(order))
	for i, o := range order {
		out[i] = uint32(o)
	}
	return out
}

// States reads the groups of a window that have some slots, from these places among the words.
func (g *Grouping) States(chunk, from int, words []uint32, places, slots []uint32) physical.GroupStates {
	n := len(slots)
	out := physical.GroupStates{Chunk: chunk, Rows: make([]uint32, n), N: make([]uint64, n), Aggs: make([]physical.GroupState, len(g.parts)), Distinct: true}
	for i, p := range g.parts {
		out.Aggs[i] = g.room(p, n)
	}
	for _, d := range g.numbers {
		var list []uint32
		if d.size > 0 {
			list = make([]uint32, n)
		}
		out.Numbers = append(out.Numbers, list)
	}
	table.InParts(n, func(lo, hi int) {
		for i, place := range places[lo:hi] {
			w := words[int(place)*g.Words:]
			out.Rows[lo+i], out.N[lo+i] = uint32(from)+^w[firstRow], uint64(w[Records])
		}
		for k, d := range g.numbers {
			for i := lo; i < hi && d.size > 0; i++ {
				out.Numbers[k][i] = slots[i] / uint32(d.factor) % uint32(d.size)
				if d.of != nil {
					out.Numbers[k][i] = d.of.slot(out.Numbers[k][i])
				}
			}
		}
		for i, p := range g.parts {
			g.state(p, words, places, lo, hi, &out.Aggs[i])
		}
	})
	return out
}

// room is an aggregate's state of so many groups.
func (g *Grouping) room(p groupPart, n int) (s physical.GroupState) {
	s.N, s.High, s.Low = make([]uint64, n), make([]int64, n), make([]int64, n)
	if p.ExtremeColumn >= 0 {
		s.Extremes = make([]uint32, n)
	}
	return s
}

// state reads what an aggregate needs of the groups lo to hi-1.
func (g *Grouping) state(p groupPart, words, places []uint32, lo, hi int, s *physical.GroupState) {
	if p.none {
		return
	}
	for i := lo; i < hi; i++ {
		w := words[int(places[i])*g.Words:]
		s.N[i] = uint64(w[p.n])
		if p.ExtremeColumn >= 0 && p.end >= 0 {
			if s.Extremes[i] = w[g.Values[p.end].At]; !p.Largest {
				s.Extremes[i] = ^s.Extremes[i]
			}
		}
	}
	for k, term := range p.Sum.Terms {
		at, coef := p.terms[k], term.Coef.Int64()
		switch at {
		case ofZeros:
		case ofRecords:
			for i := lo; i < hi; i++ {
				s.Add(i, s.N[i], coef)
			}
		default:
			v := g.Values[at]
			for i := lo; i < hi; i++ {
				var part [3]uint32
				copy(part[:], words[int(places[i])*g.Words+v.At:][:v.Size])
				s.Add(i, uint64(part[0])|uint64(part[1])<<32, coef)
				s.High[i] += int64(part[2]) * coef
			}
		}
	}
}
