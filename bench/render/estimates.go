package render

import (
	"fmt"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
)

// estimated are the q-errors of each plan, and of all.
func (r Page) estimated() report.Section {
	s := report.Section{Title: "estimated rows of the plans' nodes: by what factor they missed the rows that came (q-error)",
		Rows: [][]string{{"operation", "rows", "nodes", "median", "largest"}}}
	for _, rows := range report.Distinct(r.Estimates, func(e report.Estimates) int { return e.Rows }) {
		var all []float64
		largest, worst := 0.0, ""
		for _, e := range r.Estimates {
			if e.Rows != rows {
				continue
			}
			last := e.QErrors[len(e.QErrors)-1]
			s.Add(e.Operation, numbers.Grouped(rows), fmt.Sprint(len(e.QErrors)), report.FormatNumber(report.Median(e.QErrors)), report.FormatNumber(last))
			if all = append(all, e.QErrors...); last > largest {
				largest, worst = last, e.Operation+", "+e.Worst
			}
		}
		s.Notes = append(s.Notes, fmt.Sprintf("Of all %d nodes over %s rows: median %s, largest %s (%s).", len(all), numbers.Grouped(rows), report.FormatNumber(report.Median(all)), report.FormatNumber(largest), worst))
	}
	return s
}
