package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/papers/lab"
)

// Headline is something that the paper reports, beside what was measured here.
type Headline struct {
	Figure lab.Name `json:"figure"`
	What   string   `json:"what"`
	Where  string   `json:"where,omitempty"`    // in the paper
	On     string   `json:"hardware,omitempty"` // the paper's
	Unit   string   `json:"unit,omitempty"`     // of the numbers
	Paper  float64  `json:"paper"`              // 0 where the paper gives no number
	// Measured is of the table of the paper's size, or of the one nearest to it that has the case.
	Measured
	// Largest is of the largest table, where that is another one.
	Largest *Measured `json:"largest,omitempty"`
	// Of and Over name the systems: how many times as fast Of is as Over, or for times
	// how many times as long.
	Of   string `json:"of"`
	Over string `json:"over"`
	// Sentence says in words what the paper found, what was found here, and the verdicts.
	Sentence string `json:"sentence"`
}

// Measured is a headline over one table.
type Measured struct {
	Here float64 `json:"here"`
	// Lo and Hi are the 95 % interval of Here; 0 where there are too few runs.
	Lo   float64 `json:"lo,omitempty"`
	Hi   float64 `json:"hi,omitempty"`
	Rows int     `json:"rows"`
	Runs int     `json:"runs"` // of the system that ran least
	// Exact says that it was counted, by one run.
	Exact bool `json:"exact,omitempty"`
	// Fused and Compute are Here with these backends in the place of classic.
	Fused   float64 `json:"fused,omitempty"`
	Compute float64 `json:"compute,omitempty"`
	Verdict string  `json:"verdict"`
}

// claim is something that the suite's paper says: as data, or judged in a way of its own.
type claim struct {
	lab.Claim
	own func(*Report) (Headline, bool)
}

// place finds the table over which a headline is judged: [Report.nearest] or [Report.largest].
type place func(operation, system string) *Result

// measured is what f makes of the medians of samples, which middle gives.
func measured(samples [][]float64, middle func([]float64) float64, f func(medians []float64) float64) (m Measured) {
	medians := make([]float64, len(samples))
	for i, s := range samples {
		medians[i] = middle(s)
	}
	m.Here, m.Runs = f(medians), leastOf(samples)
	m.Lo, m.Hi = interval(samples, f)
	return m
}

// leastOf is the size of the smallest sample.
func leastOf(samples [][]float64) int {
	n := len(samples[0])
	for _, s := range samples {
		n = min(n, len(s))
	}
	return n
}

// result is that of a term, over the table that it names, else over one of that many rows; nil where there is none.
func (r *Report) result(t lab.Term, rows int) *Result {
	switch t.Rows {
	case lab.Judged:
		return r.Find(t.Operation, rows, t.System)
	case lab.Smallest:
		if list := r.overSizes(t.Operation, t.System); len(list) > 1 {
			return list[0]
		}
		return nil
	case lab.Largest:
		return r.largest(t.Operation, t.System)
	}
	return r.Find(t.Operation, t.Rows, t.System)
}

// sample is what a term was measured as; nil where it was not.
func (r *Report) sample(t lab.Term, rows int) (list []float64) {
	x := r.result(t, rows)
	switch {
	case x == nil || t.PerWork && x.Work == 0:
		return nil
	case t.Counter != "":
		if n, ok := x.Counters[t.Counter]; ok {
			list = slices.Repeat([]float64{n}, paperRuns) // it is exact
		}
	case t.Section != "":
		for _, one := range x.Sections {
			if one.Name == t.Section {
				list = slices.Clone(one.MS)
			}
		}
	default:
		list = slices.Clone(x.MS)
	}
	for i := range list {
		if t.PerWork {
			list[i] /= x.Work
		}
	}
	return list
}

// has reports whether the terms of a number were measured over a table of so many rows.
func (r *Report) has(v lab.Value, rows int) bool {
	lacks := func(t lab.Term) bool { return r.sample(t, rows) == nil }
	if v.Some {
		return slices.ContainsFunc(v.Terms, func(t lab.Term) bool { return t.System == v.Terms[0].System && !lacks(t) })
	}
	return len(v.Terms) > 0 && !slices.ContainsFunc(v.Terms, lacks)
}

