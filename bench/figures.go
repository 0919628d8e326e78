package bench

import "slices"

// The systems of the figures beside the backends and the peers.
const (
	classic        = "classic"
	classicCompute = "classic-compute-only" // less the CopyToDepth passes
	classicAlone   = "classic-no-count"     // the selection without its count
	cpuScalar      = "cpu-scalar"           // without vector instructions
	quickSelect    = "quickselect"
	mipmapSum      = "mipmap"
)

// figureBackends are the systems of the figures on the device, with the backend that
// each runs.
var figureBackends = map[string]string{
	classic: classic, classicCompute: classic, classicAlone: classic, mipmapSum: classic, "fused": "fused", "compute": "compute",
}

// figureSystems are those that backends stand for in the figures.
func figureSystems(backends []string) (list []string) {
	for _, b := range backends {
		list = append(list, b)
		switch b {
		case classic:
			list = append(list, classicCompute, classicAlone, mipmapSum)
		case "cpu":
			list = append(list, cpuScalar, quickSelect)
		}
	}
	return list
}

// Figure is one of the paper's.
type Figure struct {
	Number int
	Title  string
	// Panels are its plots.
	Panels []Panel
}

// Panel is one plot of a figure: milliseconds over the axis, a line a system.
type Panel struct {
	Title      string
	XLabel     string
	LogX       bool
	Operations []string // whose points it shows
	Names      []string // of the places on the axis, where it is none of numbers
}

// overRecords is the panel of an operation over tables of several sizes.
func overRecords(title, operation string) Panel {
	return Panel{Title: title, XLabel: "records", LogX: true, Operations: []string{operation}}
}

// mipmapFigure is the figure that has the mipmap sum too.
const mipmapFigure = 10

// figures are the paper's figures 2 to 10, and as 11 its section 5.11 on selectivities.
var figures = []Figure{
	{2, "Copy of an attribute to the depth buffer", []Panel{overRecords("", "copy_to_depth")}},
	{3, "Predicate, 60 % selectivity", []Panel{overRecords("", "predicate")}},
	{4, "Range from the 20th to the 80th percentile", []Panel{overRecords("", "range")}},
	{5, "AND of several attributes, 60 % selectivity each", []Panel{overRecords("1 attribute", "and1"), overRecords("2 attributes", "and2"),
		overRecords("3 attributes", "and3"), overRecords("4 attributes", "and4")}},
	{6, "Semi-linear query, four random coefficients; polynomials", []Panel{overRecords("semi-linear", "semilinear"),
		{Title: "polynomials of one attribute, largest table", XLabel: "degree", Operations: polynomials}}},
	{7, "k-th largest against k, of up to 250,000 records", []Panel{{XLabel: "k", Operations: ranks}}},
	{8, "Median", []Panel{overRecords("", "median")}},
	{9, "Median of 80 % of the records", []Panel{overRecords("", "median_where")}},
	{mipmapFigure, "Sum", []Panel{overRecords("", "sum")}},
	{11, "Selectivity: queries with their COUNT and without", []Panel{{Operations: selections,
		Names: []string{"predicate", "range", "AND 2", "AND 3", "AND 4", "semi-linear"}}}},
}

// ladder are the sizes of tables up to one of that many rows.
func ladder(rows int) (list []int) {
	step := 2
	if rows > 1<<24 {
		step = 4
	}
	for n := rows; n > 0 && len(list) < 5; n /= step {
		list = append(list, n)
	}
	slices.Reverse(list)
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
