package bench

import (
	"fmt"

	"github.com/stencildb/stencildb/internal/numbers"
)

// goodChoice is the ratio within which a choice of auto counts as good.
const goodChoice = 1.15

// choices sets auto beside the backend that would have been best, case by case, and says
// how many choices are good and which is the worst. Too few rounds say nothing of a choice.
func (r *Report) choices() []section {
	s := section{Title: "auto beside the best other backend, ratio: median of rounds",
		Rows: [][]string{{"operation", "rows", "auto ms", "best", "best ms", "auto / best"}}}
	good, all, few, worst, where := 0, 0, 0, 0.0, Case{}
	for _, c := range r.cases() {
		auto := r.find(c, "auto")
		var best *Result
		for _, name := range allBackends() {
			if x := r.find(c, name); name != "auto" && x != nil && (best == nil || x.MedianMS < best.MedianMS) {
				best = x
			}
		}
		if auto == nil || best == nil {
			continue
		}
		paired := auto.PairedRatio(best)
		ratio := paired.Median
		s.add(c.Operation, numbers.Grouped(c.Rows), ms(auto.MedianMS), best.System, ms(best.MedianMS), fmt.Sprintf("%.3f", ratio))
		if paired.Rounds < fewest {
			few++
			continue
		}
		all++
		if ratio <= goodChoice {
			good++
		}
		if ratio > worst {
			worst, where = ratio, c
		}
	}
	if all+few == 0 {
		return []section{{Title: s.Title, Notes: []string{"No case ran on auto and on another backend."}}}
	}
	if all > 0 {
		s.Notes = []string{fmt.Sprintf("Within %.2f of the best: %d of %d cases (%.0f %%). The largest ratio: %.2f (%s over %s rows).",
			goodChoice, good, all, 100*float64(good)/float64(all), worst, where.Operation, numbers.Grouped(where.Rows))}
	}
	if few > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s with fewer than %d rounds: nothing can be said.", numbers.Count(few, "case", "cases"), fewest))
	}
	return []section{s}
}
