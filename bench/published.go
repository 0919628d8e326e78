package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/papers/lab"
)

// published are the published tables of a figure with ours beside them, cell by cell; of those of which nothing was measured none.
func (r *Report) published(f lab.Figure) (list []section) {
	for _, t := range f.Tables {
		s, any := section{Title: fmt.Sprintf("%v: %s", f.Name, t.Title), Rows: [][]string{{t.Heads[0]}}, Notes: t.Notes}, false
		for _, head := range t.Heads[1:] {
			s.Rows[0] = append(s.Rows[0], head+", paper", "here")
		}
		write := t.Write
		if write == nil {
			write = number
		}
		for _, line := range t.Rows {
			cells := []string{line.Name}
			for i := range t.Heads[1:] {
				paper, here := "–", "–"
				if i < len(line.Paper) {
					paper = orDash(line.Paper[i], write)
				}
				if i < len(line.Here) {
					if m, ok := r.cell(line.Here[i]); ok {
						here, any = write(m.Here), true
					}
				}
				cells = append(cells, paper, here)
			}
			s.add(cells...)
		}
		if any {
			list = append(list, s)
		}
	}
	return list
}

// cell is a number of a published table, over the table nearest to the paper's.
func (r *Report) cell(v lab.Value) (m Measured, ok bool) {
	sizes := r.tablesOf(v)
	if len(v.Terms) == 0 || len(sizes) == 0 {
		return m, false
	}
	return r.value(v, nearest(sizes, r.suite().reference()))
}

// repeated is what a suite of experiments is about: claims, published tables, all times and counters, and what could not be ranked.
func (r *Report) repeated() []section {
	h := r.headlineTable()
	h.Title = "What the paper says, over its own number of " + r.suite().records() + " or the nearest, and over the largest (n: runs of the system that ran least)"
	for _, x := range r.Headlines {
		h.Notes = append(h.Notes, x.Sentence)
	}
	for _, x := range r.said() {
		h.Notes = append(h.Notes, x.text)
	}
	list := []section{h}
	for _, f := range r.suite().Figures {
		list = append(list, r.published(f)...)
	}
	for _, f := range r.suite().Figures {
		t := r.workTable(func(x Result) bool { return shows(f, x) })
		t.Title = f.Heading()
		list = append(list, t)
	}
	return append(list, section{Notes: append(slices.Clone(r.suite().Notes), r.noise())})
}

// workTable is the results of experiments: times, what a unit of work takes, and counters.
func (r *Report) workTable(keep func(Result) bool) section {
	s := section{Words: 1, Rows: [][]string{{"case", "system", r.suite().records(), "n", "median ms", "5th – 95th percentile", "device ms", "ns a unit", "units a second", "sections and counters of a run"}}}
	for i := range r.Results {
		x := &r.Results[i]
		if !keep(*x) {
			continue
		}
		spread := "–"
		if x.P95MS > 0 {
			spread = ms(x.P5MS) + " – " + ms(x.P95MS)
		}
		s.add(x.Operation, r.lookOf(x.System).label, numbers.Grouped(x.Rows), fmt.Sprint(len(x.MS)), ms(x.MedianMS), spread, orDash(x.MedianGPU, ms),
			orDash(x.quantity(lab.PerUnit, x.MedianMS), number), orDash(x.quantity(lab.Rate, x.MedianMS), func(v float64) string { return short(v) }), x.details())
	}
	return s
}

// timesOf are the numbers of a figure: of the 2004 paper's those of the largest tables.
func (r *Report) timesOf(f lab.Figure) section {
	of := func(x Result) bool { return shows(f, x) }
	if r.suite().Graphics {
		return r.timeTable(of)
	}
	return r.workTable(of)
}

// details are the sections and the counters of a result, "scan 1.23 ms; reads 24".
func (r *Result) details() string {
	var list []string
	for _, s := range r.Sections {
		list = append(list, s.Name+" "+ms(s.MedianMS)+" ms")
	}
	if c := r.counters(); c != "" {
		list = append(list, c)
	}
	return strings.Join(list, "; ")
}
