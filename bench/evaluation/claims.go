package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/lab"
)

// claim is something that the suite's paper says: as data, or judged in a way of its own.
type claim struct {
	lab.Claim
	own func(Evaluated) (report.Headline, bool)
}

// Place finds the table over which a headline is judged: [report.Report.nearest] or [report.Report.largest].
type Place func(operation, system string) *report.Result

// measureSamples is what f makes of the medians of samples, which middle gives.
func measureSamples(samples [][]float64, middle func([]float64) float64, f func(medians []float64) float64) (m report.Measured) {
	medians := xslices.Map(samples, middle)
	m.Here, m.Runs = f(medians), leastOf(samples)
	m.Lo, m.Hi = report.Interval(samples, f)
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
func (r Evaluated) result(t lab.Term, rows int) *report.Result {
	switch t.Rows {
	case lab.Judged:
		return r.Find(t.Operation, rows, t.System)
	case lab.Smallest:
		if list := r.overSizes(t.Operation, t.System); len(list) > 1 {
			return list[0]
		}
		return nil
	case lab.Largest:
		return r.Largest(t.Operation, t.System)
	}
	return r.Find(t.Operation, t.Rows, t.System)
}

// sample is what a term was measured as; nil where it was not.
func (r Evaluated) sample(t lab.Term, rows int) (list []float64) {
	x := r.result(t, rows)
	switch {
	case x == nil || t.PerWork && x.Work == 0:
		return nil
	case t.Counter != "":
		if n, ok := x.Counters[t.Counter]; ok {
			list = slices.Repeat([]float64{n}, report.PaperRuns) // it is exact
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
func (r Evaluated) has(v lab.Value, rows int) bool {
	lacks := func(t lab.Term) bool { return r.sample(t, rows) == nil }
	if v.Some {
		return slices.ContainsFunc(v.Terms, func(t lab.Term) bool { return t.System == v.Terms[0].System && !lacks(t) })
	}
	return len(v.Terms) > 0 && !slices.ContainsFunc(v.Terms, lacks)
}

// Value measures a number over a table of so many rows; ok is false where a term was not measured.
func (r Evaluated) Value(v lab.Value, rows int) (m report.Measured, ok bool) {
	if !r.has(v, rows) {
		return m, false
	}
	var samples [][]float64
	for _, t := range v.Terms {
		s := r.sample(t, rows)
		if s == nil {
			s = slices.Repeat([]float64{math.NaN()}, report.PaperRuns)
		}
		samples = append(samples, s)
	}
	of := v.Of
	if of == nil {
		of = func(v []float64) float64 { return v[0] }
	}
	m = measureSamples(samples, func(s []float64) float64 { return report.Rounded(report.Median(s)) }, of) // as the tables have them
	m.Rows = rows
	if math.IsNaN(m.Here) {
		return m, false
	}
	if !slices.ContainsFunc(v.Terms, func(t lab.Term) bool { return t.Counter == "" }) {
		m.Exact, m.Runs, m.Lo, m.Hi = true, 1, 0, 0
	}
	return m, true
}

// TablesOf are the sizes of the tables over which a number was measured; of one whose terms name theirs only the largest.
func (r Evaluated) TablesOf(v lab.Value) (sizes []int) {
	judged := func(t lab.Term) bool { return t.Rows == lab.Judged }
	for _, rows := range report.Distinct(r.Results, func(x report.Result) int { return x.Rows }) {
		if _, ok := r.Value(v, rows); ok {
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
func (r Evaluated) judge(c lab.Claim) (report.Headline, bool) {
	s := r.Paper
	h := report.Headline{Figure: c.Figure, What: c.What, Where: c.Where, On: s.Hardware, Unit: c.Unit, Paper: c.Number, Of: c.Of, Over: c.Over}
	over := func(rows int) report.Measured {
		m, _ := r.Value(c.Here, rows)
		m.Verdict = m.Judged(c.Verdict, c.Number)
		return m
	}
	sizes := r.TablesOf(c.Here)
	if len(sizes) == 0 || !h.Measure(over(report.Nearest(sizes, s.Reference())), over(slices.Max(sizes))) {
		return h, false
	}
	number := func(x float64) string { return strings.TrimSpace(report.FormatNumber(x) + " " + c.Unit) }
	h.Sentence = fmt.Sprintf("%s (%s). The paper: %s on %s; here: %s.", report.Capitalise(c.Says), c.Where, report.OrDash(c.Number, number), h.On,
		h.Places(s.Records(), func(m report.Measured) string {
			if m.Hi > m.Lo {
				return fmt.Sprintf("%s (95 %% interval %s)", number(m.Here), report.FormatInterval(m.Lo, m.Hi))
			}
			return number(m.Here)
		}))
	return h, true
}

// headlines sets what was measured beside what the paper says, figure by figure.
func (r Evaluated) headlines() (list []report.Headline) {
	s := r.Paper
	for _, c := range s.claims {
		own := c.own
		if own == nil {
			own = func(r Evaluated) (report.Headline, bool) { return r.judge(c.Claim) }
		}
		if h, ok := own(r); ok {
			list = append(list, h)
		}
	}
	place := func(h report.Headline) int {
		return slices.IndexFunc(s.Figures, func(f lab.Figure) bool { return f.Name == h.Figure })
	}
	slices.SortStableFunc(list, func(a, b report.Headline) int { return cmp.Compare(place(a), place(b)) })
	return list
}

// HeadlineTable are the headlines over both tables.
func (r Evaluated) HeadlineTable() report.Section {
	own := r.Paper.Hardware == "" // the 2004 paper
	s := report.Section{Rows: [][]string{{"the paper's headline", "figure", r.Paper.Records(), "n", "paper", "here", "95 % interval", "fused", "compute", "verdict"}}}
	if !own {
		s.Rows[0] = []string{"claim", "shown in", r.Paper.Records(), "n", "paper", "here", "95 % interval", "verdict"}
	}
	for _, h := range r.Headlines {
		for _, m := range []*report.Measured{&h.Measured, h.Largest} {
			if m == nil {
				continue
			}
			interval := "–"
			switch {
			case m.Hi != 0:
				interval = report.FormatInterval(m.Lo, m.Hi)
			case m.Exact:
				interval = "counted"
			}
			line := []string{h.What, string(h.Figure), numbers.Grouped(m.Rows), fmt.Sprint(m.Runs), report.OrDash(h.Paper, report.FormatNumber), report.FormatNumber(m.Here), interval}
			if own {
				line = append(line, report.OrDash(m.Fused, report.FormatNumber), report.OrDash(m.Compute, report.FormatNumber))
			}
			s.Add(append(line, m.Verdict)...)
		}
	}
	return s
}

// Nearest is the result of an operation on a system over the table nearest to the paper's size
// of those that have it, or nil.
func (r Evaluated) Nearest(operation, system string) *report.Result {
	var sizes []int
	for _, x := range r.Results {
		if x.Operation == operation && x.System == system {
			sizes = append(sizes, x.Rows)
		}
	}
	if sizes == nil {
		return nil
	}
	return r.Find(operation, report.Nearest(sizes, r.Paper.Reference()), system)
}

// IsPaper reports whether no other table of a case's operation is nearer to the paper's size.
func (r Evaluated) IsPaper(c report.Case) bool {
	var sizes []int
	for _, x := range r.Results {
		if x.Operation == c.Operation {
			sizes = append(sizes, x.Rows)
		}
	}
	return report.Nearest(sizes, r.Paper.Reference()) == c.Rows
}
