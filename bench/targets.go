package bench

import (
	"fmt"

	"github.com/stencildb/stencildb/internal/numbers"
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
	softwareRows      = 1 << 24
	hardwareRows      = 1 << 28
	smallHardwareRows = 1 << 20
)

// Targets lists the targets.
func Targets() (list []Target) {
	for _, t := range []struct {
		operation      string
		fused, compute float64 // ms at hardwareRows
		small          float64 // ms of compute at smallHardwareRows
		ratio, auto    float64 // of compute and auto to DuckDB at softwareRows
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
			{Hardware: true, Rows: hardwareRows, Backend: "fused", LimitMS: t.fused},
			{Hardware: true, Rows: hardwareRows, Backend: "compute", LimitMS: t.compute},
			{Hardware: true, Rows: smallHardwareRows, Backend: "compute", LimitMS: t.small},
			{Rows: softwareRows, Backend: "compute", To: "duckdb", Ratio: t.ratio},
			{Rows: softwareRows, Backend: "auto", To: "duckdb", Ratio: t.auto},
		} {
			if limit.Operation = t.operation; limit.LimitMS+limit.Ratio > 0 {
				list = append(list, limit)
			}
		}
	}
	return list
}

// targets sets the targets of the report's kind of device beside what was measured.
func (r *Report) targets() []section {
	kind := "an NVIDIA H200"
	if r.Machine.Software {
		kind = "two cores with a software rasteriser"
	}
	s := section{Title: "Targets, set for " + kind, Rows: [][]string{{"operation", "rows", "backend", "limit", "measured", "", "by processor time"}}}
	met, judged, measured := 0, 0, 0
	for _, t := range Targets() {
		if t.Hardware == r.Machine.Software {
			continue
		}
		line := []string{t.Operation, numbers.Grouped(t.Rows), t.Backend, t.write(t.LimitMS + t.Ratio), "–", "not measured", "–"}
		if value, processor, rounds := t.measured(r); rounds > 0 {
			measured++
			switch line[4] = t.write(value); {
			case rounds < fewest:
				line[5] = tooFew
			case value <= t.LimitMS+t.Ratio:
				judged, met = judged+1, met+1
				line[5] = "met"
			default:
				judged++
				line[5] = "missed"
			}
			if t.Ratio > 0 {
				line[6] = t.write(processor)
			}
		}
		s.add(line...)
	}
	s.Notes = []string{fmt.Sprintf("%d of %d targets met, %d of %d measured.", met, judged, measured, len(s.Rows)-1)}
	return []section{s}
}

// measured returns what the report has for the target, for a ratio also that of
// processor times, and of how many rounds.
func (t Target) measured(r *Report) (value, processor float64, rounds int) {
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

// write writes a value of the target's kind.
func (t Target) write(value float64) string {
	if t.LimitMS > 0 {
		return ms(value) + " ms"
	}
	return fmt.Sprintf("%.3f x %s", value, t.To)
}
