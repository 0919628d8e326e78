package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// Operation is one statement to measure, over any table.
type Operation struct {
	Name       string
	Attributes int  // how many columns it takes; one may be used twice; 0 for those that its statement names
	Integers   bool // of integers only
	query      func(*facts) Query
	draws      func(f *facts, n int) []string // up to n texts of it with other parameters, no two alike, for the fresh protocol; nil: it has none

	from   string                 // the table of a statement of the user's; "": any
	loads  bool                   // it is the loading of a file, as a whole
	figure lab.Name               // of the paper; "" for none
	over   tables                 // that a figure has it for
	x      func(f *facts) float64 // on the figure's axis; nil: the number of rows
	only   []string               // the systems that run it; nil: all that are not special
	extra  []string               // special systems that run it too
}

// tables are those of a run of figures.
type tables int

const (
	everyTable tables = iota
	paperTable        // of the paper's size, or the nearest to it
	paperAndLargest
	rankedTable // of as many records as the paper's figure 7 has
)

// runsOver reports whether the operation runs over a table; sizes are those of the axis.
func (o Operation) runsOver(rows int, sizes []int) bool {
	switch o.over {
	case paperTable:
		return rows == nearest(sizes, paperRows)
	case paperAndLargest:
		return rows == nearest(sizes, paperRows) || rows == slices.Max(sizes)
	case rankedTable:
		return rows == rankedRows(sizes)
	}
	return slices.Contains(sizes, rows)
}

// special are the systems that run only the operations that name them.
var special = []string{copyExcluded, classicCounts, classicAlone, classicBare, classicFloat, quickSelect, mipmapSum}

// takes reports whether a system runs the operation.
func (o Operation) takes(system string) bool {
	switch {
	case o.only != nil:
		return slices.Contains(o.only, system)
	case slices.Contains(special, system):
		return slices.Contains(o.extra, system)
	}
	return true
}

// operations are the paper's operations. Constants are quantiles of the columns, so
// that the selectivities are the paper's on any data; a column with few distinct
// values comes as close as it can.
var operations = []Operation{
	{Name: "count", Attributes: 1, query: counting(below60)},
	{Name: "between", Attributes: 1, query: counting(between)},
	{Name: "and4", Attributes: 4, query: counting(conjunction(4))},
	{Name: "semilinear", Attributes: 4, Integers: true, query: func(f *facts) Query {
		return f.linear(func(x func(int) string) string {
			return fmt.Sprintf("3 * %s - 2 * %s + 5 * %s - 7 * %s < 0", x(0), x(1), x(2), x(3))
		})
	}},
	{Name: "sum", Attributes: 1, query: aggregate("SUM")},
	{Name: "avg", Attributes: 1, query: aggregate("AVG")},
	{Name: "min", Attributes: 1, query: aggregate("MIN")},
	{Name: "max", Attributes: 1, query: aggregate("MAX")},
	{Name: "median", Attributes: 1, query: medianOfAll},
	{Name: "median_where", Attributes: 2, query: medianOf80},
}

// The operations of the figures that come in families: over the degree, over k (the
// percentage of the values that are as large), and of figure 11.
var (
	polynomials = []string{"polynomial1", "polynomial2", "polynomial3", "polynomial4"}
	ranks       = []string{"kth_largest_0pct", "kth_largest_20pct", "kth_largest_40pct", "kth_largest_60pct", "kth_largest_80pct", "kth_largest_100pct"}
	selections  = []string{"select_predicate", "select_range", "select_and2", "select_and3", "select_and4", "select_semilinear"}
)

// countSelection is the operation of the paper's section 5.11 that counts a selection which the
// stencil buffer holds, and semilinearFloat that of figure 6 as published.
const (
	countSelection  = "count_selection"
	semilinearFloat = "semilinear_float"
)

// rankShown is the operation of figure 7 that stands for the others.
const rankShown = "kth_largest_40pct"

