package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
)

// Headline is a number that the paper reports, beside the one measured here.
type Headline struct {
	Figure int     `json:"figure"`
	What   string  `json:"what"`
	Paper  float64 `json:"paper"`
	Here   float64 `json:"here"`
	// Lo and Hi are the 95 % interval of Here; 0 where it is a mean of several ratios or
	// of too few rounds.
	Lo   float64 `json:"lo,omitempty"`
	Hi   float64 `json:"hi,omitempty"`
	Rows int     `json:"rows"`
	// Of and Over name the systems: how many times as fast Of is as Over, or for times
	// how many times as long.
	Of   string `json:"of"`
	Over string `json:"over"`
	// Fused and Compute are Here with these backends in the place of classic.
	Fused   float64 `json:"fused,omitempty"`
	Compute float64 `json:"compute,omitempty"`
	Verdict string  `json:"verdict"`
	// Sentence says in words what the paper found, what was found here, and the verdict.
	Sentence string `json:"sentence"`
}

// claim is a headline of the paper: the time of a system over that of another.
type claim struct {
	figure     int
	what       string
	paper      float64
	operations []string // of several the geometric mean
	of, over   string
	// against, when set, is the operation of over, in the place of that of of.
	against string
	// same, when set, says that the paper found no difference: a format of the ratio, the
	// records and the verdict.
	same string
}

// claims are what the paper says of the GPU's speed against the CPU's (its sections
// 5.4 to 5.10), of the median of 80 % of the records, which takes as long as that of all
// (figure 9), and of COUNT, which costs nothing (5.11).
var claims = []claim{
	{figure: 3, what: "predicate", paper: 3, operations: []string{"predicate"}, of: classic, over: "cpu"},
	{figure: 3, what: "predicate, compute only", paper: 20, operations: []string{"predicate"}, of: classicCompute, over: "cpu"},
	{figure: 4, what: "range", paper: 5.5, operations: []string{"range"}, of: classic, over: "cpu"},
	{figure: 4, what: "range, compute only", paper: 40, operations: []string{"range"}, of: classicCompute, over: "cpu"},
	{figure: 5, what: "AND of four attributes", paper: 2, operations: []string{"and4"}, of: classic, over: "cpu"},
	{figure: 5, what: "AND of four attributes, compute only", paper: 20, operations: []string{"and4"}, of: classicCompute, over: "cpu"},
	{figure: 6, what: "semi-linear query", paper: 9, operations: []string{"semilinear"}, of: classic, over: "cpu"},
	{figure: 7, what: "k-th largest", paper: 2, operations: ranks, of: classic, over: quickSelect},
	{figure: 7, what: "k-th largest, compute only", paper: 3, operations: ranks, of: classicCompute, over: quickSelect},
	{figure: 8, what: "median", paper: 2, operations: []string{"median"}, of: classic, over: quickSelect},
	{figure: 8, what: "median, compute only", paper: 2.5, operations: []string{"median"}, of: classicCompute, over: quickSelect},
	{figure: 9, what: "median of 80 % beside that of all", paper: 1, operations: []string{"median"}, of: classic, over: classic, against: "median_where",
		same: "The paper's median of 80 %% of the records takes exactly as long as that of all; here %.2f times as long over %s records (with the passes that select): %s."},
	{figure: mipmapFigure, what: "sum", paper: 0.05, operations: []string{"sum"}, of: classic, over: "cpu"},
	{figure: 11, what: "queries with COUNT beside without", paper: 1, operations: selections, of: classicAlone, over: classic,
		same: "The paper's COUNT has no overhead; here queries with it take %.2f times as long as without, on average over %s records: %s."},
}

// ratio is a ratio of the medians of two systems over the largest table.
type ratio struct {
	rows   int // 0 where it was not measured
	here   float64
	lo, hi float64 // its 95 % interval; 0 of several operations
	few    bool    // some operation ran in fewer rounds than a verdict takes
}

// ratioOf measures a claim with another system in the place of its own.
func (r *Report) ratioOf(c claim, system string) (out ratio) {
	logs, n := 0.0, 0
	for _, op := range c.operations {
		x := r.largest(op, system)
		if x == nil {
			continue
		}
		y := r.Find(cmp.Or(c.against, op), x.Rows, c.over)
		if y == nil {
			continue
		}
		logs += math.Log(y.MedianMS / x.MedianMS)
		n, out.rows = n+1, x.Rows
		out.lo, out.hi = ratioInterval(x.MS, y.MS)
		out.few = out.few || out.hi == 0
	}
	if n > 1 {
		out.lo, out.hi = 0, 0
	}
	if n > 0 {
		out.here = math.Exp(logs / float64(n))
	}
	return out
}

