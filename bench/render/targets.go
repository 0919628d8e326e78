package render

import (
	"fmt"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
)

// targets sets the targets of the report's kind of device beside what was measured.
func (r Page) targets() []report.Section {
	kind := "an NVIDIA H200"
	if r.Machine.Software {
		kind = "two cores with a software rasteriser"
	}
	s := report.Section{Title: "Targets, set for " + kind, Rows: [][]string{{"operation", "rows", "backend", "limit", "measured", "", "by processor time"}}}
	met, judged, measured := 0, 0, 0
	for _, t := range evaluation.Targets() {
		if t.Hardware == r.Machine.Software {
			continue
		}
		line := []string{t.Operation, numbers.Grouped(t.Rows), t.Backend, t.Format(t.LimitMS + t.Ratio), "–", "not measured", "–"}
		if value, processor, rounds := t.Measured(r.Report); rounds > 0 {
			measured++
			switch line[4] = t.Format(value); {
			case rounds < report.MinRounds:
				line[5] = report.TooFewRounds
			case value <= t.LimitMS+t.Ratio:
				judged, met = judged+1, met+1
				line[5] = "met"
			default:
				judged++
				line[5] = "missed"
			}
			if t.Ratio > 0 {
				line[6] = t.Format(processor)
			}
		}
		s.Add(line...)
	}
	s.Notes = []string{fmt.Sprintf("%d of %d targets met, %d of %d measured.", met, judged, measured, len(s.Rows)-1)}
	return []report.Section{s}
}
