package trace

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Search is how a k-th value was found: bit by bit from the top, on backend
// compute several bits a pass.
type Search struct {
	Aggregate string    `json:"aggregate"`
	Column    string    `json:"column"`
	Bits      int       `json:"bits"`
	Ends      [2]string `json:"ends"` // the smallest and the largest value of the column
	// Constant are the bits, from the highest down, that are the same in all codes: a
	// search digit by digit counts none of them.
	Constant []int  `json:"constant,omitempty"`
	Steps    []Step `json:"steps"`

	agg    expr.Aggregate
	space  *physical.CodeSpace
	code   uint64 // of the answer
	stored uint64 // the bits that backend compute counts by
	tracer *tracer
	sorted []uint64 // the codes of the selected values, once they are asked for
}

// Step is what is known of the answer after a pass.
type Step struct {
	Pass  int        `json:"pass"`
	Known string     `json:"known"` // the bits found so far, the highest first
	Ends  [2]string  `json:"ends"`  // the smallest and the largest value that the answer may be
	At    [2]float64 `json:"at"`    // their places on the number line, 0..1
	// Tried are the tentative values that the pass compares with: of fused's reductions
	// three, of others one.
	Tried []Mark `json:"tried,omitempty"`
	// Decides are the bits that the pass decides from the counts of the pass before, highest to lowest, nil
	// for none. Counts are the bits by which it counts itself.
	Decides []int `json:"decides,omitempty"`
	Counts  []int `json:"counts,omitempty"`
	// Digits are how many candidates have each value of the bits of Counts; 0 is
	// missing where its number is not known yet.
	Digits []Digit `json:"digits,omitempty"`
	Taken  string  `json:"taken,omitempty"` // the value that the answer has

	Decision *Decision `json:"decision,omitempty"`

	high, low   int    // the bits that the pass counts for
	first, last uint64 // the codes of Ends
}

// Mark is a value on the number line.
type Mark struct {
	Value string  `json:"value"`
	At    float64 `json:"at"` // 0..1
	Code  uint64  `json:"-"`  // among those of the search
}

// Digit is how many candidates have a value of some bits.
type Digit struct {
	Bits    string `json:"bits"`
	Records uint64 `json:"records"`
}

// Attribute is the column that is searched.
func (s *Search) Attribute() int { return s.agg.Col }

// Between returns the smallest and the largest value that the answer may be after a step.
func (s *Search) Between(st Step) (first, last table.Value) {
	return s.space.Value(st.first), s.space.Value(st.last)
}

// Value returns the value of a mark.
func (s *Search) Value(m Mark) table.Value { return s.space.Value(m.Code) }

// mark is a code on the number line.
func (s *Search) mark(code uint64) Mark {
	return Mark{s.space.Value(code).String(), float64(code) / max(1, float64(s.space.Max())), code}
}

// newSearch makes the search of an aggregate that ends at a value.
func (t *tracer) newSearch(agg int, v table.Value) *Search {
	a := t.plan.Aggs[agg]
	s := &Search{tracer: t, Steps: []Step{}, Aggregate: a.String(), Column: a.Name, agg: a, space: physical.NewCodeSpace(t.plan.Table, a.Col)}
	s.Bits = s.space.Bits()
	s.Ends = [2]string{s.mark(0).Value, s.mark(s.space.Max()).Value}
	s.code = s.space.AtLeast(func(x table.Value) int { return table.Compare(x, v) })
	t.trace.Searches = append(t.trace.Searches, s)
	return s
}

// bounds says what is known after each pass: all bits above those that the next one counts
// for. Bits that need no pass are passed over, and where several chunks are counted for a
// bit the last one decides it.
func (s *Search) bounds() {
	for i := range s.Steps {
		st, low := &s.Steps[i], 0
		if i+1 < len(s.Steps) {
			low = s.Steps[i+1].high + 1
		}
		first := s.mark(s.code >> low << low)
		last := s.mark(min(first.Code+(1<<low-1), s.space.Max()))
		st.first, st.last = first.Code, last.Code
		st.Ends, st.At = [2]string{first.Value, last.Value}, [2]float64{first.At, last.At}
		for b := s.Bits - 1; b >= low; b-- {
			st.Known += string('0' + byte(s.code>>b&1))
		}
	}
}

// try returns the tentative values of a step: the bits found before it, and every value
// but 0 of those that it counts for.
func (s *Search) try(high, low int) (tried []Mark) {
	known := s.code >> (high + 1) << (high + 1)
	for digit := uint64(1); digit < 1<<(high-low+1); digit++ {
		if code := known + digit<<low; code <= s.space.Max() {
			tried = append(tried, s.mark(code))
		}
	}
	return tried
}

// reached says how many records of the chunk reach each tentative value of a step, a
// reduction. The program counts only for values that the chunk has codes for.
func (s *Search) reached(l *look, tried []Mark, seg *table.Segment) []string {
	list := []string{}
	for i, m := range tried {
		n := uint64(0)
		if _, ok := s.space.Local(seg, m.Code); ok {
			n = l.counted[i]
		}
		list = append(list, fmt.Sprintf("%s %s", numbers.Count(n, "record reaches", "records reach"), m.Value))
	}
	return list
}
