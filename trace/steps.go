package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// steps says what the passes of searches and sums have found, given the values of
// the plan's aggregates.
func (t *tracer) steps(values []table.Value) {
	t.bitSearches(values)
	t.digitSearches(values)
	for _, s := range t.trace.Searches {
		s.known()
	}
	t.sums()
}

// step notes that pass i is a step of a search, the last one made or that of a pass before.
func (t *tracer) step(i int, s *Search, st Step) {
	st.Pass = i
	s.Steps = append(s.Steps, st)
	t.looks[i].Search, t.looks[i].Step = slices.Index(t.trace.Searches, s), len(s.Steps)-1
}

// searched finds the bits that a pass of a search bit by bit counts for.
func searched(op pass.Op) (high, low int, ok bool) {
	switch op := op.(type) {
	case pass.KthLargest:
		return op.Bit, op.Bit, true
	case fused.KthLargest:
		return op.Low + op.Bits - 1, op.Low, true
	}
	return 0, 0, false
}

// bitSearches finds those of backends classic and fused: one after the other, each from
// the top bit down. Where a search serves several aggregates, it is run for each.
func (t *tracer) bitSearches(values []table.Value) {
	var current *Search
	begun := map[int]bool{}
	lastHigh, lastChunk, lastAgg := 0, 0, -1
	for i, l := range t.looks {
		high, low, ok := searched(l.pass.Op)
		aggs := l.pass.Part.Aggs
		if !ok || len(aggs) == 0 {
			continue
		}
		if goesOn := aggs[0] == lastAgg && (high < lastHigh || high == lastHigh && lastChunk < l.Chunk); !goesOn {
			current = nil
			if n := slices.IndexFunc(aggs, func(agg int) bool { return !begun[agg] && !values[agg].Null }); n >= 0 {
				begun[aggs[n]] = true
				current = t.newSearch(aggs[n], values[aggs[n]])
			}
		}
		lastHigh, lastChunk, lastAgg = high, l.Chunk, aggs[0]
		if current == nil {
			continue
		}
		tried := current.try(high, low)
		t.step(i, current, Step{high: high, Tried: tried})
		if high > low {
			l.Results = current.reached(l, tried, t.segment(l, current.agg.Col))
		}
	}
}

// digitSearches finds those of backend compute that go digit by digit. The first pass
// counts for all aggregates of the column.
func (t *tracer) digitSearches(values []table.Value) {
	begun := map[int]*Search{}
	for i, l := range t.looks {
		aggs := l.pass.Part.Aggs
		counts, _ := digits(l.pass.Op)
		n := slices.IndexFunc(aggs, func(agg int) bool { return !values[agg].Null })
		if counts == nil || n < 0 {
			continue
		}
		s, ok := begun[aggs[n]]
		if !ok {
			stored, err := compute.SearchedBits(t.plan, t.plan.Aggs[aggs[n]].Col)
			if err != nil {
				continue
			}
			s = t.newSearch(aggs[n], values[aggs[n]])
			s.stored = stored
			for b := s.Bits - 1; b >= 0; b-- {
				if stored>>b&1 == 0 {
					s.Constant = append(s.Constant, b)
				}
			}
			begun[aggs[n]] = s
		}
		t.step(i, s, t.digits(i, s))
	}
}

// digits are the bits that a pass of backend compute counts by, and those that it
// decides; nil where there are none.
func digits(op pass.Op) (counts, decides *compute.Bits) {
	switch op := op.(type) {
	case compute.Digits:
		return &op.Bits, nil
	case compute.Decide:
		return &op.Next, &op.Bits
	}
	return nil, nil
}

// digits says which bits a pass of backend compute decides and counts, and the counts
// that it has left in the result.
func (t *tracer) digits(i int, s *Search) Step {
	l := t.looks[i]
	counts, decides := digits(l.pass.Op)
	st := Step{high: counts.High, Counts: []int{counts.High, counts.Low}}
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

// candidates is how many there are left when a pass has decided some bits: the pass
// before has counted them, at a place of the result, but for value 0, whose number is
// that of all less the others.
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

// another reports whether pass i is followed by the same over another chunk or a later
// window: the counts are those of the table when the last has been counted.
func (t *tracer) another(i int, l *look) bool {
	return slices.ContainsFunc(t.looks[i+1:], func(next *look) bool {
		return next.pass.Op == l.pass.Op && (next.Chunk != l.Chunk || next.pass.Window.From > l.pass.Window.From)
	})
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
