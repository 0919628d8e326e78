package bench

import (
	"fmt"
	"io"
	"slices"

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
func Targets() []Target {
	var list []Target
	for _, t := range []struct {
		operation      string
		fused, compute float64 // ms at hardwareRows
		small          float64 // ms of compute at smallHardwareRows
		ratio          float64 // of compute to DuckDB at softwareRows
	}{
		{"count", 13.5, 0.125, 0.05, 0.4},
		{"between", 13.5, 0.15, 0.05, 0.45},
		{"and4", 22, 0.5, 0.05, 0.6},
		{"semilinear", 21, 1.3, 0.05, 0},
		{"sum", 44, 0.23, 0.05, 0.9},
		{"median", 255, 0.65, 0.25, 0.12},
		{"median_where", 0, 0.9, 0.25, 0},
	} {
		hardware := func(rows int, backend string, limit float64) {
			if limit > 0 {
				list = append(list, Target{Hardware: true, Rows: rows, Operation: t.operation, Backend: backend, LimitMS: limit})
			}
		}
		hardware(hardwareRows, "fused", t.fused)
		hardware(hardwareRows, "compute", t.compute)
		hardware(smallHardwareRows, "compute", t.small)
		software := func(backend string, limit float64) {
			list = append(list, Target{Rows: softwareRows, Operation: t.operation, Backend: backend, To: "duckdb", Ratio: limit})
		}
		if t.ratio > 0 {
			software("compute", t.ratio)
		}
		if t.operation != "median_where" {
			software("auto", 1)
		}
	}
	return list
}

// targetsSuite runs what there are targets for.
func targetsSuite() Suite {
	return Suite{
		Name: "targets",
		Doc:  "the speeds that the project has set itself (H200; two cores with DuckDB), beside those measured",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{softwareRows}
			}
			return []int{smallHardwareRows, hardwareRows}
		},
		Backends: allBackends, Peers: Peers,
		Operations: slices.DeleteFunc(slices.Clone(operations), func(o Operation) bool {
			return !slices.ContainsFunc(Targets(), func(t Target) bool { return t.Operation == o.Name })
		}),
		Summary: writeTargets,
	}
}

// writeTargets writes the targets of the report's kind of device and what was
// measured.
func writeTargets(w io.Writer, r *Report) error {
	kind := "an NVIDIA H200"
	if r.Machine.Software {
		kind = "two cores with a software rasteriser"
	}
	fmt.Fprintf(w, "\nTargets, set for %s\n", kind)
	lines := [][]string{{"operation", "rows", "backend", "limit", "measured", "", "by processor time"}}
	met, measured := 0, 0
	for _, t := range Targets() {
		if t.Hardware == r.Machine.Software {
			continue
		}
		line := []string{t.Operation, numbers.Grouped(t.Rows), t.Backend, t.write(t.LimitMS + t.Ratio), "–", "not measured", "–"}
		if value, processor, ok := t.measured(r); ok {
			measured++
			line[4], line[5] = t.write(value), "missed"
			if value <= t.LimitMS+t.Ratio {
				met++
				line[5] = "met"
			}
			if t.Ratio > 0 {
				line[6] = t.write(processor)
			}
		}
		lines = append(lines, line)
	}
	if err := tabulate(w, lines); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d of %d targets met, %d of %d measured.\n", met, measured, measured, len(lines)-1)
	return err
}

// measured returns what the report has for the target, and for a ratio also that of
// processor times.
func (t Target) measured(r *Report) (value, processor float64, ok bool) {
	x := r.Find(t.Operation, t.Rows, t.Backend)
	if x == nil {
		return 0, 0, false
	}
	if t.LimitMS > 0 {
		return x.MedianMS, 0, true
	}
	other := r.Find(t.Operation, t.Rows, t.To)
	if other == nil {
		return 0, 0, false
	}
	return x.PairedRatio(other).Median, x.MedianCPU / other.MedianCPU, true
}

// write writes a value of the target's kind.
func (t Target) write(value float64) string {
	if t.LimitMS > 0 {
		return ms(value) + " ms"
	}
	return fmt.Sprintf("%.3f x %s", value, t.To)
}
