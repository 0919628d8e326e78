package evaluation

import (
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// MipmapFigure is the figure that has the mipmap sum too.
const MipmapFigure = lab.Name("10")

// Figures are the paper's figures 2 to 10, and as 11 its section 5.11 on selectivities.
var Figures = []lab.Figure{
	{Name: "2", Title: "Copy of an attribute to the depth buffer", Panels: []lab.Panel{OverRecords("", "copy_to_depth")}},
	{Name: "3", Title: "Predicate, 60 % selectivity", Panels: []lab.Panel{OverRecords("", "predicate")}},
	{Name: "4", Title: "Range from the 20th to the 80th percentile", Panels: []lab.Panel{OverRecords("", "range")}},
	{Name: "5", Title: "AND of several attributes, 60 % selectivity each", Panels: []lab.Panel{OverRecords("1 attribute", "and1"), OverRecords("2 attributes", "and2"),
		OverRecords("3 attributes", "and3"), OverRecords("4 attributes", "and4")}},
	{Name: "6", Title: "Semi-linear query, four random coefficients; polynomials", Panels: []lab.Panel{OverRecords("random floats", SemilinearFloat),
		OverRecords("random integers", "semilinear"),
		{Title: "polynomials, the paper's number of records", XLabel: "degree", Operations: Polynomials, Paper: true}}},
	{Name: "7", Title: "k-th largest against k, of up to 250,000 records", Panels: []lab.Panel{{XLabel: "k", Operations: Ranks}}},
	{Name: "8", Title: "Median", Panels: []lab.Panel{OverRecords("", "median")}},
	{Name: "9", Title: "Median of 80 % of the records", Panels: []lab.Panel{OverRecords("", "median_where")}},
	{Name: MipmapFigure, Title: "Sum", Panels: []lab.Panel{OverRecords("", "sum")}},
	{Name: "11", Title: "Selectivity: with COUNT, without, and it alone", Panels: []lab.Panel{
		{Title: "the paper's number of records", Operations: selected, Names: selectedNames, Paper: true},
		{Title: "largest table", Operations: selected, Names: selectedNames, Largest: true}}},
}

// selected are the operations of figure 11, and selectedNames what their places are called.
var (
	selected      = append(slices.Clone(Selections), CountSelection)
	selectedNames = []string{"compare", "range", "AND 2", "AND 3", "AND 4", "linear", "count"}
)

// PaperRows is the number of records of the paper's tables.
const PaperRows = 1_000_000

// The operations of the figures that come in families. They vary the degree, k (as the percentage of the
// values that are as large), or what figure 11 does.
var (
	Polynomials = []string{"polynomial1", "polynomial2", "polynomial3", "polynomial4"}
	Ranks       = []string{"kth_largest_0pct", "kth_largest_20pct", "kth_largest_40pct", "kth_largest_60pct", "kth_largest_80pct", "kth_largest_100pct"}
	Selections  = []string{"select_predicate", "select_range", "select_and2", "select_and3", "select_and4", "select_semilinear"}
)

// CountSelection is the operation of the paper's section 5.11 that counts a selection in the stencil buffer.
// SemilinearFloat is that of figure 6 as published.
const (
	CountSelection  = "count_selection"
	SemilinearFloat = "semilinear_float"
)

// RankShown is the operation of figure 7 that stands for the others.
const RankShown = "kth_largest_40pct"

// OverRecords is the panel of an operation over tables of several sizes.
func OverRecords(title, operation string) lab.Panel {
	return lab.Panel{Title: title, XLabel: "records", LogX: true, Operations: []string{operation}}
}
