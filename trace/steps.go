package trace

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
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
	t.rounds(values)
	for _, s := range t.trace.Searches {
		if !s.rounds {
			s.known()
		}
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
					current = t.begin(t.newSearch(agg, values[agg], -1))
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

// digitSearches finds those of backend compute that go digit by digit. Each is in one
// chunk: the one that has all values, or each one for MIN and MAX. The first pass counts
// for all aggregates of the column.
func (t *tracer) digitSearches(values []table.Value) {
	type place struct{ agg, chunk int }
	begun := map[place]*Search{}
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
		at := place{agg, l.Chunk}
		s, ok := begun[at]
		if !ok {
			v, chunk, found := values[agg], -1, true
			if len(t.plan.Table.Chunks) > 1 {
				chunk = l.Chunk
				v, found = t.ofChunk(t.plan.Aggs[agg], chunk, v)
			}
			if !found {
				continue
			}
			s = t.begin(t.newSearch(agg, v, chunk))
			s.Constant = constantBits(t.segment(l, s.agg.Col), s.Bits)
			begun[at] = s
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

// constantBits lists those of the lowest n, from the highest down, that are not stored.
func constantBits(seg *table.Segment, n int) (list []int) {
	for b := n - 1; b >= 0; b-- {
		if seg.Varying()>>b&1 == 0 {
			list = append(list, b)
		}
	}
	return list
}

// ofChunk is the value at which the search of a chunk ends, given the answer's: of MIN
// and MAX that of the chunk's own selected values. ok is false where it has none.
func (t *tracer) ofChunk(a expr.Aggregate, chunk int, answer table.Value) (v table.Value, ok bool) {
	if a.Kind != expr.Min && a.Kind != expr.Max {
		return answer, true
	}
	seg, selected := t.plan.Table.Chunks[chunk].Segments[a.Col], t.selection(chunk)
	var best uint64
	for row := range seg.Rows() {
		if !selected.Get(row) || seg.IsNull(row) {
			continue
		}
		if c := seg.Codes.At(row); !ok || (c > best) == (a.Kind == expr.Max) {
			best, ok = c, true
		}
	}
	if !ok {
		return v, false
	}
	return seg.Decode(best), true
}

// rounds finds those of backend compute that go over several chunks: a pass counts a
// chunk's values below a threshold, of which a round has several. Which ones follow
// from the answer: it is at or above a threshold, or below it.
func (t *tracer) rounds(values []table.Value) {
	for i, v := range values {
		var passes []int
		for j, l := range t.looks {
			if _, ok := l.pass.Op.(compute.Below); ok && !v.Null && slices.Contains(l.pass.Part.Aggs, i) {
				passes = append(passes, j)
			}
		}
		if len(passes) > 0 {
			t.round(t.begin(t.newSearch(i, v, -1)), passes)
		}
	}
}

// round notes the passes of a search in rounds. A threshold is decided when its last
// pass is over, and with it those that need no pass.
func (t *tracer) round(s *Search, passes []int) {
	s.rounds = true
	thresholds := s.thresholds(t.plan.Table.Rows())
	at := map[uint64]int{}
	for i, code := range thresholds {
		at[code] = i
	}
	code := func(i int) uint64 { return t.looks[i].pass.Op.(compute.Below).Code }
	for _, i := range passes {
		t.step(i, s, 0)
		l := t.looks[i]
		s.mark(&s.Steps[len(s.Steps)-1], code(i))
		n, _ := l.counts()
		l.Results = []string{fmt.Sprintf("%s below %v", numbers.Count(n, "record is", "records are"), s.space.Value(code(i)))}
	}
	open := len(thresholds) // the first that a later pass counts
	for j := len(passes) - 1; j >= 0; j-- {
		first, last := s.within(thresholds[:open])
		s.narrow(&s.Steps[j], first, last, bits.Len64(first^last))
		open = min(open, at[code(passes[j])])
	}
}

// thresholds lists those of all rounds of a search, in order.
func (s *Search) thresholds(rows int) []uint64 {
	var list []uint64
	for first, last := s.within(nil); first < last; first, last = s.within(list) {
		list = append(list, compute.Thresholds(first, last, rows)...)
	}
	return list
}

// within returns the codes that the answer may have when it is known to be at or above
// each threshold, or below.
func (s *Search) within(thresholds []uint64) (first, last uint64) {
	last = s.space.Max()
	for _, t := range thresholds {
		if t <= s.code {
			first = max(first, t)
		} else {
			last = min(last, t-1)
		}
	}
	return first, last
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
	taken := s.bitsOf(t, l, st.Counts)
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
	if !t.anotherWindow(i, l) {
		list = append([]Digit{{strings.Repeat("0", size), rest}}, list...)
	}
	st.Digits = list
}

// candidates is how many there are left when a pass has decided some bits: the pass
// before has counted them, at a place of the result, but for value 0, whose number is
// that of all less the others.
func (t *tracer) candidates(s *Search, l *look, decides []int, from, size int) uint64 {
	taken, err := strconv.ParseUint(s.bitsOf(t, l, decides), 2, 64)
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

// anotherWindow reports whether pass i is followed by the same over a later window: the
// counts are those of a chunk when its last window has been counted.
func (t *tracer) anotherWindow(i int, l *look) bool {
	return slices.ContainsFunc(t.looks[i+1:], func(next *look) bool {
		return next.pass.Op == l.pass.Op && next.Chunk == l.Chunk && next.pass.Window.From > l.pass.Window.From
	})
}

// bitsOf writes the bits of the answer's code from a highest to a lowest one that are
// stored: those that are the same in all codes of the chunk are not.
func (s *Search) bitsOf(t *tracer, l *look, digit []int) string {
	text, stored := "", t.segment(l, s.agg.Col).Varying()
	for b := digit[0]; b >= digit[1]; b-- {
		if stored>>b&1 != 0 {
			text += string('0' + byte(s.code>>b&1))
		}
	}
	return text
}
