package render

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/lab"
)

// shows reports whether a result is one of a figure's.
func shows(f lab.Figure, x report.Result) bool {
	if f.Name != "" {
		return x.Figure == f.Name
	}
	return slices.ContainsFunc(f.Panels, func(p lab.Panel) bool { return slices.Contains(p.Operations, x.Operation) })
}

// point is where a result stands in a panel; ok is false where it is not in it. counter is the one that is shown, where the panel
// shows such.
func (r Page) point(p lab.Panel, x *report.Result, counter string) (at plotter.XY, ok bool) {
	i := slices.Index(p.Operations, x.Operation)
	if i < 0 || p.Systems != nil && !slices.Contains(p.Systems, x.System) {
		return at, false
	}
	if p.Paper && !r.IsPaper(x.Case) || p.Largest && (!r.IsLargest(x.Case) || x.Figure != "" && r.IsPaper(x.Case)) {
		return at, false
	}
	at = plotter.XY{X: x.X, Y: x.MedianMS}
	switch {
	case p.Largest || p.Paper:
		at.X = float64(i + 1)
	case x.Figure == "":
		at.X = float64(x.Rows)
	}
	switch p.Of {
	case lab.Repeated:
		at.Y = x.RepeatedMS
	case lab.Cold:
		at.Y = x.ColdMS
	}
	if p.Section != "" {
		at.Y, _, _ = sectionTimes(x, p.Section)
	}
	if p.Shows == lab.Counter {
		at.Y = x.Counters[counter]
	} else {
		at.Y = quantity(x, p.Shows, at.Y)
	}
	return at, at.Y > 0
}

// sectionTimes is the median and the 5th and 95th percentile of a section of a result; 0 where it has none.
func sectionTimes(x *report.Result, section string) (median, p5, p95 float64) {
	i := slices.IndexFunc(x.Sections, func(s report.SectionTime) bool { return s.Name == section })
	if i < 0 {
		return 0, 0, 0
	}
	p5, p95 = report.Percentiles(x.Sections[i].MS)
	return x.Sections[i].MedianMS, p5, p95
}

// quantity is what a panel shows of a time of the result.
func quantity(r *report.Result, q lab.Quantity, ms float64) float64 {
	switch {
	case ms == 0 || q != lab.Milliseconds && r.Work == 0:
		return 0
	case q == lab.PerUnit:
		return ms * 1e6 / r.Work
	case q == lab.Rate:
		return r.Work / ms * 1e3
	case q == lab.Bandwidth:
		return r.Work / ms / 1e6
	}
	return ms
}

// yLabel says what a panel shows.
func (r Page) yLabel(p lab.Panel) string {
	unit := "units"
	for _, x := range r.Results {
		if x.Unit != "" && slices.Contains(p.Operations, x.Operation) {
			unit = x.Unit
		}
	}
	names := map[lab.Quantity]string{lab.Milliseconds: "milliseconds", lab.PerUnit: "ns of each of the " + unit, lab.Rate: unit + " a second",
		lab.Bandwidth: "GB a second", lab.Share: "% of the total"}
	return cmp.Or(p.YLabel, names[p.Shows])
}

// series are a line of a panel by its axis, with bars from the 5th to the 95th percentile.
type series struct {
	style
	plotter.XYs
	plotter.YErrors
}

