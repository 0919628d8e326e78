package trace

import (
	"fmt"
	"math/big"
	"math/bits"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Search is how a k-th value was found, bit by bit from the top.
type Search struct {
	Aggregate string    `json:"aggregate"`
	Column    string    `json:"column"`
	Bits      int       `json:"bits"`
	Ends      [2]string `json:"ends"` // the smallest and the largest value of the column
	Steps     []Step    `json:"steps"`

	col   int
	space *plan.Space
	code  uint64 // of the answer
}

// Step is what is known of the answer after a pass.
type Step struct {
	Pass  int        `json:"pass"`
	Known string     `json:"known"` // the bits found so far, the highest first
	Ends  [2]string  `json:"ends"`  // the smallest and the largest value that have them
	At    [2]float64 `json:"at"`    // their places on the number line, 0..1
	// Tried are the tentative values that the pass compares with: of backend classic
	// and of the depth tests of fused one, of fused's reductions three.
	Tried []Mark `json:"tried,omitempty"`
	// Digits are how many candidates have each value of the digit that the pass
	// counts, where it counts several; 0 has the rest.
	Digits []Digit `json:"digits,omitempty"`
	Taken  string  `json:"taken,omitempty"` // the value that the answer has

	high int // the highest bit that the pass counts for
}

// Mark is a value on the number line.
type Mark struct {
	Value string  `json:"value"`
	At    float64 `json:"at"` // 0..1
}

// Digit is how many candidates have a value of some bits.
type Digit struct {
	Bits    string `json:"bits"`
	Records uint32 `json:"records"`
}

// Sum is how a sum was put together from bits.
type Sum struct {
	Column string   `json:"column"`
	Chunk  int      `json:"chunk"`
	Host   bool     `json:"host"` // counted on the host: the program adds all bits up in one pass
	Bits   []SumBit `json:"bits"` // the lowest first
	Codes  string   `json:"codes"`
	Values int      `json:"values"`
	Base   string   `json:"base"` // the value of code 0
	Total  string   `json:"total"`

	col int
}

// SumBit is a bit's part of a sum.
type SumBit struct {
	Bit     int     `json:"bit"`
	Pass    int     `json:"pass"`
	Records uint64  `json:"records"`
	Adds    string  `json:"adds"` // records * 2^bit
	Share   float64 `json:"share"`
}

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

// searches finds the passes of k-th searches. Those of one column follow the order
// of the aggregates.
func (t *tracer) searches(values []table.Value) {
	waiting := map[int][]int{} // by column: aggregates
	for i, a := range t.plan.Aggs {
		switch a.Kind {
		case expr.Min, expr.Max, expr.Percentile, expr.KthLargest, expr.KthSmallest:
			if !values[i].Null {
				waiting[a.Col] = append(waiting[a.Col], i)
			}
		}
	}
	next := func(col int) (agg int, ok bool) {
		if len(waiting[col]) == 0 {
			return 0, false
		}
		agg = waiting[col][0]
		waiting[col] = waiting[col][1:]
		return agg, true
	}
	byAggregate := map[int]int{} // searches
	current, last := -1, 0
	for i, l := range t.looks {
		if col, ok := t.extreme(l, waiting); ok && (i == 0 || t.looks[i-1].Name != l.Name) {
			next(col)
			continue
		}
		if agg, high, ok := t.digitSearch(l, waiting); ok {
			s, ok := byAggregate[agg]
			if !ok {
				s = t.newSearch(agg, values[agg])
				byAggregate[agg] = s
			}
			t.step(i, s, high)
			continue
		}
		col, high, low, ok := t.bitSearch(l)
		if !ok {
			continue
		}
		if current < 0 || t.trace.Searches[current].col != col || high > last {
			agg, ok := next(col)
			if !ok {
				continue
			}
			current = t.newSearch(agg, values[agg])
		}
		last = high
		t.step(i, current, high)
		t.trace.Searches[current].try(high, low)
	}
	for _, s := range t.trace.Searches {
		s.finish()
	}
}

// extreme reports a pass of backend fused that finds the largest or smallest value.
func (t *tracer) extreme(l *look, cols map[int][]int) (col int, ok bool) {
	for col := range cols {
		if t.routine(l, "Max", col) || t.routine(l, "Min", col) {
			return col, true
		}
	}
	return 0, false
}

// routine reports whether a pass is a routine over the selected records of a column.
func (t *tracer) routine(l *look, routine string, col int) bool {
	head := routine + "(" + t.columnName(col)
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
		for _, r := range l.pass.Textures { // of a reduction
			if r.Form == textures.LowWords && r.Chunk != nil {
				col = r.Cols[0]
			}
		}
	}
	high, err := strconv.Atoi(m[len(m)-1])
	if low = high; len(m) > 2 && m[1] != "" {
		low = high - 1
	}
	return col, high, low, err == nil && col >= 0
}