// value measures a number over a table of so many rows; ok is false where a term was not measured.
func (r *Report) value(v lab.Value, rows int) (m Measured, ok bool) {
	if !r.has(v, rows) {
		return m, false
	}
	var samples [][]float64
	for _, t := range v.Terms {
		s := r.sample(t, rows)
		if s == nil {
			s = slices.Repeat([]float64{math.NaN()}, paperRuns)
		}
		samples = append(samples, s)
	}
	of := v.Of
	if of == nil {
		of = func(v []float64) float64 { return v[0] }
	}
	m = measured(samples, func(s []float64) float64 { return rounded(median(s)) }, of) // as the tables have them
	m.Rows = rows
	if math.IsNaN(m.Here) {
		return m, false
	}
	if !slices.ContainsFunc(v.Terms, func(t lab.Term) bool { return t.Counter == "" }) {
		m.Exact, m.Runs, m.Lo, m.Hi = true, 1, 0, 0
	}
	return m, true
}

// tablesOf are the sizes of the tables over which a number was measured; of one whose terms name theirs only the largest.
func (r *Report) tablesOf(v lab.Value) (sizes []int) {
	judged := func(t lab.Term) bool { return t.Rows == lab.Judged }
	for _, rows := range distinct(r.Results, func(x Result) int { return x.Rows }) {
		if _, ok := r.value(v, rows); ok {
			sizes = append(sizes, rows)
		}
	}
	if len(sizes) > 0 && !slices.ContainsFunc(v.Terms, judged) {
		largest := 0
		for _, t := range v.Terms {
			if x := r.result(t, 0); x != nil {
				largest = max(largest, x.Rows)
			}
		}
		return []int{largest}
	}
	return sizes
}

// judge sets what was measured beside what the paper says.
func (r *Report) judge(c lab.Claim) (Headline, bool) {
	s := r.suite()
	h := Headline{Figure: c.Figure, What: c.What, Where: c.Where, On: s.Hardware, Unit: c.Unit, Paper: c.Number, Of: c.Of, Over: c.Over}
	over := func(rows int) Measured {
		m, _ := r.value(c.Here, rows)
		m.Verdict = m.judged(c.Verdict, c.Number)
		return m
	}
	sizes := r.tablesOf(c.Here)
	if len(sizes) == 0 || !h.measure(over(nearest(sizes, s.reference())), over(slices.Max(sizes))) {
		return h, false
	}
	number := func(x float64) string { return strings.TrimSpace(number(x) + " " + c.Unit) }
	h.Sentence = fmt.Sprintf("%s (%s). The paper: %s on %s; here: %s.", capital(c.Says), c.Where, orDash(c.Number, number), h.On,
		h.places(s.records(), func(m Measured) string {
			if m.Hi > m.Lo {
				return fmt.Sprintf("%s (95 %% interval %s)", number(m.Here), span(m.Lo, m.Hi))
			}
			return number(m.Here)
		}))
	return h, true
}

// few reports whether there were too few runs to say anything.
func (m Measured) few() bool { return m.Runs < fewest && !m.Exact }

// judged says whether what the paper says held.
func (m Measured) judged(v lab.Verdict, paper float64) string {
	switch v {
	case lab.Alike:
		return m.difference()
	case lab.Near:
		return m.between(paper/closeTo, paper*closeTo)
	case lab.AtMost:
		return m.between(math.Inf(-1), paper)
	case lab.AtLeast:
		return m.between(paper, math.Inf(1))
	}
	return m.speed(paper)
}

// between says whether a number is within bounds; where its interval has a bound in it, that cannot be said.
func (m Measured) between(lo, hi float64) string {
	switch {
	case m.few():
		return tooFew
	case m.Lo < lo && m.Hi >= lo || m.Lo <= hi && m.Hi > hi:
		return noisy
	case m.Here >= lo && m.Here <= hi:
		return held
	}
	return failed
}

