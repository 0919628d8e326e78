package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
)

// Headline is something that the paper reports, beside what was measured here.
type Headline struct {
	Figure int     `json:"figure"`
	What   string  `json:"what"`
	Paper  float64 `json:"paper"` // 0 where the paper gives no number
	// Measured is of the table of the paper's size, or of the one nearest to it that has the case.
	Measured
	// Largest is of the largest table, where that is another one.
	Largest *Measured `json:"largest,omitempty"`
	// Of and Over name the systems: how many times as fast Of is as Over, or for times
	// how many times as long.
	Of   string `json:"of"`
	Over string `json:"over"`
	// Sentence says in words what the paper found, what was found here, and the verdicts.
	Sentence string `json:"sentence"`
}

// Measured is a headline over one table.
type Measured struct {
	Here float64 `json:"here"`
	// Lo and Hi are the 95 % interval of Here; 0 where there are too few runs.
	Lo   float64 `json:"lo,omitempty"`
	Hi   float64 `json:"hi,omitempty"`
	Rows int     `json:"rows"`
	Runs int     `json:"runs"` // of the system that ran least
	// Fused and Compute are Here with these backends in the place of classic.
	Fused   float64 `json:"fused,omitempty"`
	Compute float64 `json:"compute,omitempty"`
	Verdict string  `json:"verdict"`
}

// claim is a headline of the paper: the time of a system over that of another.
type claim struct {
	figure     int
	what       string
	paper      float64
	operations []string // of several the geometric mean
	of, over   string
	// against, when set, is the operation of over, in the place of that of of, and against which
	// form that is.
	against, form string
	// same, when set, says that the paper found no difference, as far as "here".
	same string
}

// claims are what the paper says of the GPU's speed against the CPU's (its sections
// 5.4 to 5.10), of quickselect on 80 % of the records, which takes as long as on all (figure 9),
// and of COUNT, which costs nothing (5.11).
var claims = []claim{
	{figure: 3, what: "predicate", paper: 3, operations: []string{"predicate"}, of: classic, over: "cpu"},
	{figure: 3, what: "predicate, compute only", paper: 20, operations: []string{"predicate"}, of: classicCompute, over: "cpu"},
	{figure: 4, what: "range", paper: 5.5, operations: []string{"range"}, of: classic, over: "cpu"},
	{figure: 4, what: "range, compute only", paper: 40, operations: []string{"range"}, of: classicCompute, over: "cpu"},
	{figure: 5, what: "AND of four attributes", paper: 2, operations: []string{"and4"}, of: classic, over: "cpu"},
	{figure: 5, what: "AND of four attributes, compute only", paper: 20, operations: []string{"and4"}, of: classicCompute, over: "cpu"},
	{figure: 6, what: "semi-linear query, random floats in float32", paper: 9, operations: []string{semilinearFloat}, of: classicFloat, over: "cpu",
		against: "semilinear", form: ", which has random integers,"},
	{figure: 6, what: "semi-linear query, random integers", paper: 9, operations: []string{"semilinear"}, of: classic, over: "cpu"},
	{figure: 7, what: "k-th largest", paper: 2, operations: ranks, of: classic, over: quickSelect},
	{figure: 7, what: "k-th largest, compute only", paper: 3, operations: ranks, of: classicCompute, over: quickSelect},
	{figure: 8, what: "median", paper: 2, operations: []string{"median"}, of: classic, over: quickSelect},
	{figure: 8, what: "median, compute only", paper: 2.5, operations: []string{"median"}, of: classicCompute, over: quickSelect},
	{figure: 9, what: "quickselect on 80 % beside on all", paper: 1, operations: []string{"median"}, of: quickSelect, over: quickSelect, against: "median_where",
		same: "The paper's quickselect takes nearly as long on 80 % of the records, with the copying out, as on all"},
	{figure: mipmapFigure, what: "sum", paper: 0.05, operations: []string{"sum"}, of: classic, over: "cpu"},
	{figure: 11, what: "queries with COUNT beside without", paper: 1, operations: selections, of: classicAlone, over: classic,
		same: "The paper's COUNT has no overhead: queries with it take as long as without"},
}

// place finds the table over which a headline is judged: [Report.nearest] or [Report.largest].
type place func(operation, system string) *Result

// search reports whether a system searches for the answer: fused finds the extremes, which are of
// rank 1 and n, in one pass.
func search(operation, system string) bool {
	return system != "fused" || operation != ranks[0] && operation != ranks[len(ranks)-1]
}