// digitSearch finds the aggregate and the highest bit that a pass of backend compute
// counts for. The searches of several chunks end at values of their own.
func (t *tracer) digitSearch(l *look, waiting map[int][]int) (agg, high int, ok bool) {
	digit := digitBits(l.Counts)
	if l.pass.Dispatch == nil || digit == nil || len(t.trace.Grids) > 1 {
		return 0, 0, false
	}
	for col, aggs := range waiting {
		for _, i := range aggs {
			if strings.HasPrefix(l.Name, "Digits("+t.columnName(col)+", ") || strings.HasPrefix(l.Counts, fmt.Sprintf("candidates of %v that are left, by ", t.plan.Aggs[i])) {
				return i, digit[0], true
			}
		}
	}
	return 0, 0, false
}

// newSearch begins a search that ends at a value, and returns its place.
func (t *tracer) newSearch(agg int, v table.Value) int {
	a := t.plan.Aggs[agg]
	s := &Search{Aggregate: a.String(), Column: a.Name, col: a.Col, space: plan.NewSpace(t.plan.Table, a.Col)}
	s.Bits = s.space.Bits()
	s.Ends = [2]string{s.space.Value(0).String(), s.space.Value(s.space.Max()).String()}
	s.code = uint64(sort.Search(int(min(s.space.Max(), 1<<62)), func(c int) bool { return table.Compare(s.space.Value(uint64(c)), v) >= 0 }))
	if s.space.Max() > 1<<62 {
		s.code = table.Ordinal(v) - table.Ordinal(s.space.Value(0))
	}
	t.trace.Searches = append(t.trace.Searches, s)
	return len(t.trace.Searches) - 1
}

// step notes that pass i counts for the bits of a search from one down.
func (t *tracer) step(i, search, high int) {
	s, l := t.trace.Searches[search], t.looks[i]
	st := Step{Pass: i, high: high}
	st.Digits, st.Taken = t.digits(i, s)
	s.Steps = append(s.Steps, st)
	l.Search, l.Step = search, len(s.Steps)-1
}

// finish says what is known after each pass: all bits above those that the next one
// counts for. Bits that need no pass are passed over, and where several chunks are
// counted for a bit the last one decides it.
func (s *Search) finish() {
	top := max(1, float64(s.space.Max()))
	for i := range s.Steps {
		low := 0
		if i+1 < len(s.Steps) {
			low = s.Steps[i+1].high + 1
		}
		x := s.code >> low << low
		last := min(x+(1<<low-1), s.space.Max())
		st := &s.Steps[i]
		for b := s.Bits - 1; b >= low; b-- {
			st.Known += string('0' + byte(s.code>>b&1))
		}
		st.Ends = [2]string{s.space.Value(x).String(), s.space.Value(last).String()}
		st.At = [2]float64{float64(x) / top, float64(last) / top}
	}
}

// try notes the tentative values of the last step: the bits found before it, and
// every value but 0 of those that it counts for.
func (s *Search) try(high, low int) {
	st := &s.Steps[len(s.Steps)-1]
	known := s.code >> (high + 1) << (high + 1)
	for digit := uint64(1); digit < 1<<(high-low+1); digit++ {
		if code := known + digit<<low; code <= s.space.Max() {
			st.Tried = append(st.Tried, Mark{s.space.Value(code).String(), float64(code) / max(1, float64(s.space.Max()))})
		}
	}
}

// digits reads the counts of a digit that a pass of backend compute has left in the
// result, where its program or the next one's (kth.comp) says.
func (t *tracer) digits(i int, s *Search) (list []Digit, taken string) {
	l := t.looks[i]
	const before, now, from, to = 2, 5, 8, 9 // in kth.comp's arg: two digits, places in the result
	var arg []int32
	base, size := 0, 0
	switch {
	case l.pass.Program.Name == "kth.comp":
		arg = l.pass.Uniforms[0].I
		base, size = int(arg[to]), int(arg[now+2])
	case l.pass.Dispatch != nil && i+1 < len(t.looks) && t.looks[i+1].pass.Program.Name == "kth.comp":
		arg = t.looks[i+1].pass.Uniforms[0].I
		base, size = int(arg[from]), int(arg[before+2])
	default:
		return nil, ""
	}
	for v := 1; v < 1<<size && base+v < len(l.words); v++ {
		list = append(list, Digit{fmt.Sprintf("%0*b", size, v), l.words[base+v]})
	}
	if d := digitBits(l.Counts); d != nil && d[0]-d[1]+1 == size {
		taken = fmt.Sprintf("%0*b", size, s.code>>d[1]&(1<<size-1))
	}
	return list, taken
}