// headlines sets what was measured beside what the paper says, figure by figure.
func (r *Report) headlines() (list []Headline) {
	s := r.suite()
	for _, c := range s.claims {
		own := c.own
		if own == nil {
			own = func(r *Report) (Headline, bool) { return r.judge(c.Claim) }
		}
		if h, ok := own(r); ok {
			list = append(list, h)
		}
	}
	place := func(h Headline) int {
		return slices.IndexFunc(s.Figures, func(f lab.Figure) bool { return f.Name == h.Figure })
	}
	slices.SortStableFunc(list, func(a, b Headline) int { return cmp.Compare(place(a), place(b)) })
	return list
}

// measure takes what was measured over the two tables, which may be one, and reports whether
// anything was.
func (h *Headline) measure(nearest, largest Measured) bool {
	h.Measured = nearest
	if largest.Rows > nearest.Rows {
		h.Largest = &largest
	}
	return nearest.Rows > 0
}

// places says what was found over each of the tables.
func (h *Headline) places(records string, say func(Measured) string) string {
	one := func(m Measured) string {
		return fmt.Sprintf("%s over %s %s: %s", say(m), numbers.Grouped(m.Rows), records, m.Verdict)
	}
	if h.Largest == nil {
		return one(h.Measured)
	}
	return one(h.Measured) + "; " + one(*h.Largest)
}

const (
	held   = "held"
	failed = "did not hold"
	noisy  = "too noisy to say"
	tooFew = "too few rounds"
)

// closeTo is how far a ratio may be from the paper's and still count as the same, and
// sameness how far from 1 one of times may be and still count as none.
const (
	closeTo  = 1.5
	sameness = 1.15
)

// speed says whether the paper's speedup, or the loss that it reports, held.
func (m Measured) speed(paper float64) string {
	factor, more, less := m.Here/paper, "held, and more so", "held in direction, less so"
	if paper < 1 {
		more, less = less, "held in direction, slower still"
	}
	switch {
	case m.few():
		return tooFew
	case m.Lo <= 1 && m.Hi >= 1:
		return noisy
	case paper > 1 != (m.Here > 1):
		return failed
	case factor >= closeTo:
		return more
	case factor*closeTo >= 1:
		return held
	}
	return less
}

// difference says whether two times are the same.
func (m Measured) difference() string {
	switch {
	case m.few():
		return tooFew
	case m.Here <= sameness && m.Here >= 1/sameness:
		return held
	case m.Lo <= sameness && m.Hi >= 1/sameness:
		return noisy
	}
	return failed
}

// times says a ratio of speeds in words.
func times(ratio float64) string {
	switch {
	case ratio > 1.05:
		return number(ratio) + " times as fast as"
	case ratio < 0.95:
		return number(1/ratio) + " times slower than"
	}
	return "as fast as"
}

// headlineTable are the headlines over both tables.
func (r *Report) headlineTable() section {
	own := r.suite().Hardware == "" // the 2004 paper
	s := section{Rows: [][]string{{"the paper's headline", "figure", r.suite().records(), "n", "paper", "here", "95 % interval", "fused", "compute", "verdict"}}}
	if !own {
		s.Rows[0] = []string{"claim", "shown in", r.suite().records(), "n", "paper", "here", "95 % interval", "verdict"}
	}
	for _, h := range r.Headlines {
		for _, m := range []*Measured{&h.Measured, h.Largest} {
			if m == nil {
				continue
			}
			interval := "–"
			switch {
			case m.Hi > 0:
				interval = span(m.Lo, m.Hi)
			case m.Exact:
				interval = "counted"
			}
			line := []string{h.What, string(h.Figure), numbers.Grouped(m.Rows), fmt.Sprint(m.Runs), orDash(h.Paper, number), number(m.Here), interval}
			if own {
				line = append(line, orDash(m.Fused, number), orDash(m.Compute, number))
			}
			s.add(append(line, m.Verdict)...)
		}
	}
	return s
}
