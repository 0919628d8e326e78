package trace

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// steps says what the passes of searches and sums have found, given the values of
// the plan's aggregates.
func (t *tracer) steps(values []table.Value) {
	t.searches(values)
	for i, l := range t.looks {
		if col, bit, ok := testedBit(l); ok {
			t.addBit(i, l, col, bit)
		} else if col, ok := t.summed(l); ok {
			t.addSum(i, l, col)
		}
	}
	for _, s := range t.trace.Sums {
		t.finish(s)
	}
}

var (
	classicSearch = regexp.MustCompile(`^Kth(?:Largest|Smallest) bit (\d+): Compare\(`)
	fusedSearch   = regexp.MustCompile(`^KthLargest\(.*\) bit (?:(\d+), )?(\d+)$`)
)

// ranked reports whether an aggregate is found by a k-th search.
func ranked(a expr.Aggregate) bool {
	switch a.Kind {
	case expr.Min, expr.Max, expr.Percentile, expr.KthLargest, expr.KthSmallest:
		return true
	}
	return false
}

// searches finds the passes of k-th searches.
func (t *tracer) searches(values []table.Value) {
	aggs := map[int][]int{} // by column
	for i, a := range t.plan.Aggs {
		if ranked(a) && !values[i].Null {
			aggs[a.Col] = append(aggs[a.Col], i)
		}
	}
	if slices.ContainsFunc(t.looks, func(l *look) bool { return l.pass.Dispatch != nil }) {
		t.digitSearches(aggs, values)
		t.rounds(values)
	} else {
		t.bitSearches(aggs, values)
	}
	for _, s := range t.trace.Searches {
		if !s.rounds {
			s.known()
		}
	}
}

// bitSearches finds those of backends classic and fused. The searches in a column
// follow the order of the aggregates; one that needs no pass is passed over.
func (t *tracer) bitSearches(waiting map[int][]int, values []table.Value) {
	var current *Search
	lastHigh, lastChunk := 0, 0
	extreme := "" // Max or Min of a column, if that was the last
	for i, l := range t.looks {
		if routine, col, ok := t.extreme(l, waiting); ok {
			if routine != extreme || l.Chunk <= lastChunk {
				waiting[col] = waiting[col][min(1, len(waiting[col])):]
			}
			extreme, lastChunk, current = routine, l.Chunk, nil
			continue
		}
		col, high, low, ok := t.bitSearch(l)
		if !ok {
			continue
		}
		goesOn := current != nil && current.agg.Col == col && (high < lastHigh || high == lastHigh && lastChunk < l.Chunk)
		if !goesOn || !current.compares(l, high) {
			current = nil
		}
		for current == nil && len(waiting[col]) > 0 {
			agg := waiting[col][0]
			waiting[col] = waiting[col][1:]
			if s := t.newSearch(agg, values[agg], -1); s.compares(l, high) {
				current = t.begin(s)
			}
		}
		if current == nil {
			continue
		}
		extreme, lastHigh, lastChunk = "", high, l.Chunk
		t.step(i, current, high)
		current.try(high, low)
		if high > low {
			l.Results = current.reached(l, t.segment(l, current.agg.Col))
		}
	}
}

