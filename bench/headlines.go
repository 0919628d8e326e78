package bench

import (
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

	few bool // some operation ran in fewer rounds than a verdict takes
}

// claim is a headline of the paper.
type claim struct {
	figure     int
	what       string
	paper      float64
	operations []string // of several the geometric mean
	of, over   string
}

// rankShown is the operation of figure 7 that stands for the others.
const rankShown = "kth_largest_40pct"

// kthOperations are those of figure 7.
func kthOperations() []string { return rankFigure().Panels[0].Operations }

// speedups are what the paper says of the GPU's speed against the CPU's (its sections
// 5.4 to 5.10).
func speedups() []claim {
	kth := kthOperations()
	return []claim{
		{3, "predicate", 3, []string{"predicate"}, classic, "cpu"},
		{3, "predicate, compute only", 20, []string{"predicate"}, classicCompute, "cpu"},
		{4, "range", 5.5, []string{"range"}, classic, "cpu"},
		{4, "range, compute only", 40, []string{"range"}, classicCompute, "cpu"},
		{5, "AND of four attributes", 2, []string{"and4"}, classic, "cpu"},
		{5, "AND of four attributes, compute only", 20, []string{"and4"}, classicCompute, "cpu"},
		{6, "semi-linear query", 9, []string{"semilinear"}, classic, "cpu"},
		{7, "k-th largest", 2, kth, classic, quickSelect},
		{7, "k-th largest, compute only", 3, kth, classicCompute, quickSelect},
		{8, "median", 2, []string{"median"}, classic, quickSelect},
		{8, "median, compute only", 2.5, []string{"median"}, classicCompute, quickSelect},
		{10, "sum", 0.05, []string{"sum"}, classic, "cpu"},
	}
}

// largest is the result of an operation on a system over the largest table that has
// it, or nil.
func (r *Report) largest(operation, system string) (best *Result) {
	for i := range r.Results {
		x := &r.Results[i]
		if x.Operation == operation && x.System == system && (best == nil || x.Rows > best.Rows) {
			best = x
		}
	}
	return best
}

// speedup sets how many times as fast h.Of is as h.Over, over the largest table; of
// several operations the geometric mean. h.Rows is 0 where it was not measured.
func (r *Report) speedup(h *Headline, operations []string) {
	logs, n := 0.0, 0
	for _, op := range operations {
		x := r.largest(op, h.Of)
		if x == nil {
			continue
		}
		y := r.Find(op, x.Rows, h.Over)
		if y == nil {
			continue
		}
		logs += math.Log(y.MedianMS / x.MedianMS)
		n, h.Rows = n+1, x.Rows
		h.Lo, h.Hi = ratioInterval(x.MS, y.MS)
		h.few = h.few || h.Hi == 0
	}
	if n == 0 {
		return
	}
	if n > 1 {
		h.Lo, h.Hi = 0, 0
	}
	h.Here = math.Exp(logs / float64(n))
}

// gain is how many times as fast a system is as another; rows is 0 where it was not
// measured.
func (r *Report) gain(operations []string, of, over string) (ratio float64, rows int) {
	h := Headline{Of: of, Over: over}
	r.speedup(&h, operations)
	return h.Here, h.Rows
}

// headlines sets what was measured beside the paper's headlines.
func (r *Report) headlines() []Headline {
	var list []Headline
	for _, c := range speedups() {
		h := Headline{Figure: c.figure, What: c.what, Paper: c.paper, Of: c.of, Over: c.over}
		if r.speedup(&h, c.operations); h.Rows == 0 {
			continue
		}
		if c.of == classic {
			h.Fused, _ = r.gain(c.operations, "fused", c.over)
			h.Compute, _ = r.gain(c.operations, "compute", c.over)
		}
		h.judgeSpeed()
		list = append(list, h)
	}
	for _, more := range []func() (Headline, bool){r.valid80, r.countOverhead, r.emptyQuadShare} {
		if h, ok := more(); ok {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b Headline) int { return a.Figure - b.Figure })
	return list
}

// closeTo is how far a ratio may be from the paper's and still count as the same.
const closeTo = 1.5

// judgeSpeed says whether a speedup held.
func (h *Headline) judgeSpeed() {
	factor, same := h.Here/h.Paper, h.Paper > 1 == (h.Here > 1)
	if h.Paper < 1 {
		factor = 1 / factor
	}
	switch {
	case h.few:
		h.Verdict = tooFew
	case h.Lo > 0 && h.Lo <= 1 && h.Hi >= 1:
		h.Verdict = "too noisy to say"
	case !same:
		h.Verdict = "did not hold"
	case factor >= closeTo:
		h.Verdict = "held, and more so"
	case factor*closeTo >= 1:
		h.Verdict = "held"
	default:
		h.Verdict = "held in direction, less so"
	}
	h.Sentence = fmt.Sprintf("%s: the paper's GPU is %s its CPU; here %s is %s %s over %s records%s: %s.",
		capital(h.What), times(h.Paper), h.Of, times(h.Here), h.Over, numbers.Grouped(h.Rows), h.others(), h.Verdict)
}

