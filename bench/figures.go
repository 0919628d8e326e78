package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
)

// The systems of the figures beside the backends and the peers.
const (
	classic        = "classic"
	classicCompute = "classic-compute-only" // less the CopyToDepth passes
	classicCounts  = "classic-count-only"   // counts, and leaves no selection in the stencil buffer
	classicAlone   = "classic-no-count"     // the selection without its count
	classicBare    = "classic-no-guard"     // without the guard program of package pass
	classicFloat   = "classic-float"        // SemilinearFP as published, in float32
	cpuScalar      = "cpu-scalar"           // without vector instructions
	quickSelect    = "quickselect"
	mipmapSum      = "mipmap"
)

// figureBackends are the systems of the figures on the device, with the backend that
// each runs.
var figureBackends = map[string]string{
	classic: classic, classicCompute: classic, classicCounts: classic, classicAlone: classic, classicBare: classic, classicFloat: classic, mipmapSum: classic,
	"fused": "fused", "compute": "compute",
}

// figureSystems are those that backends stand for in the figures.
func figureSystems(backends []string) (list []string) {
	for _, b := range backends {
		list = append(list, b)
		switch b {
		case classic:
			list = append(list, classicCompute, classicCounts, classicAlone, classicBare, classicFloat, mipmapSum)
		case "cpu":
			list = append(list, cpuScalar, quickSelect)
		}
	}
	return list
}

// Figure is one of the paper's, or of a user's statements.
type Figure struct {
	Number int // in the paper; 0 for none
	Title  string
	// Panels are its plots.
	Panels []Panel
	Name   string // of its files; "" for figure-NN
}

// heading is what stands above the figure.
func (f Figure) heading() string {
	if f.Number == 0 {
		return f.Title
	}
	return fmt.Sprintf("Figure %d: %s", f.Number, f.Title)
}

// File is the name of its files, without an extension.
func (f Figure) File() string { return cmp.Or(f.Name, fmt.Sprintf("figure-%02d", f.Number)) }

// has reports whether a result is one of the figure's.
func (f Figure) has(x Result) bool {
	if f.Number > 0 {
		return x.Figure == f.Number
	}
	return slices.ContainsFunc(f.Panels, func(p Panel) bool { return slices.Contains(p.Operations, x.Operation) })
}

// Panel is one plot of a figure: milliseconds over the axis, a line a system.
type Panel struct {
	Title      string
	XLabel     string
	LogX       bool
	Operations []string // whose points it shows
	Names      []string // of the places on the axis, where it is none of numbers
	Largest    bool     // of each operation only the largest table, at the place of its number
	Paper      bool     // of each operation only the table of the paper's size, likewise
	Of         timing   // which times it shows
}

// timing is which times of a result that a panel shows.
type timing int

const (
	warm     timing = iota // the median of the rounds; of the fresh protocol with new parameters
	repeated               // of the fresh protocol, the prepared statement again
	cold                   // with the upload of the columns; of the fresh protocol the first execution in a process
)

// point is where a result stands in the panel; ok is false where it is not in it.
func (p Panel) point(r *Report, x Result) (at plotter.XY, ok bool) {
	i := slices.Index(p.Operations, x.Operation)
	if i < 0 || p.Paper && !r.isPaper(x.Case) || p.Largest && (!r.isLargest(x.Case) || x.Figure > 0 && r.isPaper(x.Case)) {
		return at, false
	}
	at = plotter.XY{X: x.X, Y: x.MedianMS}
	switch {
	case p.Largest || p.Paper:
		at.X = float64(i + 1)
	case x.Figure == 0:
		at.X = float64(x.Rows)
	}
	switch p.Of {
	case repeated:
		at.Y = x.RepeatedMS
	case cold:
		at.Y = x.ColdMS
	}
	return at, at.Y > 0
}

// overRecords is the panel of an operation over tables of several sizes.
func overRecords(title, operation string) Panel {
	return Panel{Title: title, XLabel: "records", LogX: true, Operations: []string{operation}}
}

// mipmapFigure is the figure that has the mipmap sum too.
const mipmapFigure = 10

// figures are the paper's figures 2 to 10, and as 11 its section 5.11 on selectivities.
var figures = []Figure{
	{Number: 2, Title: "Copy of an attribute to the depth buffer", Panels: []Panel{overRecords("", "copy_to_depth")}},
	{Number: 3, Title: "Predicate, 60 % selectivity", Panels: []Panel{overRecords("", "predicate")}},
	{Number: 4, Title: "Range from the 20th to the 80th percentile", Panels: []Panel{overRecords("", "range")}},
	{Number: 5, Title: "AND of several attributes, 60 % selectivity each", Panels: []Panel{overRecords("1 attribute", "and1"), overRecords("2 attributes", "and2"),
		overRecords("3 attributes", "and3"), overRecords("4 attributes", "and4")}},
	{Number: 6, Title: "Semi-linear query, four random coefficients; polynomials", Panels: []Panel{overRecords("random floats", semilinearFloat),
		overRecords("random integers", "semilinear"),
		{Title: "polynomials, the paper's number of records", XLabel: "degree", Operations: polynomials, Paper: true}}},
	{Number: 7, Title: "k-th largest against k, of up to 250,000 records", Panels: []Panel{{XLabel: "k", Operations: ranks}}},
	{Number: 8, Title: "Median", Panels: []Panel{overRecords("", "median")}},
	{Number: 9, Title: "Median of 80 % of the records", Panels: []Panel{overRecords("", "median_where")}},
	{Number: mipmapFigure, Title: "Sum", Panels: []Panel{overRecords("", "sum")}},
	{Number: 11, Title: "Selectivity: with COUNT, without, and it alone", Panels: []Panel{
		{Title: "the paper's number of records", Operations: selected, Names: selectedNames, Paper: true},
		{Title: "largest table", Operations: selected, Names: selectedNames, Largest: true}}},
}

// selected are the operations of figure 11, and selectedNames what their places are called.
var (
	selected      = append(slices.Clone(selections), countSelection)
	selectedNames = []string{"compare", "range", "AND 2", "AND 3", "AND 4", "linear", "count"}
)

// paperRows is the number of records of the paper's tables.
const paperRows = 1_000_000

// nearest is the size that is nearest to that of the paper's tables, by its ratio.
func nearest(sizes []int) int {
	away := func(rows int) float64 { return math.Abs(math.Log(float64(rows) / paperRows)) }
	return slices.MinFunc(sizes, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
}

// ladder are the sizes of tables up to one of that many rows; one of them is the paper's
// where there are as many.
func ladder(rows int) (list []int) {
	step := 2
	if rows > 1<<24 {
		step = 4
	}
	for n := rows; n > 0 && len(list) < 5; n /= step {
		list = append(list, n)
	}
	slices.Reverse(list)
	if i := slices.Index(list, nearest(list)); i < len(list)-1 {
		list[i] = paperRows
	}
	return list
}

// rankedRows is the size of the table of figure 7, that of the paper where there are as
// many rows.
func rankedRows(sizes []int) int { return min(250_000, slices.Max(sizes)) }

// LargestRows is the number of records up to which all the systems of the figures
// hold the columns of a case on a device with that budget in bytes.
func LargestRows(budget int64) int {
	// classic: four textures of floats and a depth-stencil buffer of 64 bits; fused:
	// four textures of integers or depths; compute: four columns of bit planes, and of
	// codes.
	const row = 4*attributes + 8 + 4*attributes + 3*attributes + 4*attributes
	return int(budget / row)
}
