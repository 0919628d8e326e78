package workload

import (
	"slices"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
)

// Ladder are the sizes of tables up to one of that many rows; one of them is the paper's
// where there are as many.
func Ladder(rows int) (list []int) {
	step := 2
	if rows > 1<<24 {
		step = 4
	}
	for n := rows; n > 0 && len(list) < 5; n /= step {
		list = append(list, n)
	}
	slices.Reverse(list)
	if i := slices.Index(list, report.Nearest(list, evaluation.PaperRows)); i < len(list)-1 {
		list[i] = evaluation.PaperRows
	}
	return list
}

// RankedRows is the size of the table of figure 7, that of the paper where there are as
// many rows.
func RankedRows(sizes []int) int { return min(250_000, slices.Max(sizes)) }

// LargestRows is the number of records whose columns a device with that budget in bytes holds, for all
// systems of a case of the figures.
func LargestRows(budget int64) int {
	// classic: four textures of floats and a depth-stencil buffer of 64 bits. fused: four textures of
	// integers or depths. compute: four columns of bit planes, and of codes.
	const row = 4*report.MaxAttributes + 8 + 4*report.MaxAttributes + 3*report.MaxAttributes + 4*report.MaxAttributes
	return int(budget / row)
}