// others says how the other backends do.
func (h *Headline) others() string {
	var parts []string
	if h.Fused > 0 {
		parts = append(parts, "fused "+alone(h.Fused))
	}
	if h.Compute > 0 {
		parts = append(parts, "compute "+alone(h.Compute))
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

// alone is times without what it is compared with.
func alone(ratio float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(times(ratio), " as"), " than")
}

// number writes two or three significant digits.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	case x >= 0.1:
		return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", x), "0"), ".0")
	}
	return fmt.Sprintf("%.2g", x)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// sameness is how far from 1 a ratio of times may be and still count as none.
const sameness = 1.15

// valid80 is the paper's figure 9: the median of 80 % of the records takes as long as
// that of all.
func (r *Report) valid80() (Headline, bool) {
	all, some := r.largest("median", classic), r.largest("median_where", classic)
	if all == nil || some == nil || all.Rows != some.Rows {
		return Headline{}, false
	}
	h := Headline{Figure: 9, What: "median of 80 % beside that of all", Paper: 1, Here: some.MedianMS / all.MedianMS, Rows: some.Rows, Of: classic, Over: classic}
	h.Lo, h.Hi = ratioInterval(all.MS, some.MS)
	h.few = h.Hi == 0
	h.judgeSame()
	h.Sentence = fmt.Sprintf("The paper's median of 80 %% of the records takes exactly as long as that of all; here %.2f times as long over %s records (with the passes that select): %s.",
		h.Here, numbers.Grouped(h.Rows), h.Verdict)
	return h, true
}

// countOverhead is the paper's section on selectivities: COUNT costs nothing.
func (r *Report) countOverhead() (Headline, bool) {
	h := Headline{Figure: 11, What: "queries with COUNT beside without", Paper: 1, Of: classicAlone, Over: classic}
	if r.speedup(&h, selectivityFigure().Panels[0].Operations); h.Rows == 0 {
		return h, false
	}
	h.Of, h.Over = h.Over, h.Of // of times, not of speeds
	h.judgeSame()
	h.Sentence = fmt.Sprintf("The paper's COUNT has no overhead; here queries with it take %.2f times as long as without, on average over %s records: %s.",
		h.Here, numbers.Grouped(h.Rows), h.Verdict)
	return h, true
}

func (h *Headline) judgeSame() {
	switch {
	case h.few:
		h.Verdict = tooFew
	case h.Here <= sameness && h.Here >= 1/sameness:
		h.Verdict = "held"
	case h.Lo > 0 && h.Lo <= sameness && h.Hi >= 1/sameness:
		h.Verdict = "too noisy to say"
	default:
		h.Verdict = "did not hold"
	}
}

// emptyQuadShare is the paper's section 6.2.2: KthLargest takes 6.6 ms where its 19
// quads, empty and without latency, would take 5.28.
func (r *Report) emptyQuadShare() (Headline, bool) {
	h := Headline{Figure: 7, What: "k-th largest, share of the ideal", Paper: 0.8, Of: classicCompute, Over: "empty quads"}
	logs, n, quads := 0.0, 0, 0
	for _, op := range kthOperations() {
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
		h.few = h.few || len(x.MS) < fewest
		logs += math.Log(float64(quads) * r.Floors[i].EachMS / x.MedianMS)
		n, h.Rows = n+1, x.Rows
	}
	if n == 0 {
		return h, false
	}
	h.Here = math.Exp(logs / float64(n))
	switch h.Verdict = "held"; {
	case h.few:
		h.Verdict = tooFew
	case h.Here < h.Paper/1.25:
		h.Verdict = "did not hold"
	}
	h.Sentence = fmt.Sprintf("The paper's KthLargest reaches 80 %% of the ideal of 19 empty quads; here %.0f %% of %d empty quads of this device over %s records: %s.",
		100*h.Here, quads, numbers.Grouped(h.Rows), h.Verdict)
	return h, true
}

// Gain is how an operation fares against the CPU, by the paper's three classes
// (section 6.2).
type Gain struct {
	Operation string
	Rows      int
	Paper     string  // the paper's class
	Classic   float64 // times as fast as the backend cpu
	Best      float64 // likewise the fastest of the backends on the device
	BestName  string
}

// The bounds of the classes: the paper's medium gain is "a factor of 2 to 4".
const (
	mediumGain = 1.5
	highGain   = 4.5
)

// class is the paper's class of a gain.
func class(gain float64) string {
	switch {
	case gain >= highGain:
		return "high"
	case gain >= mediumGain:
		return "medium"
	}
	return "low"
}

// gains sorts the operations that were measured into the classes.
func (r *Report) gains() []Gain {
	var list []Gain
	for _, o := range []struct{ operation, paper string }{
		{"semilinear", "high"}, {"predicate", "high"}, {"range", "high"}, {"and4", "high"},
		{rankShown, "medium"}, {"median", "medium"}, {"median_where", "medium"}, {"sum", "low"},
	} {
		g := Gain{Operation: o.operation, Paper: o.paper}
		for _, system := range []string{classic, "fused", "compute"} {
			ratio, rows := r.gain([]string{o.operation}, system, "cpu")
			if rows == 0 {
				continue
			}
			if g.Rows = rows; system == classic {
				g.Classic = ratio
			}
			if ratio > g.Best {
				g.Best, g.BestName = ratio, system
			}
		}
		if g.Rows > 0 {
			list = append(list, g)
		}
	}
	return list
}