// figureOperations are the cases of the figures, in their order.
var figureOperations = func() []Operation {
	withoutCopies, ranked := []string{copyExcluded}, []string{copyExcluded, quickSelect}
	selecting := []string{copyExcluded, classicCounts}
	list := []Operation{
		{figure: "2", Name: "copy_to_depth", Attributes: 1, only: []string{classic}, query: working(Copies, counting(below60))},
		{figure: "3", Name: "predicate", Attributes: 1, extra: append(selecting, classicBare), query: working(Selects, counting(below60))},
		{figure: "4", Name: "range", Attributes: 1, extra: selecting, query: working(Selects, counting(between))},
		{figure: "6", Name: "semilinear", Attributes: 4, Integers: true, query: func(f *facts) Query { return f.linear(f.semilinear) }},
		{figure: "6", Name: semilinearFloat, Attributes: 4, Integers: true, extra: []string{classicFloat}, query: (*facts).semilinearFloat},
		{figure: "8", Name: "median", Attributes: 1, extra: append(ranked, classicBare), query: medianOfAll},
		{figure: "9", Name: "median_where", Attributes: 2, extra: ranked, query: medianOf80},
		{figure: mipmapFigure, Name: "sum", Attributes: 1, extra: []string{mipmapSum}, query: aggregate("SUM")},
	}
	for n := 1; n <= attributes; n++ {
		extra := withoutCopies
		if n == 1 { // of more the stencil buffer holds the selection in any case
			extra = selecting
		}
		list = append(list, Operation{figure: "5", Name: fmt.Sprintf("and%d", n), Attributes: n, extra: extra, query: working(Selects, counting(conjunction(n)))})
	}
	for i, name := range polynomials {
		list = append(list, Operation{figure: "6", Name: name, Attributes: 2, Integers: true, over: paperTable,
			x: func(*facts) float64 { return float64(i + 1) }, query: func(f *facts) Query { return f.polynomial(i + 1) }})
	}
	for i, name := range ranks {
		k := func(f *facts) int { return max(1, f.columns[0].values*20*i/100) }
		list = append(list, Operation{figure: "7", Name: name, Attributes: 1, extra: ranked, over: rankedTable,
			x: func(f *facts) float64 { return float64(k(f)) }, query: func(f *facts) Query { return f.kthLargest(k(f)) }})
	}
	for i, op := range []Operation{
		{Attributes: 1, query: counting(below60)}, {Attributes: 1, query: counting(between)}, {Attributes: 2, query: counting(conjunction(2))},
		{Attributes: 3, query: counting(conjunction(3))}, {Attributes: 4, query: counting(conjunction(4))},
		{Attributes: 4, Integers: true, query: counting(func(f *facts) string { return f.semilinear(f.integer) })},
	} {
		op.figure, op.Name, op.over, op.only = "11", selections[i], paperAndLargest, []string{classic, classicAlone}
		query := working(Selects, op.query)
		op.x, op.query = func(*facts) float64 { return float64(i + 1) }, func(f *facts) Query {
			q := query(f)
			q.Again = true
			return q
		}
		list = append(list, op)
	}
	list = append(list, Operation{figure: "11", Name: countSelection, Attributes: 1, over: paperAndLargest, only: []string{classic},
		x: func(*facts) float64 { return float64(len(selections) + 1) }, query: working(Counts, counting(below60))})
	place := func(o Operation) int {
		return slices.IndexFunc(figures, func(f lab.Figure) bool { return f.Name == o.figure })
	}
	slices.SortStableFunc(list, func(a, b Operation) int { return cmp.Compare(place(a), place(b)) })
	return list
}()

// working is a query of which only a part is measured.
func working(w Work, query func(*facts) Query) func(*facts) Query {
	return func(f *facts) Query {
		q := query(f)
		q.Work = w
		return q
	}
}

// counting counts by a condition.
func counting(condition func(*facts) string) func(*facts) Query {
	return func(f *facts) Query { return f.countWhere(condition(f)) }
}

// below60 selects 60 % of the records by the first attribute.
func below60(f *facts) string { return f.below(0, 60) }

// between is the range of the paper's figure 4.
func between(f *facts) string {
	return fmt.Sprintf("%s BETWEEN %s AND %s", f.name(0), f.at(0, 20), f.at(0, 80))
}

// conjunction is AND of n attributes, 60 % each; an attribute that is used again gives
// its largest 60 %.
func conjunction(n int) func(*facts) string {
	return func(f *facts) string {
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
func aggregate(function string) func(*facts) Query {
	return func(f *facts) Query {
		q := f.value(function + "(" + f.columns[0].name + ")")
		if (function == "SUM" || function == "AVG") && !f.columns[0].typ.IsNumeric() {
			q.Cannot = fmt.Sprintf("%s is of type %v, which has no %s", f.columns[0].name, f.columns[0].typ, function)
		}
		return q
	}
}

func medianOfAll(f *facts) Query { return f.median("") }

func medianOf80(f *facts) Query { return f.median(f.below(1, 80)) }