// compares reports whether a pass compares with the value that a search on backend
// classic tries for a bit; others do not say, nor does a comparison of a limb.
func (s *Search) compares(l *look, bit int) bool {
	if !classicSearch.MatchString(l.Name) || !strings.Contains(l.Name, ": Compare("+expr.Ident(s.Column)+" ") {
		return true
	}
	x := s.code>>(bit+1)<<(bit+1) + 1<<bit
	label := fmt.Sprintf("code %d", x)
	if x <= s.space.Max() {
		label = (&expr.Const{V: s.space.Value(x)}).String()
	}
	return strings.HasSuffix(l.Name, " "+label+")")
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

// extreme reports a pass of backend fused that finds the largest or smallest value of a
// chunk, and names the routine.
func (t *tracer) extreme(l *look, cols map[int][]int) (routine string, col int, ok bool) {
	for col := range cols {
		for _, of := range []string{"Max", "Min"} {
			if t.routine(l, of, col) {
				return of + "(" + t.columnIdent(col), col, true
			}
		}
	}
	return "", 0, false
}

// routine reports whether a pass is a routine over the selected records of a column.
func (t *tracer) routine(l *look, routine string, col int) bool {
	head := routine + "(" + t.columnIdent(col)
	return l.Name == head+")" || strings.HasPrefix(l.Name, head+" WHERE ")
}

// bitSearch finds the column and the bits that a pass of backends classic and fused
// counts for.
func (t *tracer) bitSearch(l *look) (col, high, low int, ok bool) {
	m := classicSearch.FindStringSubmatch(l.Name)
	col = l.column
	if m == nil {
		if m = fusedSearch.FindStringSubmatch(l.Name); m == nil {
			return 0, 0, 0, false
		}
		if c := l.reduced(); c >= 0 {
			col = c
		}
	}
	high, err := strconv.Atoi(m[len(m)-1])
	if low = high; len(m) > 2 && m[1] != "" {
		low = high - 1
	}
	return col, high, low, err == nil && col >= 0
}

// digitSearches finds those of backend compute that go digit by digit. Each is in one
// chunk: the one that has all values, or each one for MIN and MAX.
func (t *tracer) digitSearches(aggs map[int][]int, values []table.Value) {
	type place struct{ agg, chunk int }
	begun := map[place]*Search{}
	for i, l := range t.looks {
		agg, high, ok := t.digitSearch(l, aggs)
		if !ok {
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
		t.step(i, s, high)
	}
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

// digitSearch finds the aggregate and the highest bit that a pass of backend compute
// counts for. The first pass is for all aggregates of the column; in several chunks
// those of another kind than MIN and MAX may be found in rounds.
func (t *tracer) digitSearch(l *look, aggs map[int][]int) (agg, high int, ok bool) {
	digit := digitBits(l.Counts)
	if digit == nil {
		return 0, 0, false
	}
	for col, list := range aggs {
		if strings.HasPrefix(l.Name, "Digits("+t.columnIdent(col)+", ") {
			for _, i := range list {
				if k := t.plan.Aggs[i].Kind; len(t.plan.Table.Chunks) > 1 && (k == expr.Min || k == expr.Max) {
					return i, digit[0], true
				}
			}
			return list[0], digit[0], true
		}
		for _, i := range list {
			if strings.HasPrefix(l.Counts, fmt.Sprintf("candidates of %v that are left, by ", t.plan.Aggs[i])) {
				return i, digit[0], true
			}
		}
	}
	return 0, 0, false
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
	for i, a := range t.plan.Aggs {
		counts := "selected values below this threshold of " + a.String()
		var passes []int
		for j, l := range t.looks {
			if !values[i].Null && l.Search < 0 && l.Counts == counts {
				passes = append(passes, j)
			}
		}
		if len(passes) > 0 {
			t.round(t.begin(t.newSearch(i, values[i], -1)), passes)
		}
	}
}

// round notes the passes of a search in rounds. A threshold is decided when its last
// pass is over, and with it those that need no pass.
func (t *tracer) round(s *Search, passes []int) {
	s.rounds = true
	thresholds := s.thresholds(t.plan.Table.Rows())
	at := map[string]int{}
	for i, code := range thresholds {
		name := fmt.Sprintf("Popcount(%s < %v)", expr.Ident(s.Column), &expr.Const{V: s.space.Value(code)})
		if _, ok := at[name]; !ok { // codes above infinity are all NaN
			at[name] = i
		}
	}
	for _, i := range passes {
		t.step(i, s, 0)
		l, code := t.looks[i], thresholds[at[t.looks[i].Name]]
		s.mark(&s.Steps[len(s.Steps)-1], code)
		n, _ := l.counts()
		l.Results = []string{fmt.Sprintf("%s below %v", numbers.Count(n, "record is", "records are"), s.space.Value(code))}
	}
	open := len(thresholds) // the first that a later pass counts
	for j := len(passes) - 1; j >= 0; j-- {
		first, last := s.within(thresholds[:open])
		s.narrow(&s.Steps[j], first, last, bits.Len64(first^last))
		open = min(open, at[t.looks[passes[j]].Name])
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
// that it has left in the result: its program (kth.comp), or of the first pass the next
// one's, says where.
func (t *tracer) digits(i int, s *Search, st *Step) {
	l := t.looks[i]
	if l.pass.Dispatch == nil {
		return
	}
	if st.Counts = digitBits(l.Counts); st.Counts == nil {
		return
	}
	const before, from, to = 2, 8, 9 // in kth.comp's arg: a digit, places in the result
	base, ok := l.place()
	total := uint64(0)
	if l.pass.Program.Name == "kth.comp" {
		st.Decides = digitBits(l.Name)
		arg := l.pass.Uniforms[0].I
		base, ok = int(arg[to]), true
		total = t.candidates(s, l, st.Decides, int(arg[from]), int(arg[before+2]))
	} else if ok {
		total = uint64(l.words[base]) // kept in the place of value 0
	}
	taken := s.bitsOf(t, l, st.Counts)
	size := len(taken)
	if !ok || size == 0 {
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

// anotherWindow reports whether pass i is followed by one of the same name over a later
// window: the counts are those of a chunk when its last window has been counted.
func (t *tracer) anotherWindow(i int, l *look) bool {
	for _, next := range t.looks[i+1:] {
		if next.Name == l.Name && next.Counts == l.Counts && next.Chunk == l.Chunk && t.window(next).From > t.window(l).From {
			return true
		}
	}
	return false
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
