package render

import (
	"fmt"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
)

// maxGoodRatio is the ratio within which a choice of auto counts as good.
const maxGoodRatio = 1.15

// choices sets auto beside the backend that would have been best, case by case. It says how many choices are
// good and which is the worst. Too few rounds say nothing of a choice.
func (r Page) choices() []report.Section {
	s := report.Section{Title: "auto beside the best other backend, ratio: median of rounds",
		Rows: [][]string{{"operation", "rows", "auto ms", "best", "best ms", "auto / best"}}}
	good, all, few, worst, where := 0, 0, 0, 0.0, report.Case{}
	for _, c := range r.Cases() {
		auto := r.FindCase(c, "auto")
		var best *report.Result
		for _, name := range report.Backends() {
			if x := r.FindCase(c, name); name != "auto" && x != nil && (best == nil || x.MedianMS < best.MedianMS) {
				best = x
			}
		}
		if auto == nil || best == nil {
			continue
		}
		paired := auto.PairedRatio(best)
		ratio := paired.Median
		s.Add(c.Operation, numbers.Grouped(c.Rows), report.FormatMS(auto.MedianMS), best.System, report.FormatMS(best.MedianMS), fmt.Sprintf("%.3f", ratio))
		if paired.Rounds < report.MinRounds {
			few++
			continue
		}
		all++
		if ratio <= maxGoodRatio {
			good++
		}
		if ratio > worst {
			worst, where = ratio, c
		}
	}
	if all+few == 0 {
		return []report.Section{{Title: s.Title, Notes: []string{"No case ran on auto and on another backend."}}}
	}
	if all > 0 {
		s.Notes = []string{fmt.Sprintf("Within %.2f of the best: %d of %d cases (%.0f %%). The largest ratio: %.2f (%s over %s rows).",
			maxGoodRatio, good, all, 100*float64(good)/float64(all), worst, where.Operation, numbers.Grouped(where.Rows))}
	}
	if few > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s with fewer than %d rounds: nothing can be said.", numbers.Count(few, "case", "cases"), report.MinRounds))
	}
	return []report.Section{s}
}
