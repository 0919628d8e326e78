package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Decision is what a step of a search concludes. The answer is the K-th of Of selected
// values, so many of which the step has counted.
type Decision struct {
	K       uint64 `json:"k"`
	Of      uint64 `json:"of"`
	Largest bool   `json:"largest"` // the K-th largest; else the K-th smallest
	// Counts are the selected values of the table that are below each value or, of a K-th
	// largest, at or above it.
	Counts []Reach `json:"counts"`
	High   int     `json:"high"` // the highest bit decided
	Low    int     `json:"low"`  // the lowest
	Set    string  `json:"set"`  // what they are, the highest first
	Left   uint64  `json:"left"` // the selected values from the first to the last of the step's Ends
	Words  string  `json:"words"`
	Short  string  `json:"-"` // Words without what is left

	asked string // the rank that is asked for, in words, where K counts from the other end
}

// Reach is how many values lie on one side of a value.
type Reach struct {
	Value   string `json:"value"`
	Records uint64 `json:"records"`

	value table.Value
}

// ranks returns the codes of the selected values of a search, in order.
func (s *Search) ranks() []uint64 {
	if s.sorted != nil {
		return s.sorted
	}
	for i, c := range s.tracer.plan.Table.Chunks {
		seg, selected := c.Segments[s.agg.Col], s.tracer.selection(i)
		for row := range seg.Rows() {
			if selected.Get(row) && !seg.IsNull(row) {
				s.sorted = append(s.sorted, s.space.Code(seg, seg.Codes.At(row)))
			}
		}
	}
	slices.Sort(s.sorted)
	return s.sorted
}

// below is how many selected values are below a code.
func (s *Search) below(code uint64) uint64 {
	n, _ := slices.BinarySearch(s.ranks(), code)
	return uint64(n)
}

// within is how many selected values have one of the codes from first to last.
func (s *Search) within(first, last uint64) uint64 {
	n, _ := slices.BinarySearchFunc(s.ranks(), last, func(code, last uint64) int {
		if code > last {
			return 0
		}
		return -1
	})
	return uint64(n) - s.below(first)
}

// Decision returns what a step concludes. It is nil where it concludes nothing: the counts
// of other chunks are missing, or there is nothing that it counts by.
func (s *Search) Decision(step int) *Decision {
	st, n := s.Steps[step], uint64(len(s.ranks()))
	if step+1 < len(s.Steps) && s.Steps[step+1].high >= st.high || st.Counts != nil && (st.Taken == "") {
		return nil
	}
	k, largest, ok, err := physical.Rank(s.agg, n)
	if err != nil || !ok {
		return nil
	}
	d := &Decision{K: k, Of: n, Largest: largest, High: st.high, Low: st.low, Set: st.Taken, Counts: []Reach{},
		Left: s.within(st.first, st.last)}
	if st.Counts != nil {
		d.digits(s, st)
	} else {
		d.compared(s, st)
	}
	d.Short = d.Words
	d.Words += "; " + left(d.Left, st.Ends)
	return d
}

// compared concludes from comparisons with tentative values. What counts the values at or
// above them looks for a K-th largest; the K-th smallest of n is their n+1-K-th largest.
func (d *Decision) compared(s *Search, st Step) {
	op, _ := s.tracer.looks[st.Pass].pass.Op.(pass.KthLargest) // backend fused counts those at or above alone
	if op.Smallest == d.Largest {
		d.turn()
	}
	for b := d.High; b >= d.Low; b-- {
		d.Set += string('0' + byte(s.code>>b&1))
	}
	var counted []string
	in, out := "", "" // the last value that the answer reaches, the first that it does not
	for _, m := range st.Tried {
		r := Reach{m.Value, s.below(m.Code), s.space.Value(m.Code)}
		if d.Largest {
			r.Records = d.Of - r.Records
		}
		d.Counts = append(d.Counts, r)
		counted = append(counted, beyond(r, d.Largest, len(counted) == 0))
		switch {
		case r.Records >= d.K && d.Largest:
			in = r.Value
		case out == "":
			out = r.Value
		}
	}
	among := map[bool]string{true: "is among them", false: "is not among them"}[(s.code>>d.Low&1 == 1) == d.Largest]
	if len(st.Tried) > 1 {
		var parts []string
		if in != "" {
			parts = append(parts, "among those of "+in+" or more")
		}
		if out != "" {
			parts = append(parts, "not among those of "+out+" or more")
		}
		among = "is " + strings.Join(parts, ", ")
	}
	if len(counted) == 0 {
		counted = []string{"no value is so large"}
		among = "is below"
	}
	d.Words = fmt.Sprintf("%s; %s %s: %s", strings.Join(counted, ", "), d.rank(), among, d.bits())
}

// digits concludes from the counts of the values of some bits.
func (d *Decision) digits(s *Search, st Step) {
	if d.Largest {
		d.turn()
	}
	first := s.code >> d.Low << d.Low
	last := min(first+(1<<d.Low-1), s.space.Max())
	below, within := s.below(first), s.within(first, last)
	from, to := s.mark(first).Value, s.mark(last).Value
	d.Counts = []Reach{{from, below, s.space.Value(first)}}
	are, lie := verbs(within)
	place := are + " " + from
	if from != to {
		place = fmt.Sprintf("%s in %s … %s", lie, from, to)
	}
	d.Words = fmt.Sprintf("%s, %s %s; %s is among these: %s", beyond(d.Counts[0], false, true), numbers.Grouped(within), place, d.rank(), d.bits())
}

func beyond(r Reach, largest, first bool) string {
	what := numbers.Grouped(r.Records)
	if first {
		what = numbers.Count(r.Records, "value", "values")
	}
	are, lie := verbs(r.Records)
	if largest {
		return fmt.Sprintf("%s %s %s or more", what, are, r.Value)
	}
	return fmt.Sprintf("%s %s below %s", what, lie, r.Value)
}

// verbs are those of so many values.
func verbs(n uint64) (are, lie string) {
	if n == 1 {
		return "is", "lies"
	}
	return "are", "lie"
}

// turn takes the K-th from the other end.
func (d *Decision) turn() {
	d.asked = " (" + rank(d.K, d.Largest) + ")"
	d.K, d.Largest = d.Of+1-d.K, !d.Largest
}

// rank says which value is searched and, where its place is told from the other end, which is asked for.
func (d *Decision) rank() string { return rank(d.K, d.Largest) + d.asked }

func rank(k uint64, largest bool) string {
	what := map[bool]string{true: "largest", false: "smallest"}[largest]
	if k == 1 {
		return "the " + what
	}
	return fmt.Sprintf("the %s %s", ordinal(k), what)
}

func (d *Decision) bits() string {
	if d.High == d.Low || len(d.Set) == 1 {
		return fmt.Sprintf("bit %d is %s", d.Low, d.Set)
	}
	return fmt.Sprintf("bits %d..%d are %s", d.High, d.Low, d.Set)
}

func left(n uint64, ends [2]string) string {
	if ends[0] == ends[1] {
		return "the value is " + ends[0]
	}
	return fmt.Sprintf("%s in %s … %s", numbers.Count(n, "value is left,", "values are left,"), ends[0], ends[1])
}

// ordinal writes 1 as 1st, 12 as 12th.
func ordinal(n uint64) string {
	suffix := "th"
	if n%100/10 != 1 {
		suffix = map[uint64]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if suffix == "" {
			suffix = "th"
		}
	}
	return numbers.Grouped(n) + suffix
}
