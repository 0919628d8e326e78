package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// steps says what the passes of searches and sums have found, given the values of
// the plan's aggregates.
func (t *tracer) steps(values []table.Value) {
	t.searches(values)
	for _, s := range t.trace.Searches {
		s.bounds()
	}
	t.sums()
}

// step notes that pass i is a step of a search, the last one made or that of a pass before.
func (t *tracer) step(i int, s *Search, st Step) {
	st.Pass = i
	s.Steps = append(s.Steps, st)
	t.looks[i].Search, t.looks[i].Step = slices.Index(t.trace.Searches, s), len(s.Steps)-1
}

// searchBits are the bits that a pass of a search counts by, and the bits that it decides first, as backend
// compute does. They are nil where there are none.
func searchBits(op pass.Op) (counts, decides *compute.Bits) {
	switch op := op.(type) {
	case pass.KthLargest:
		return &compute.Bits{High: op.Bit, Low: op.Bit}, nil
	case fused.KthLargest:
		return &compute.Bits{High: op.Low + op.Bits - 1, Low: op.Low}, nil
	case compute.Digits:
		return &op.Bits, nil
	case compute.Decide:
		return &op.Next, &op.Bits
	}
	return nil, nil
}

// searches finds the k-th searches. A pass that counts for several aggregates is a step of the first one's
// search. Backend compute ends that search by passes for each aggregate alone. The other backends run a
// search from the top bit down again for each of them.
func (t *tracer) searches(values []table.Value) {
	type search struct {
		*Search
		high int   // bit
		last *look // pass
	}
	current, begun := map[int]search{}, map[int]bool{}
	for i, l := range t.looks {
		counts, decides := searchBits(l.pass.Op)
		aggs := slices.DeleteFunc(slices.Clone(l.pass.Part.Aggs), func(agg int) bool { return agg >= len(values) || values[agg].Null }) // rows have no values
		if counts == nil || len(aggs) == 0 {
			continue
		}
		s, ok := current[aggs[0]]
		if !ok || decides == nil && (counts.High > s.high || counts.High == s.high && !s.last.before(l)) {
			n := slices.IndexFunc(aggs, func(agg int) bool { return !begun[agg] })
			if s.Search = nil; n >= 0 {
				begun[aggs[n]] = true
				s.Search = t.newSearch(aggs[n], values[aggs[n]])
			}
		}
		s.high, s.last = counts.High, l
		if current[aggs[0]] = s; s.Search == nil {
			continue
		}
		switch l.pass.Op.(type) {
		case compute.Digits, compute.Decide:
			if !ok {
				t.fail(s.constant(t.plan))
			}
			t.step(i, s.Search, t.digits(i, s.Search))
		default:
			tried := s.try(counts.High, counts.Low)
			t.step(i, s.Search, Step{high: counts.High, low: counts.Low, Tried: tried})
			if counts.High > counts.Low {
				l.Results = s.reached(l, tried, t.segment(l, s.agg.Col))
			}
		}
	}
}

// constant finds the bits that backend compute does not count by.
func (s *Search) constant(q *physical.Query) (err error) {
	s.stored, err = compute.SearchedBits(q, s.agg.Col)
	for b := s.Bits - 1; b >= 0; b-- {
		if s.stored>>b&1 == 0 {
			s.Constant = append(s.Constant, b)
		}
	}
	return err
}

// before reports whether another pass goes over a later chunk or window.
func (l *look) before(next *look) bool {
	return next.Chunk > l.Chunk || next.Chunk == l.Chunk && next.pass.Window.From > l.pass.Window.From
}

// digits says which bits a pass of backend compute decides and counts, and the counts
// that it has left in the result.
func (t *tracer) digits(i int, s *Search) Step {
	l := t.looks[i]
	counts, decides := searchBits(l.pass.Op)
	st := Step{high: counts.High, low: counts.Low, Counts: []int{counts.High, counts.Low}}
	var base int
	var rest uint64 // of all, less those of other values than 0
	switch op := l.pass.Op.(type) {
	case compute.Digits:
		base, rest = op.Values, uint64(l.words[op.Values]) // kept in the place of value 0
	case compute.Decide:
		st.Decides = []int{decides.High, decides.Low}
		base, rest = op.To, t.candidates(s, l, op)
	}
	st.Taken = s.bitsOf(*counts)
	size := len(st.Taken)
	for v := 1; v < 1<<size; v++ {
		n := uint64(l.words[base+v])
		st.Digits = append(st.Digits, Digit{fmt.Sprintf("%0*b", size, v), n})
		rest -= min(rest, n)
	}
	if size > 0 && !t.another(i, l) {
		st.Digits = slices.Insert(st.Digits, 0, Digit{strings.Repeat("0", size), rest})
	}
	return st
}

// candidates is how many are left when a pass has decided some bits. The pass before has counted them, at a
// place of the result. For value 0 it is the number of all less the others.
func (t *tracer) candidates(s *Search, l *look, op compute.Decide) uint64 {
	taken, err := strconv.ParseUint(s.bitsOf(op.Bits), 2, 64)
	if err != nil {
		return 0
	}
	if taken > 0 {
		return uint64(l.words[op.From+int(taken)])
	}
	for _, st := range slices.Backward(s.Steps) {
		if slices.Equal(st.Counts, []int{op.Bits.High, op.Bits.Low}) && len(st.Digits) == 1<<op.Size {
			return st.Digits[0].Records
		}
	}
	rest := uint64(l.words[op.From]) // the first digit, counted for several searches
	for v := 1; v < 1<<op.Size; v++ {
		rest -= min(rest, uint64(l.words[op.From+v]))
	}
	return rest
}

// another reports whether pass i is followed by the same pass over another chunk or a later window. The
// counts are those of the table when the last has been counted.
func (t *tracer) another(i int, l *look) bool {
	return slices.ContainsFunc(t.looks[i+1:], func(next *look) bool { return next.pass.Op == l.pass.Op && l.before(next) })
}

// bitsOf writes those bits of the answer's code that are counted by: what is the same in
// all codes is not.
func (s *Search) bitsOf(digit compute.Bits) string {
	text := ""
	for b := digit.High; b >= digit.Low; b-- {
		if s.stored>>b&1 != 0 {
			text += string('0' + byte(s.code>>b&1))
		}
	}
	return text
}