// headlines sets what was measured beside the paper's headlines.
func (r *Report) headlines() (list []Headline) {
	for _, c := range claims {
		m := r.ratioOf(c, c.of)
		if m.rows == 0 {
			continue
		}
		h := Headline{Figure: c.figure, What: c.what, Paper: c.paper, Here: m.here, Lo: m.lo, Hi: m.hi, Rows: m.rows, Of: c.of, Over: c.over}
		if c.same != "" {
			h.Of, h.Over = h.Over, h.Of // of times, not of speeds
			h.Verdict = m.difference()
			h.Sentence = fmt.Sprintf(c.same, h.Here, numbers.Grouped(h.Rows), h.Verdict)
		} else {
			if c.of == classic {
				h.Fused, h.Compute = r.ratioOf(c, "fused").here, r.ratioOf(c, "compute").here
			}
			h.Verdict = m.speed(c.paper)
			h.Sentence = fmt.Sprintf("%s: the paper's GPU is %s its CPU; here %s is %s %s over %s records%s: %s.",
				capital(h.What), times(h.Paper), h.Of, times(h.Here), h.Over, numbers.Grouped(h.Rows), h.others(), h.Verdict)
		}
		list = append(list, h)
	}
	if h, ok := r.emptyQuadShare(); ok {
		list = append(list, h)
	}
	slices.SortStableFunc(list, func(a, b Headline) int { return a.Figure - b.Figure })
	return list
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

// speed says whether the paper's speedup held.
func (m ratio) speed(paper float64) string {
	factor := m.here / paper
	if paper < 1 {
		factor = 1 / factor
	}
	switch {
	case m.few:
		return tooFew
	case m.lo > 0 && m.lo <= 1 && m.hi >= 1:
		return noisy
	case paper > 1 != (m.here > 1):
		return failed
	case factor >= closeTo:
		return "held, and more so"
	case factor*closeTo >= 1:
		return held
	}
	return "held in direction, less so"
}

// difference says whether two times are the same.
func (m ratio) difference() string {
	switch {
	case m.few:
		return tooFew
	case m.here <= sameness && m.here >= 1/sameness:
		return held
	case m.lo > 0 && m.lo <= sameness && m.hi >= 1/sameness:
		return noisy
	}
	return failed
}

// others says how the other backends do.
func (h *Headline) others() string {
	var parts []string
	for _, o := range []struct {
		system string
		here   float64
	}{{"fused", h.Fused}, {"compute", h.Compute}} {
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

// emptyQuadShare is the paper's section 6.2.2: KthLargest takes 6.6 ms where its 19
// quads, empty and without latency, would take 5.28.
func (r *Report) emptyQuadShare() (Headline, bool) {
	h := Headline{Figure: 7, What: "k-th largest, share of the ideal", Paper: 0.8, Of: classicCompute, Over: "empty quads", Verdict: held}
	logs, n, quads, few := 0.0, 0, 0, false
	for _, op := range ranks {
		whole, x := r.largest(op, classic), r.largest(op, classicCompute)
		if whole == nil || x == nil {
			continue
		}
		i := slices.IndexFunc(r.Floors, func(f Floor) bool { return f.Rows == x.Rows })
		quads = 0
		for _, p := range whole.Passes {
			if p.Routine != "CopyToDepth" {
				quads++
			}
		}
		if i < 0 || quads == 0 {
			continue
		}
		few = few || len(x.MS) < fewest
		logs += math.Log(float64(quads) * r.Floors[i].EachMS / x.MedianMS)
		n, h.Rows = n+1, x.Rows
	}
	if n == 0 {
		return h, false
	}
	switch h.Here = math.Exp(logs / float64(n)); {
	case few:
		h.Verdict = tooFew
	case h.Here < h.Paper/1.25:
		h.Verdict = failed
	}
	h.Sentence = fmt.Sprintf("The paper's KthLargest reaches 80 %% of the ideal of 19 empty quads; here %.0f %% of %d empty quads of this device over %s records: %s.",
		100*h.Here, quads, numbers.Grouped(h.Rows), h.Verdict)
	return h, true
}
