package workload

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/papers/lab"
)

// Operation is one statement to measure, over any table.
type Operation struct {
	Name       string
	Attributes int  // how many columns it takes; one may be used twice; 0 for those that its statement names
	Integers   bool // of integers only
	Query      func(*TableProfile) meter.Query
	Draws      func(f *TableProfile, n int) []string // up to n texts of it with other parameters, no two alike, for the fresh protocol; nil: it has none

	From   string                        // the table of a statement of the user's; "": any
	Loads  bool                          // it is the loading of a file, as a whole
	Figure lab.Name                      // of the paper; "" for none
	Over   tableChoice                   // that a figure has it for
	X      func(f *TableProfile) float64 // on the figure's axis; nil: the number of rows
	only   []string                      // the systems that run it; nil: all that are not special
	extra  []string                      // special systems that run it too
}

// tableChoice are those of a run of figures.
type tableChoice int

const (
	everyTable tableChoice = iota
	paperTable             // of the paper's size, or the nearest to it
	paperAndLargest
	RankedTable // of as many records as the paper's figure 7 has
)

// RunsOver reports whether the operation runs over a table; sizes are those of the axis.
func (o Operation) RunsOver(rows int, sizes []int) bool {
	switch o.Over {
	case paperTable:
		return rows == report.Nearest(sizes, evaluation.PaperRows)
	case paperAndLargest:
		return rows == report.Nearest(sizes, evaluation.PaperRows) || rows == slices.Max(sizes)
	case RankedTable:
		return rows == RankedRows(sizes)
	}
	return slices.Contains(sizes, rows)
}

// special are the systems that run only the operations that name them.
var special = []string{report.CopyExcluded, report.ClassicCountOnly, report.ClassicNoCount, report.ClassicNoGuard, report.ClassicFloat, report.Quickselect, report.MipmapSum}

// Takes reports whether a system runs the operation.
func (o Operation) Takes(system string) bool {
	switch {
	case o.only != nil:
		return slices.Contains(o.only, system)
	case slices.Contains(special, system):
		return slices.Contains(o.extra, system)
	}
	return true
}

// Operations are the paper's operations. Constants are quantiles of the columns, so that the selectivities
// are the paper's on any data. A column with few distinct values comes as close as it can.
var Operations = []Operation{
	{Name: "count", Attributes: 1, Query: counting(Below60)},
	{Name: "between", Attributes: 1, Query: counting(between)},
	{Name: "and4", Attributes: 4, Query: counting(conjunction(4))},
	{Name: "semilinear", Attributes: 4, Integers: true, Query: func(f *TableProfile) meter.Query {
		return f.linear(func(x func(int) string) string {
			return fmt.Sprintf("3 * %s - 2 * %s + 5 * %s - 7 * %s < 0", x(0), x(1), x(2), x(3))
		})
	}},
	{Name: "sum", Attributes: 1, Query: aggregate("SUM")},
	{Name: "avg", Attributes: 1, Query: aggregate("AVG")},
	{Name: "min", Attributes: 1, Query: aggregate("MIN")},
	{Name: "max", Attributes: 1, Query: aggregate("MAX")},
	{Name: "median", Attributes: 1, Query: medianOfAll},
	{Name: "median_where", Attributes: 2, Query: medianOf80},
}

