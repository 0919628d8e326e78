package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/lab"
)

// Published are the published tables of a figure with ours beside them, cell by cell; of those of which nothing was measured none.
func (r Page) Published(f lab.Figure) (list []report.Section) {
	for _, t := range f.Tables {
		s, any := report.Section{Title: fmt.Sprintf("%v: %s", f.Name, t.Title), Rows: [][]string{{t.Heads[0]}}, Notes: t.Notes}, false
		published := func(i int) bool {
			return slices.ContainsFunc(t.Rows, func(line lab.Row) bool { return i < len(line.Paper) && line.Paper[i] != 0 })
		}
		for i, head := range t.Heads[1:] {
			if published(i) {
				s.Rows[0] = append(s.Rows[0], head+", paper", "here")
			} else {
				s.Rows[0] = append(s.Rows[0], head)
			}
		}
		write := t.Write
		if write == nil {
			write = report.FormatNumber
		}
		for _, line := range t.Rows {
			cells := []string{line.Name}
			for i := range t.Heads[1:] {
				paper, here := "–", "–"
				if i < len(line.Paper) {
					paper = report.OrDash(line.Paper[i], write)
				}
				if i < len(line.Here) {
					if m, ok := r.cell(line.Here[i]); ok {
						here, any = write(m.Here), true
					}
				}
				if published(i) {
					cells = append(cells, paper)
				}
				cells = append(cells, here)
			}
			s.Add(cells...)
		}
		if any {
			list = append(list, s)
		}
	}
	return list
}

// cell is a number of a published table, over the table nearest to the paper's.
func (r Page) cell(v lab.Value) (m report.Measured, ok bool) {
	sizes := r.TablesOf(v)
	if len(v.Terms) == 0 || len(sizes) == 0 {
		return m, false
	}
	return r.Value(v, report.Nearest(sizes, r.Paper.Reference()))
}

// repeated is what a suite of experiments is about: claims, published tables, all times and counters, and what could not be ranked.
func (r Page) repeated() []report.Section {
	h := r.HeadlineTable()
	h.Title = "What the paper says, over its own number of " + r.Paper.Records() + " or the nearest, and over the largest (n: runs of the system that ran least)"
	for _, x := range r.Headlines {
		h.Notes = append(h.Notes, x.Sentence)
	}
	for _, x := range r.Remarks() {
		h.Notes = append(h.Notes, x.Text)
	}
	list := []report.Section{h}
	for _, f := range r.Paper.Figures {
		list = append(list, r.Published(f)...)
	}
	for _, f := range r.Paper.Figures {
		t := r.workTable(func(x report.Result) bool { return shows(f, x) })
		t.Title = f.Heading()
		list = append(list, t)
	}
	return append(list, report.Section{Notes: append(slices.Clone(r.Paper.Notes), r.noise())})
}

// workTable is the results of experiments: times, what a unit of work takes, and counters.
func (r Page) workTable(keep func(report.Result) bool) report.Section {
	s := report.Section{Words: 1, Rows: [][]string{{"case", "system", r.Paper.Records(), "n", "median ms", "5th – 95th percentile", "device ms", "ns a unit", "units a second", "sections and counters of a run"}}}
	for i := range r.Results {
		x := &r.Results[i]
		if !keep(*x) {
			continue
		}
		spread := "–"
		if x.P95MS > 0 {
			spread = report.FormatMS(x.P5MS) + " – " + report.FormatMS(x.P95MS)
		}
		s.Add(x.Operation, r.styleOf(x.System).label, numbers.Grouped(x.Rows), fmt.Sprint(len(x.MS)), report.FormatMS(x.MedianMS), spread, report.OrDash(x.MedianGPU, report.FormatMS),
			report.OrDash(quantity(x, lab.PerUnit, x.MedianMS), report.FormatNumber), report.OrDash(quantity(x, lab.Rate, x.MedianMS), func(v float64) string { return short(v) }), details(x))
	}
	return s
}

// timesOf are the numbers of a figure: of the 2004 paper's those of the largest tables.
func (r Page) timesOf(f lab.Figure) report.Section {
	of := func(x report.Result) bool { return shows(f, x) }
	if r.Paper.Graphics {
		return r.timeTable(of)
	}
	return r.workTable(of)
}

// details are the sections and the counters of a result, "scan 1.23 ms; reads 24".
func details(r *report.Result) string {
	list := xslices.Map(r.Sections, func(s report.SectionTime) string { return s.Name + " " + report.FormatMS(s.MedianMS) + " ms" })
	if c := counters(r); c != "" {
		list = append(list, c)
	}
	return strings.Join(list, "; ")
}
