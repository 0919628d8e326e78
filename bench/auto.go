package bench

import (
	"fmt"
	"io"

	"github.com/stencildb/stencildb/internal/numbers"
)

// autoSuite compares the backend auto with the best of the others.
func autoSuite() Suite {
	return Suite{
		Name:     "auto",
		Doc:      "the backend auto beside the best of the others, case by case",
		Rows:     defaultRows,
		Backends: allBackends, Peers: func() []string { return nil },
		Operations: operations,
		Summary:    writeAuto,
	}
}

// Choice is the time of auto in one case, and of the backend that would have been
// best.
type Choice struct {
	Operation  string
	Rows       int
	Auto, Best *Result
	Ratio      Ratio // auto over best
}

// Choices lists the cases of a report that ran on auto and on another backend.
func (r *Report) Choices() []Choice {
	var list []Choice
	for _, c := range r.cases() {
		auto := r.Find(c.operation, c.rows, "auto")
		var best *Result
		for _, name := range allBackends() {
			x := r.Find(c.operation, c.rows, name)
			if name != "auto" && x != nil && (best == nil || x.MedianMS < best.MedianMS) {
				best = x
			}
		}
		if auto != nil && best != nil {
			list = append(list, Choice{c.operation, c.rows, auto, best, auto.PairedRatio(best)})
		}
	}
	return list
}

// goodChoice is the ratio within which a choice of auto counts as good.
const goodChoice = 1.15

// writeAuto writes the choices, how many are good and the worst.
func writeAuto(w io.Writer, r *Report) error {
	choices := r.Choices()
	if len(choices) == 0 {
		_, err := fmt.Fprintln(w, "\nNo case ran on auto and on another backend.")
		return err
	}
	lines := [][]string{{"operation", "rows", "auto ms", "best", "best ms", "auto / best"}}
	good := 0
	worst := choices[0]
	for _, c := range choices {
		lines = append(lines, []string{c.Operation, numbers.Grouped(c.Rows), ms(c.Auto.MedianMS), c.Best.System, ms(c.Best.MedianMS), fmt.Sprintf("%.3f", c.Ratio.Median)})
		if c.Ratio.Median <= goodChoice {
			good++
		}
		if c.Ratio.Median > worst.Ratio.Median {
			worst = c
		}
	}
	fmt.Fprintln(w, "\nauto beside the best other backend, ratio: median of rounds")
	if err := tabulate(w, lines); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nWithin %.2f of the best: %d of %d cases (%.0f %%). The largest ratio: %.2f (%s over %s rows).\n",
		goodChoice, good, len(choices), 100*float64(good)/float64(len(choices)), worst.Ratio.Median, worst.Operation, numbers.Grouped(worst.Rows))
	return err
}