// insert puts a point at its place.
func (s *series) insert(at plotter.XY, spread struct{ Low, High float64 }) {
	i, _ := slices.BinarySearchFunc(s.XYs, at, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	s.XYs, s.YErrors = slices.Insert(s.XYs, i, at), slices.Insert(s.YErrors, i, spread)
}

// series are those of a panel, in the order of the legend, systems that have no place in it at the end.
func (r Page) series(p lab.Panel) (list []series) {
	if p.As == lab.Stacked {
		return r.stacks(p)
	}
	counters := p.Counters
	if p.Shows != lab.Counter {
		counters = []lab.Line{{}}
	}
	for _, name := range r.legend() {
		for n, counter := range counters {
			s := series{style: r.styleOf(name).labelled(counter.Label, n)}
			for i := range r.Results {
				x := &r.Results[i]
				at, ok := r.point(p, x, counter.Counter)
				if x.System != name || !ok {
					continue
				}
				if p.Within != nil {
					s.within(p, at, x.MedianMS)
					continue
				}
				s.insert(at, spreadIn(x, p, at.Y))
			}
			if len(s.XYs) > 0 {
				list = append(list, s)
			}
		}
	}
	return list
}

// within takes a value for every bound that a time keeps.
func (s *series) within(p lab.Panel, at plotter.XY, ms float64) {
	for _, bound := range p.Within {
		if ms > bound {
			continue
		}
		i := slices.IndexFunc(s.XYs, func(o plotter.XY) bool { return o.X == bound })
		if i < 0 {
			s.insert(plotter.XY{X: bound, Y: at.Y}, struct{ Low, High float64 }{})
		} else {
			s.XYs[i].Y = max(s.XYs[i].Y, at.Y)
		}
	}
}

// spreadIn is how far the 5th and the 95th percentile are from a value that a panel shows; none where there are too few times.
func spreadIn(r *report.Result, p lab.Panel, y float64) (spread struct{ Low, High float64 }) {
	p5, p95 := r.P5MS, r.P95MS
	if p.Of == lab.Repeated {
		p5, p95 = report.Percentiles(r.Repeated)
	}
	if p.Section != "" {
		_, p5, p95 = sectionTimes(r, p.Section)
	}
	if p95 == 0 || p.Of == lab.Cold || p.Shows == lab.Counter {
		return spread
	}
	a, b := quantity(r, p.Shows, p5), quantity(r, p.Shows, p95)
	spread.Low, spread.High = y-min(a, b), max(a, b)-y
	return spread
}

// part is one of a stacked bar.
type part struct {
	name string
	ms   float64
}

// partsOf are the parts of a case: the steps of a panel, or the sections of one system's result.
func (r Page) partsOf(p lab.Panel, x *report.Result) (list []part) {
	before := 0.0
	for _, step := range p.Steps {
		if y := r.FindCase(x.Case, step.System); y != nil {
			list = append(list, part{step.Does, max(0, y.MedianMS-before)})
			before = max(before, y.MedianMS)
		}
	}
	if p.Steps != nil {
		return list
	}
	for _, one := range x.Sections {
		list = append(list, part{one.Name, one.MedianMS})
	}
	return list
}

// stack is a bar of a panel of stacked bars.
type stack struct {
	name  string // of its place
	x     float64
	parts []part
}

// stacked are the bars of a panel, by case and system.
func (r Page) stacked(p lab.Panel) (list []stack) {
	several := len(report.Distinct(r.Results, func(x report.Result) string { return x.System })) > 1 && p.Steps == nil && len(p.Systems) != 1
	for i := range r.Results {
		x := &r.Results[i]
		at, ok := r.point(p, x, "")
		if p.Steps != nil && x.System != p.Steps[len(p.Steps)-1].System || !ok {
			continue
		}
		b := stack{tick(p, at.X), at.X, r.partsOf(p, x)}
		if n := int(at.X); p.Names != nil && n >= 1 && n <= len(p.Names) {
			b.name = p.Names[n-1]
		}
		if several {
			b.name += "\n" + r.styleOf(x.System).label
		}
		if len(b.parts) > 0 {
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b stack) int { return cmp.Compare(a.x, b.x) })
	return list
}

// stacks are the parts of the bars of a panel, each a series over their places from 1.
func (r Page) stacks(p lab.Panel) (list []series) {
	bars := r.stacked(p)
	for i, bar := range bars {
		total := 0.0
		for _, one := range bar.parts {
			total += one.ms
		}
		for _, one := range bar.parts {
			at := slices.IndexFunc(list, func(s series) bool { return s.system == one.name })
			if at < 0 {
				at = len(list)
				list = append(list, series{style: nthStyle(at, one.name), XYs: make(plotter.XYs, len(bars))})
				for j := range bars {
					list[at].XYs[j].X = float64(j + 1)
				}
			}
			if list[at].XYs[i].Y += one.ms; p.Shows == lab.Share {
				list[at].XYs[i].Y = 100 * one.ms / math.Max(total, math.SmallestNonzeroFloat64)
			}
		}
	}
	return list
}

// SystemsIn are the systems that have points in a panel, in the order of the legend.
func (r Page) SystemsIn(p lab.Panel) []string {
	return xslices.Map(r.series(p), func(s series) string { return s.system })
}

// Panels are the panels of a figure that have points.
func (r Page) Panels(f lab.Figure) []lab.Panel {
	return slices.DeleteFunc(slices.Clone(f.Panels), func(p lab.Panel) bool { return len(r.series(p)) == 0 })
}