// testedBit reports a pass of the Accumulator on backend classic.
func testedBit(l *look) (col, bit int, ok bool) {
	if l.pass.Program.Name != "testbit.frag" {
		return 0, 0, false
	}
	bit, err := strconv.Atoi(strings.TrimSuffix(l.Name[strings.LastIndex(l.Name, " ")+1:], ")"))
	return l.pass.Textures[0].Cols[0], bit, err == nil
}

func (t *tracer) addBit(i int, l *look, col, bit int) {
	n := len(t.trace.Sums) - 1
	if n < 0 || t.trace.Sums[n].col != col || t.trace.Sums[n].Chunk != l.Chunk || t.trace.Sums[n].Bits[len(t.trace.Sums[n].Bits)-1].Bit >= bit {
		t.trace.Sums = append(t.trace.Sums, &Sum{Column: t.columnName(col), Chunk: l.Chunk, col: col})
		n++
	}
	t.trace.Sums[n].Bits = append(t.trace.Sums[n].Bits, SumBit{Bit: bit, Pass: i, Records: l.Samples})
	l.Sum = n
}

// summed reports a pass of backends fused and compute that adds all bits of a column up.
func (t *tracer) summed(l *look) (col int, ok bool) {
	for _, a := range t.plan.Aggs {
		if a.Col >= 0 && (l.Name == "Accumulate("+a.Name+")" || t.routine(l, "Sum", a.Col)) {
			return a.Col, true
		}
	}
	return 0, false
}

func (t *tracer) addSum(i int, l *look, col int) {
	for n, s := range t.trace.Sums {
		if s.col == col && s.Chunk == l.Chunk { // another window of the chunk
			l.Sum = n
			return
		}
	}
	s := &Sum{Column: t.columnName(col), Chunk: l.Chunk, Host: true, col: col}
	chunk := t.plan.Table.Chunks[l.Chunk]
	seg := chunk.Segments[col]
	counts := make([]uint64, bits.Len64(seg.Max))
	selected := t.selection(l.Chunk)
	for row := range chunk.Rows {
		if selected.Get(row) {
			for code := seg.Codes.At(row); code != 0; code &= code - 1 { // 0 for NULL
				counts[bits.TrailingZeros64(code)]++
			}
		}
	}
	for bit, n := range counts {
		s.Bits = append(s.Bits, SumBit{Bit: bit, Pass: i, Records: n})
	}
	t.trace.Sums = append(t.trace.Sums, s)
	l.Sum = len(t.trace.Sums) - 1
}

// finish adds the bits of a sum up, and the base of each value.
func (t *tracer) finish(s *Sum) {
	seg := t.plan.Table.Chunks[s.Chunk].Segments[s.col]
	codes := new(big.Int)
	adds := make([]*big.Int, len(s.Bits))
	for i, b := range s.Bits {
		adds[i] = new(big.Int).Lsh(new(big.Int).SetUint64(b.Records), uint(b.Bit))
		codes.Add(codes, adds[i])
	}
	for i, a := range adds {
		s.Bits[i].Adds = a.String()
		if codes.Sign() > 0 {
			s.Bits[i].Share, _ = new(big.Rat).SetFrac(a, codes).Float64()
		}
	}
	selected := t.selection(s.Chunk)
	for row := range seg.Rows() {
		if selected.Get(row) && !seg.IsNull(row) {
			s.Values++
		}
	}
	base := table.IntFromOrdinal(seg.Base)
	total := new(big.Int).Mul(big.NewInt(base), big.NewInt(int64(s.Values)))
	typ := table.Type{Kind: table.Decimal, Precision: 38, Scale: seg.Type.Scale}
	s.Codes, s.Base = table.Dec(typ, codes).String(), table.Dec(typ, big.NewInt(base)).String()
	s.Total = table.Dec(typ, total.Add(total, codes)).String()
}
