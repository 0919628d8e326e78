package bench

import (
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
)

// The systems of the figures beside the backends and the peers.
const (
	classic       = "classic"
	copyExcluded  = "classic-copy-excluded" // less the CopyToDepth passes
	classicCounts = "classic-count-only"    // counts, and leaves no selection in the stencil buffer
	classicAlone  = "classic-no-count"      // the selection without its count
	classicBare   = "classic-no-guard"      // without the guard program of package pass
	classicFloat  = "classic-float"         // SemilinearFP as published, in float32
	cpuScalar     = "cpu-scalar"            // without vector instructions
	quickSelect   = "quickselect"
	mipmapSum     = "mipmap"
)

// figureBackends are the systems of the figures on the device, with the backend that
// each runs.
var figureBackends = map[string]string{
	classic: classic, copyExcluded: classic, classicCounts: classic, classicAlone: classic, classicBare: classic, classicFloat: classic, mipmapSum: classic,
	"fused": "fused", "compute": "compute",
}

// figureSystems are those that backends stand for in the figures.
func figureSystems(backends []string) (list []string) {
	for _, b := range backends {
		list = append(list, b)
		switch b {
		case classic:
			list = append(list, copyExcluded, classicCounts, classicAlone, classicBare, classicFloat, mipmapSum)
		case "cpu":
			list = append(list, cpuScalar, quickSelect)
		}
	}
	return list
}

// mipmapFigure is the figure that has the mipmap sum too.
const mipmapFigure = lab.Name("10")

// figures are the paper's figures 2 to 10, and as 11 its section 5.11 on selectivities.
var figures = []lab.Figure{
	{Name: "2", Title: "Copy of an attribute to the depth buffer", Panels: []lab.Panel{overRecords("", "copy_to_depth")}},
	{Name: "3", Title: "Predicate, 60 % selectivity", Panels: []lab.Panel{overRecords("", "predicate")}},
	{Name: "4", Title: "Range from the 20th to the 80th percentile", Panels: []lab.Panel{overRecords("", "range")}},
	{Name: "5", Title: "AND of several attributes, 60 % selectivity each", Panels: []lab.Panel{overRecords("1 attribute", "and1"), overRecords("2 attributes", "and2"),
		overRecords("3 attributes", "and3"), overRecords("4 attributes", "and4")}},
	{Name: "6", Title: "Semi-linear query, four random coefficients; polynomials", Panels: []lab.Panel{overRecords("random floats", semilinearFloat),
		overRecords("random integers", "semilinear"),
		{Title: "polynomials, the paper's number of records", XLabel: "degree", Operations: polynomials, Paper: true}}},
	{Name: "7", Title: "k-th largest against k, of up to 250,000 records", Panels: []lab.Panel{{XLabel: "k", Operations: ranks}}},
	{Name: "8", Title: "Median", Panels: []lab.Panel{overRecords("", "median")}},
	{Name: "9", Title: "Median of 80 % of the records", Panels: []lab.Panel{overRecords("", "median_where")}},
	{Name: mipmapFigure, Title: "Sum", Panels: []lab.Panel{overRecords("", "sum")}},
	{Name: "11", Title: "Selectivity: with COUNT, without, and it alone", Panels: []lab.Panel{
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
	if i := slices.Index(list, nearest(list, paperRows)); i < len(list)-1 {
		list[i] = paperRows
	}
	return list
}

// rankedRows is the size of the table of figure 7, that of the paper where there are as
// many rows.
func rankedRows(sizes []int) int { return min(250_000, slices.Max(sizes)) }

// largestRows is the number of records up to which all the systems of the figures
// hold the columns of a case on a device with that budget in bytes.
func largestRows(budget int64) int {
	// classic: four textures of floats and a depth-stencil buffer of 64 bits; fused:
	// four textures of integers or depths; compute: four columns of bit planes, and of
	// codes.
	const row = 4*attributes + 8 + 4*attributes + 3*attributes + 4*attributes
	return int(budget / row)
}