// FigureOperations are the cases of the figures, in their order.
var FigureOperations = func() []Operation {
	withoutCopies, ranked := []string{report.CopyExcluded}, []string{report.CopyExcluded, report.Quickselect}
	selecting := []string{report.CopyExcluded, report.ClassicCountOnly}
	list := []Operation{
		{Figure: "2", Name: "copy_to_depth", Attributes: 1, only: []string{report.Classic}, Query: working(meter.Copies, counting(Below60))},
		{Figure: "3", Name: "predicate", Attributes: 1, extra: append(selecting, report.ClassicNoGuard), Query: working(meter.Selects, counting(Below60))},
		{Figure: "4", Name: "range", Attributes: 1, extra: selecting, Query: working(meter.Selects, counting(between))},
		{Figure: "6", Name: "semilinear", Attributes: 4, Integers: true, Query: func(f *TableProfile) meter.Query { return f.linear(f.semilinear) }},
		{Figure: "6", Name: evaluation.SemilinearFloat, Attributes: 4, Integers: true, extra: []string{report.ClassicFloat}, Query: (*TableProfile).semilinearFloat},
		{Figure: "8", Name: "median", Attributes: 1, extra: append(ranked, report.ClassicNoGuard), Query: medianOfAll},
		{Figure: "9", Name: "median_where", Attributes: 2, extra: ranked, Query: medianOf80},
		{Figure: evaluation.MipmapFigure, Name: "sum", Attributes: 1, extra: []string{report.MipmapSum}, Query: aggregate("SUM")},
	}
	for n := 1; n <= report.MaxAttributes; n++ {
		extra := withoutCopies
		if n == 1 { // of more the stencil buffer holds the selection in any case
			extra = selecting
		}
		list = append(list, Operation{Figure: "5", Name: fmt.Sprintf("and%d", n), Attributes: n, extra: extra, Query: working(meter.Selects, counting(conjunction(n)))})
	}
	for i, name := range evaluation.Polynomials {
		list = append(list, Operation{Figure: "6", Name: name, Attributes: 2, Integers: true, Over: paperTable,
			X: func(*TableProfile) float64 { return float64(i + 1) }, Query: func(f *TableProfile) meter.Query { return f.polynomial(i + 1) }})
	}
	for i, name := range evaluation.Ranks {
		k := func(f *TableProfile) int { return max(1, f.columns[0].values*20*i/100) }
		list = append(list, Operation{Figure: "7", Name: name, Attributes: 1, extra: ranked, Over: RankedTable,
			X: func(f *TableProfile) float64 { return float64(k(f)) }, Query: func(f *TableProfile) meter.Query { return f.kthLargest(k(f)) }})
	}
	for i, op := range []Operation{
		{Attributes: 1, Query: counting(Below60)}, {Attributes: 1, Query: counting(between)}, {Attributes: 2, Query: counting(conjunction(2))},
		{Attributes: 3, Query: counting(conjunction(3))}, {Attributes: 4, Query: counting(conjunction(4))},
		{Attributes: 4, Integers: true, Query: counting(func(f *TableProfile) string { return f.semilinear(f.Integer) })},
	} {
		op.Figure, op.Name, op.Over, op.only = "11", evaluation.Selections[i], paperAndLargest, []string{report.Classic, report.ClassicNoCount}
		query := working(meter.Selects, op.Query)
		op.X, op.Query = func(*TableProfile) float64 { return float64(i + 1) }, func(f *TableProfile) meter.Query {
			q := query(f)
			q.Again = true
			return q
		}
		list = append(list, op)
	}
	list = append(list, Operation{Figure: "11", Name: evaluation.CountSelection, Attributes: 1, Over: paperAndLargest, only: []string{report.Classic},
		X: func(*TableProfile) float64 { return float64(len(evaluation.Selections) + 1) }, Query: working(meter.Counts, counting(Below60))})
	place := func(o Operation) int {
		return slices.IndexFunc(evaluation.Figures, func(f lab.Figure) bool { return f.Name == o.Figure })
	}
	slices.SortStableFunc(list, func(a, b Operation) int { return cmp.Compare(place(a), place(b)) })
	return list
}()

// working is a query of which only a part is measured.
func working(w meter.Work, query func(*TableProfile) meter.Query) func(*TableProfile) meter.Query {
	return func(f *TableProfile) meter.Query {
		q := query(f)
		q.Work = w
		return q
	}
}

// counting counts by a condition.
func counting(condition func(*TableProfile) string) func(*TableProfile) meter.Query {
	return func(f *TableProfile) meter.Query { return f.CountWhere(condition(f)) }
}

// Below60 selects 60 % of the records by the first attribute.
func Below60(f *TableProfile) string { return f.below(0, 60) }

// between is the range of the paper's figure 4.
func between(f *TableProfile) string {
	return fmt.Sprintf("%s BETWEEN %s AND %s", f.name(0), f.at(0, 20), f.at(0, 80))
}

// conjunction is AND of n attributes, 60 % each; an attribute that is used again gives
// its largest 60 %.
func conjunction(n int) func(*TableProfile) string {
	return func(f *TableProfile) string {
		text := f.below(0, 60)
		for i := 1; i < n; i++ {
			if i < len(f.columns) {
				text += " AND " + f.below(i, 60)
			} else {
				text += " AND " + f.name(i) + " >= " + f.at(i, 40)
			}
		}
		return text
	}
}

// aggregate is an aggregate of the first attribute.
func aggregate(function string) func(*TableProfile) meter.Query {
	return func(f *TableProfile) meter.Query {
		q := f.value(function + "(" + f.columns[0].name + ")")
		if (function == "SUM" || function == "AVG") && !f.columns[0].typ.IsNumeric() {
			q.Cannot = fmt.Sprintf("%s is of type %v, which has no %s", f.columns[0].name, f.columns[0].typ, function)
		}
		return q
	}
}

func medianOfAll(f *TableProfile) meter.Query { return f.median("") }

func medianOf80(f *TableProfile) meter.Query { return f.median(f.below(1, 80)) }