// ratioOf measures a claim with another system in the place of its own, over the same table; Rows
// is 0 where it was not measured.
func (r *Report) ratioOf(c claim, system string, at place) (out Measured) {
	var samples [][]float64
	var medians []float64
	for _, op := range c.operations {
		own := at(op, c.of)
		if own == nil || !search(op, system) {
			continue
		}
		x, y := r.Find(op, own.Rows, system), r.Find(cmp.Or(c.against, op), own.Rows, c.over)
		if x == nil || y == nil {
			continue
		}
		samples, medians = append(samples, x.MS, y.MS), append(medians, x.MedianMS, y.MedianMS)
		out.Rows = x.Rows
	}
	if out.Rows == 0 {
		return out
	}
	mean := func(m []float64) float64 {
		logs := 0.0
		for i := 0; i < len(m); i += 2 {
			logs += math.Log(m[i+1] / m[i])
		}
		return math.Exp(2 * logs / float64(len(m)))
	}
	out.Here, out.Runs = mean(medians), leastOf(samples)
	out.Lo, out.Hi = interval(samples, mean)
	return out
}

// leastOf is the size of the smallest sample.
func leastOf(samples [][]float64) int {
	n := len(samples[0])
	for _, s := range samples {
		n = min(n, len(s))
	}
	return n
}

// headlines sets what was measured beside the paper's headlines.
func (r *Report) headlines() (list []Headline) {
	for _, c := range claims {
		h := Headline{Figure: c.figure, What: c.what, Paper: c.paper, Of: c.of, Over: c.over}
		judge := func(at place) Measured {
			m := r.ratioOf(c, c.of, at)
			if c.same != "" {
				m.Verdict = m.difference()
				return m
			}
			if c.of == classic {
				m.Fused, m.Compute = r.ratioOf(c, "fused", at).Here, r.ratioOf(c, "compute", at).Here
			}
			m.Verdict = m.speed(c.paper)
			return m
		}
		if !h.measure(judge(r.nearest), judge(r.largest)) {
			continue
		}
		if c.same != "" {
			h.Of, h.Over = h.Over, h.Of // of times, not of speeds
			h.Sentence = c.same + "; here " + h.places(func(m Measured) string { return fmt.Sprintf("%.2f times as long", m.Here) }) + "."
		} else {
			h.Sentence = fmt.Sprintf("%s: the paper's GPU is %s its CPU; here %s is %s.", capital(h.What), times(h.Paper), h.Of,
				h.places(func(m Measured) string { return times(m.Here) + " " + h.Over + c.form + m.others() }))
		}
		list = append(list, h)
	}
	for _, one := range []func() (Headline, bool){r.linearCopy, r.constantInK, r.shareOfIdeal, r.medianOfSelection, r.countAlone, r.mipmapError} {
		if h, ok := one(); ok {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b Headline) int { return a.Figure - b.Figure })
	return list
}

// measure takes what was measured over the two tables, which may be one, and reports whether
// anything was.
func (h *Headline) measure(nearest, largest Measured) bool {
	h.Measured = nearest
	if largest.Rows > nearest.Rows {
		h.Largest = &largest
	}
	return nearest.Rows > 0
}

// places says what was found over each of the tables.
func (h *Headline) places(say func(Measured) string) string {
	one := func(m Measured) string {
		return fmt.Sprintf("%s over %s records: %s", say(m), numbers.Grouped(m.Rows), m.Verdict)
	}
	if h.Largest == nil {
		return one(h.Measured)
	}
	return one(h.Measured) + "; " + one(*h.Largest)
}

const (
	held   = "held"
	failed = "did not hold"
	noisy  = "too noisy to say"
	tooFew = "too few rounds"
)

// closeTo is how far a ratio may be from the paper's and still count as the same, and
// sameness how far from 1 one of times may be and still count as none.
const (
	closeTo  = 1.5
	sameness = 1.15
)

// speed says whether the paper's speedup, or the loss that it reports, held.
func (m Measured) speed(paper float64) string {
	factor, more, less := m.Here/paper, "held, and more so", "held in direction, less so"
	if paper < 1 {
		more, less = less, "held in direction, slower still"
	}
	switch {
	case m.Runs < fewest:
		return tooFew
	case m.Lo <= 1 && m.Hi >= 1:
		return noisy
	case paper > 1 != (m.Here > 1):
		return failed
	case factor >= closeTo:
		return more
	case factor*closeTo >= 1:
		return held
	}
	return less
}

// difference says whether two times are the same.
func (m Measured) difference() string {
	switch {
	case m.Runs < fewest:
		return tooFew
	case m.Here <= sameness && m.Here >= 1/sameness:
		return held
	case m.Lo <= sameness && m.Hi >= 1/sameness:
		return noisy
	}
	return failed
}

// others says how the other backends do.
func (m Measured) others() string {
	var parts []string
	for _, o := range []struct {
		system string
		here   float64
	}{{"fused", m.Fused}, {"compute", m.Compute}} {
		if o.here > 0 {
			parts = append(parts, o.system+" "+strings.TrimSuffix(strings.TrimSuffix(times(o.here), " as"), " than"))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// times says a ratio of speeds in words.
func times(ratio float64) string {
	switch {
	case ratio > 1.05:
		return number(ratio) + " times as fast as"
	case ratio < 0.95:
		return number(1/ratio) + " times slower than"
	}
	return "as fast as"
}
