package report

import (
	"cmp"
	"github.com/stencildb/stencildb/internal/xslices"
	"slices"
)

// Floor is what the least possible passes over a table of that many records take, in milliseconds. Nothing
// that visits each record can be faster. Measured before and after the cases of the table; the smaller
// medians.
type Floor struct {
	Rows int `json:"rows"`
	// DrawMS is a quad with a depth test and a count, and no texture, from an idle device to an idle device.
	// EachMS is what each of many such quads takes that follow each other (the paper's empty quads of section
	// 6.2).
	DrawMS float64 `json:"draw_ms"`
	EachMS float64 `json:"draw_each_ms"`
	// BareMS is EachMS of quads without the guard program of package pass; 0 where it has none.
	BareMS float64 `json:"draw_bare_ms,omitempty"`
	// DispatchMS is a dispatch of one work group that does nothing.
	DispatchMS float64 `json:"dispatch_ms"`
	// CopyMS is a copy on the device of one attribute of 32 bits.
	CopyMS float64 `json:"copy_ms"`
	// Runs is the number of runs of the medians, the smallest of them.
	Runs int `json:"runs"`
}

// Tie is two systems, next to each other by their medians, that a run was too noisy to rank. The 95 %
// interval of the ratio of their times holds 1.
type Tie struct {
	Case
	A  string  `json:"a"`
	B  string  `json:"b"`
	Lo float64 `json:"lo"` // of the interval of the time of b over that of a; 0, 0 for too few rounds
	Hi float64 `json:"hi"`
}

// TiesOf compares the neighbours of a case.
func (r *Report) TiesOf(c Case) (ties []Tie) {
	list := xslices.Filter(r.Results, func(x Result) bool { return x.Case == c })
	slices.SortStableFunc(list, func(a, b Result) int { return cmp.Compare(a.MedianMS, b.MedianMS) })
	for i := 1; i < len(list); i++ {
		a, b := &list[i-1], &list[i]
		if lo, hi := RatioInterval(a.MS, b.MS); hi == 0 || lo <= 1 && hi >= 1 {
			ties = append(ties, Tie{c, a.System, b.System, lo, hi})
		}
	}
	return ties
}

// FloorOf is the floor of a system over a table, 0 for those off the device.
func (r *Report) FloorOf(system string, rows int) float64 {
	i := slices.IndexFunc(r.Floors, func(f Floor) bool { return f.Rows == rows })
	switch {
	case i < 0 || BackendsOfFigures[system] == "":
		return 0
	case system == "compute":
		return max(r.Floors[i].DispatchMS, r.Floors[i].CopyMS)
	}
	return r.Floors[i].DrawMS
}
