package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/internal/numbers"
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
	for i, l := range t.looks {
		switch op := l.pass.Op.(type) {
		case pass.TestBit:
			t.addBit(i, l, op.Col, op.Bit)
		case fused.Sum:
			t.addSum(i, l, op.Col)
		case compute.Accumulate:
			t.addSum(i, l, op.Col)
		}
	}
	for _, s := range t.trace.Sums {
		t.finish(s)
	}
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
		if !ok || len(l.pass.Part.Aggs) == 0 {
			continue
		}
		goesOn := l.pass.Part.Aggs[0] == lastAgg && (high < lastHigh || high == lastHigh && lastChunk < l.Chunk)
		if !goesOn {
			current = nil
			for _, agg := range l.pass.Part.Aggs {
				if current == nil && !begun[agg] && !values[agg].Null {
					begun[agg] = true
					current = t.begin(t.newSearch(agg, values[agg]))
				}
			}
		}
		lastHigh, lastChunk, lastAgg = high, l.Chunk, l.pass.Part.Aggs[0]
		if current == nil {
			continue
		}
		t.step(i, current, high)
		current.try(high, low)
		if high > low {
			l.Results = current.reached(l, t.segment(l, current.agg.Col))
		}
	}
}

// reached says how many records of the chunk reach each tentative value of the last
// step, a reduction. The program counts only for values that the chunk has codes for.
func (s *Search) reached(l *look, seg *table.Segment) []string {
	list := []string{}
	for i, m := range s.Steps[len(s.Steps)-1].Tried {
		n := uint64(0)
		if _, ok := s.space.Local(seg, m.Code); ok {
			n = l.counted[i]
		}
		list = append(list, fmt.Sprintf("%s %s", numbers.Count(n, "record reaches", "records reach"), m.Value))
	}
	return list
}

// digitSearches finds those of backend compute that go digit by digit. The first pass
// counts for all aggregates of the column.
func (t *tracer) digitSearches(values []table.Value) {
	begun := map[int]*Search{}
	for i, l := range t.looks {
		count, _ := digits(l.pass.Op)
		agg := -1
		for _, a := range l.pass.Part.Aggs {
			if agg < 0 && !values[a].Null {
				agg = a
			}
		}
		if count == nil || agg < 0 {
			continue
		}
		s, ok := begun[agg]
		if !ok {
			s = t.newSearch(agg, values[agg])
			var err error
			if s.stored, err = compute.SearchedBits(t.plan, s.agg.Col); err != nil {
				continue
			}
			t.begin(s)
			for b := s.Bits - 1; b >= 0; b-- {
				if s.stored>>b&1 == 0 {
					s.Constant = append(s.Constant, b)
				}
			}
			begun[agg] = s
		}
		t.step(i, s, count.High)
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

// digits notes which bits a pass of backend compute decides and counts, and the counts
// that it has left in the result.
func (t *tracer) digits(i int, s *Search, st *Step) {
	l := t.looks[i]
	counts, decides := digits(l.pass.Op)
	if counts == nil || l.words == nil {
		return
	}
	st.Counts = []int{counts.High, counts.Low}
	var base int
	var total uint64
	switch op := l.pass.Op.(type) {
	case compute.Digits:
		base = op.Values
		total = uint64(l.words[base]) // kept in the place of value 0
	case compute.Decide:
		st.Decides = []int{decides.High, decides.Low}
		base = op.To
		total = t.candidates(s, l, st.Decides, op.From, op.Size)
	}
	taken := s.bitsOf(st.Counts)
	size := len(taken)
	if size == 0 {
		return
	}
	st.Taken = taken
	rest := total
	var list []Digit
	for v := 1; v < 1<<size; v++ {
		n := uint64(l.words[base+v])
		list = append(list, Digit{fmt.Sprintf("%0*b", size, v), n})
		rest -= min(rest, n)
	}
	if !t.another(i, l) {
		list = append([]Digit{{strings.Repeat("0", size), rest}}, list...)
	}
	st.Digits = list
}

// candidates is how many there are left when a pass has decided some bits: the pass
// before has counted them, at a place of the result, but for value 0, whose number is
// that of all less the others.
func (t *tracer) candidates(s *Search, l *look, decides []int, from, size int) uint64 {
	taken, err := strconv.ParseUint(s.bitsOf(decides), 2, 64)
	if err != nil {
		return 0
	}
	if taken > 0 {
		return uint64(l.words[from+int(taken)])
	}
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if d := s.Steps[i].Digits; slices.Equal(s.Steps[i].Counts, decides) && len(d) == 1<<size {
			return d[0].Records
		}
	}
	rest := uint64(l.words[from]) // the first digit, counted for several searches
	for v := 1; v < 1<<size; v++ {
		rest -= min(rest, uint64(l.words[from+v]))
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

// bitsOf writes the bits of the answer's code from a highest to a lowest one that are
// counted by: those that are the same in all codes are not.
func (s *Search) bitsOf(digit []int) string {
	text := ""
	for b := digit[0]; b >= digit[1]; b-- {
		if s.stored>>b&1 != 0 {
			text += string('0' + byte(s.code>>b&1))
		}
	}
	return text
}
