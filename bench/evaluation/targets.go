package evaluation

import (
	"fmt"

	"github.com/stencildb/stencildb/bench/report"
)

// Target is a speed that the project has set itself: the time of a backend in a
// case, or its ratio to another system's.
type Target struct {
	Hardware  bool // on an H200; else on two cores with a software rasteriser
	Rows      int
	Operation string
	Backend   string
	LimitMS   float64 // 0 where the limit is a ratio
	To        string  // the system that Ratio is to
	Ratio     float64
}

const (
	SoftwareRows      = 1 << 24
	HardwareRows      = 1 << 28
	SmallHardwareRows = 1 << 20
)

// Targets lists the targets.
func Targets() (list []Target) {
	for _, t := range []struct {
		operation      string
		fused, compute float64 // ms at HardwareRows
		small          float64 // ms of compute at SmallHardwareRows
		ratio, auto    float64 // of compute and auto to DuckDB at SoftwareRows
	}{
		{"count", 13.5, 0.125, 0.05, 0.4, 1},
		{"between", 13.5, 0.15, 0.05, 0.45, 1},
		{"and4", 22, 0.5, 0.05, 0.6, 1},
		{"semilinear", 21, 1.3, 0.05, 0, 1},
		{"sum", 44, 0.23, 0.05, 0.9, 1},
		{"median", 255, 0.65, 0.25, 0.12, 1},
		{"median_where", 0, 0.9, 0.25, 0, 0},
	} {
		for _, limit := range []Target{
			{Hardware: true, Rows: HardwareRows, Backend: "fused", LimitMS: t.fused},
			{Hardware: true, Rows: HardwareRows, Backend: "compute", LimitMS: t.compute},
			{Hardware: true, Rows: SmallHardwareRows, Backend: "compute", LimitMS: t.small},
			{Rows: SoftwareRows, Backend: "compute", To: "duckdb", Ratio: t.ratio},
			{Rows: SoftwareRows, Backend: "auto", To: "duckdb", Ratio: t.auto},
		} {
			if limit.Operation = t.operation; limit.LimitMS+limit.Ratio > 0 {
				list = append(list, limit)
			}
		}
	}
	return list
}

// Measured returns what the report has for the target, for a ratio also that of
// processor times, and of how many rounds.
func (t Target) Measured(r *report.Report) (value, processor float64, rounds int) {
	x := r.Find(t.Operation, t.Rows, t.Backend)
	if x == nil {
		return 0, 0, 0
	}
	if t.LimitMS > 0 {
		return x.MedianMS, 0, len(x.MS)
	}
	other := r.Find(t.Operation, t.Rows, t.To)
	if other == nil {
		return 0, 0, 0
	}
	ratio := x.PairedRatio(other)
	return ratio.Median, x.MedianCPU / other.MedianCPU, ratio.Rounds
}

// Format writes a value of the target's kind.
func (t Target) Format(value float64) string {
	if t.LimitMS > 0 {
		return report.FormatMS(value) + " ms"
	}
	return fmt.Sprintf("%.3f x %s", value, t.To)
}
