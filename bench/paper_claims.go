package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
)

// ratio is a headline of the 2004 paper: the time of a system over that of another.
type ratio struct {
	figure     lab.Name
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

// ratios are what the paper says of the GPU's speed against the CPU's (its sections
// 5.4 to 5.10), of quickselect on 80 % of the records, which takes as long as on all (figure 9),
// and of COUNT, which costs nothing (5.11).
var ratios = []ratio{
	{figure: "3", what: "predicate", paper: 3, operations: []string{"predicate"}, of: classic, over: "cpu"},
	{figure: "3", what: "predicate, copy excluded", paper: 20, operations: []string{"predicate"}, of: copyExcluded, over: "cpu"},
	{figure: "4", what: "range", paper: 5.5, operations: []string{"range"}, of: classic, over: "cpu"},
	{figure: "4", what: "range, copy excluded", paper: 40, operations: []string{"range"}, of: copyExcluded, over: "cpu"},
	{figure: "5", what: "AND of four attributes", paper: 2, operations: []string{"and4"}, of: classic, over: "cpu"},
	{figure: "5", what: "AND of four attributes, copy excluded", paper: 20, operations: []string{"and4"}, of: copyExcluded, over: "cpu"},
	{figure: "6", what: "semi-linear query, random floats in float32", paper: 9, operations: []string{semilinearFloat}, of: classicFloat, over: "cpu",
		against: "semilinear", form: ", which has random integers,"},
	{figure: "6", what: "semi-linear query, random integers", paper: 9, operations: []string{"semilinear"}, of: classic, over: "cpu"},
	{figure: "7", what: "k-th largest", paper: 2, operations: ranks, of: classic, over: quickSelect},
	{figure: "7", what: "k-th largest, copy excluded", paper: 3, operations: ranks, of: copyExcluded, over: quickSelect},
	{figure: "8", what: "median", paper: 2, operations: []string{"median"}, of: classic, over: quickSelect},
	{figure: "8", what: "median, copy excluded", paper: 2.5, operations: []string{"median"}, of: copyExcluded, over: quickSelect},
	{figure: "9", what: "quickselect on 80 % beside on all", paper: 1, operations: []string{"median"}, of: quickSelect, over: quickSelect, against: "median_where",
		same: "The paper's quickselect takes nearly as long on 80 % of the records, with the copying out, as on all"},
	{figure: mipmapFigure, what: "sum", paper: 0.05, operations: []string{"sum"}, of: classic, over: "cpu"},
	{figure: "11", what: "queries with COUNT beside without", paper: 1, operations: selections, of: classicAlone, over: classic,
		same: "The paper's COUNT has no overhead: queries with it take as long as without"},
}

// search reports whether a system searches for the answer: fused finds the extremes, which are of
// rank 1 and n, in one pass.
func search(operation, system string) bool {
	return system != "fused" || operation != ranks[0] && operation != ranks[len(ranks)-1]
}

// ratioOf measures a claim with another system in the place of its own, over the same table; Rows
// is 0 where it was not measured.
func (r *Report) ratioOf(c ratio, system string, at place) (out Measured) {
	v := lab.Value{Of: func(m []float64) float64 {
		logs := 0.0
		for i := 0; i < len(m); i += 2 {
			logs += math.Log(m[i+1] / m[i])
		}
		return math.Exp(2 * logs / float64(len(m)))
	}}
	rows := 0
	for _, op := range c.operations {
		own := at(op, c.of)
		if own == nil || !search(op, system) {
			continue
		}
		x, y := lab.Term{Operation: op, System: system, Rows: own.Rows}, lab.Term{Operation: cmp.Or(c.against, op), System: c.over, Rows: own.Rows}
		if r.result(x, 0) != nil && r.result(y, 0) != nil {
			v.Terms, rows = append(v.Terms, x, y), own.Rows
		}
	}
	if rows > 0 {
		out, _ = r.value(v, rows)
	}
	return out
}

// headline is the ratio beside what was measured.
func (c ratio) headline(r *Report) (Headline, bool) {
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
		return h, false
	}
	if c.same != "" {
		h.Of, h.Over = h.Over, h.Of // of times, not of speeds
		h.Sentence = c.same + "; here " + h.places("records", func(m Measured) string { return fmt.Sprintf("%.2f times as long", m.Here) }) + "."
	} else {
		h.Sentence = fmt.Sprintf("%s: the paper's GPU is %s its CPU; here %s is %s.", capital(h.What), times(h.Paper), h.Of,
			h.places("records", func(m Measured) string { return times(m.Here) + " " + h.Over + c.form + m.others() }))
	}
	return h, true
}

// paperClaims are all that the 2004 paper's suite judges.
func paperClaims() (list []claim) {
	for _, c := range ratios {
		list = append(list, claim{own: c.headline})
	}
	for _, own := range []func(*Report) (Headline, bool){(*Report).linearCopy, (*Report).constantInK, (*Report).shareOfIdeal, (*Report).medianOfSelection,
		(*Report).countAlone, (*Report).mipmapError} {
		list = append(list, claim{own: own})
	}
	return list
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

// deviceTimes are the times of a result by the device's timer, where that is real, else by the
// wall.
func deviceTimes(x *Result) []float64 {
	if len(x.GPU) > 0 {
		return x.GPU
	}
	return x.MS
}

// timerName names what deviceTimes are by.
func (r *Report) timerName() string {
	if r.Machine.GPUTimer {
		return "by the device's timer"
	}
	return "by the clock"
}

// overSizes are the results of an operation on a system, from the smallest table on.
func (r *Report) overSizes(operation, system string) (list []*Result) {
	for i := range r.Results {
		if x := &r.Results[i]; x.Operation == operation && x.System == system {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b *Result) int { return a.Rows - b.Rows })
	return list
}

// ofMedians is what f makes of the medians of results, by the device's timer.
func ofMedians(list []*Result, f func(medians []float64) float64) (m Measured) {
	var samples [][]float64
	rows := 0
	for _, x := range list {
		samples, rows = append(samples, deviceTimes(x)), max(rows, x.Rows)
	}
	m = measured(samples, median, f)
	m.Rows = rows
	return m
}

// linearCopy is figure 2: the time of a copy grows almost as the number of records does. Here is
// the power of the number with which it grows.
func (r *Report) linearCopy() (Headline, bool) {
	list := r.overSizes("copy_to_depth", classic)
	h := Headline{Figure: "2", What: "copy to depth: power of the number of records", Paper: 1, Of: classic, Over: "records"}
	if len(list) < 3 {
		return h, false
	}
	var x []float64
	for _, one := range list {
		x = append(x, math.Log(float64(one.Rows)))
	}
	h.Measured = ofMedians(list, func(m []float64) float64 { return slope(x, m) })
	h.Verdict = h.difference()
	h.Sentence = fmt.Sprintf("The paper's copy to depth takes almost linearly longer with more records; here from %s to %s records it grows as their number to the power of %.2f (95 %% interval %.2f to %.2f, %s): %s.",
		numbers.Grouped(list[0].Rows), numbers.Grouped(h.Rows), h.Here, h.Lo, h.Hi, r.timerName(), h.Verdict)
	return h, true
}

// slope is that of the least squares line of the logarithms of y over x.
func slope(x, y []float64) float64 {
	mx, my := 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+math.Log(y[i])/float64(len(x))
	}
	up, down := 0.0, 0.0
	for i := range x {
		up, down = up+(x[i]-mx)*(math.Log(y[i])-my), down+(x[i]-mx)*(x[i]-mx)
	}
	return up / down
}

// constantInK is figure 7: the time does not depend on k. Here is the longest over the shortest.
func (r *Report) constantInK() (Headline, bool) {
	var list []*Result
	for _, op := range ranks {
		if x := r.nearest(op, classic); x != nil {
			list = append(list, x)
		}
	}
	h := Headline{Figure: "7", What: "k-th largest: the slowest k beside the fastest", Paper: 1, Of: classic, Over: classic}
	if len(list) < 2 {
		return h, false
	}
	h.Measured = ofMedians(list, func(m []float64) float64 { return slices.Max(m) / slices.Min(m) })
	h.Verdict = h.difference()
	h.Sentence = fmt.Sprintf("The paper's KthLargest takes the same time for any k; here the slowest of %d takes %s times as long as the fastest over %s records (%s): %s.",
		len(list), number(h.Here), numbers.Grouped(h.Rows), r.timerName(), h.Verdict)
	return h, true
}

// shareOfIdeal is the paper's section 6.2.2: KthLargest takes 6.6 ms over a million records where
// its 19 quads, computed from clock and pipes, would take 5.28. Here the quads are measured.
func (r *Report) shareOfIdeal() (Headline, bool) {
	h := Headline{Figure: "8", What: "k-th largest, share of the ideal", Paper: 0.8, Of: copyExcluded, Over: "empty quads"}
	quads := 0
	judge := func(at place) (m Measured) {
		x := at("median", copyExcluded)
		if x == nil {
			return m
		}
		whole := r.Find("median", x.Rows, classic)
		i := slices.IndexFunc(r.Floors, func(f Floor) bool { return f.Rows == x.Rows })
		if i < 0 || whole == nil {
			return m
		}
		quads = 0
		for _, p := range whole.Passes {
			if !p.of(pass.CopyToDepth{}) {
				quads++
			}
		}
		if quads == 0 {
			return m
		}
		ideal := float64(quads) * r.Floors[i].EachMS
		m = Measured{Here: ideal / x.MedianMS, Rows: x.Rows, Runs: min(len(x.MS), r.Floors[i].Runs), Verdict: held}
		m.Lo, m.Hi = interval([][]float64{x.MS}, func(t []float64) float64 { return ideal / t[0] })
		switch {
		case m.Runs < fewest:
			m.Verdict = tooFew
		case m.Here*1.25 < h.Paper:
			m.Verdict = failed
		}
		return m
	}
	if !h.measure(judge(r.nearest), judge(r.largest)) {
		return h, false
	}
	h.Sentence = fmt.Sprintf("The paper's KthLargest over 1,000,000 records reaches 80 %% of an ideal of 19 quads that it computes from clock and pipes. "+
		"Here the ideal is %d empty quads, measured: each has a count and, on hardware, the guard program, and follows the one before at once. The share is %s.",
		quads, h.places("records", func(m Measured) string { return fmt.Sprintf("%.0f %%", 100*m.Here) }))
	return h, true
}

// medianOfSelection is figure 9: the median of 80 % of the records takes as long as that of all.
// It is judged over all tables, since it depends on their size.
func (r *Report) medianOfSelection() (Headline, bool) {
	h := Headline{Figure: "9", What: "median of 80 % beside that of all", Paper: 1, Of: classic, Over: classic}
	var list []Measured
	verdicts := map[string]int{}
	for _, x := range r.overSizes("median_where", classic) {
		all := r.Find("median", x.Rows, classic)
		if all == nil {
			continue
		}
		m := ofMedians([]*Result{all, x}, func(t []float64) float64 { return t[1] / t[0] })
		m.Verdict = m.difference()
		verdicts[m.Verdict]++
		list = append(list, m)
	}
	if len(list) == 0 {
		return h, false
	}
	var sizes []int
	for _, m := range list {
		sizes = append(sizes, m.Rows)
	}
	h.measure(list[slices.Index(sizes, nearest(sizes, paperRows))], list[len(list)-1])
	here := func(a, b Measured) int { return cmp.Compare(a.Here, b.Here) }
	h.Sentence = fmt.Sprintf("The paper's median of 80 %% of the records takes exactly as long as that of all; here %s to %s times as long over tables of %s to %s records, the passes that select among them (%s): %s.%s",
		number(slices.MinFunc(list, here).Here), number(slices.MaxFunc(list, here).Here), numbers.Grouped(list[0].Rows), numbers.Grouped(list[len(list)-1].Rows),
		r.timerName(), together(verdicts, len(list)), r.whySelectionCosts(list[len(list)-1].Rows))
	return h, true
}

// together is what n verdicts say: one where they agree.
func together(verdicts map[string]int, n int) string {
	var parts []string
	for _, v := range []string{held, failed, noisy, tooFew} {
		switch verdicts[v] {
		case 0:
		case n:
			return v
		default:
			parts = append(parts, fmt.Sprintf("%s over %d of %d tables", v, verdicts[v], n))
		}
	}
	return strings.Join(parts, ", ")
}

// whySelectionCosts says of what the longer time is made, or "".
func (r *Report) whySelectionCosts(rows int) string {
	sums := func(operation string) (search, rest float64) {
		x := r.Find(operation, rows, classic)
		for _, p := range x.Passes {
			if p.of(pass.KthLargest{}, pass.KthLargest{Smallest: true}) {
				search += p.MS
			} else {
				rest += p.MS
			}
		}
		return search, rest
	}
	all, copied := sums("median")
	some, selected := sums("median_where")
	if all == 0 || some == 0 {
		return ""
	}
	return fmt.Sprintf(" Pass by pass over %s records: the quads of the search take %s times as long under the stencil test, and to copy the condition's attribute and compare it takes %.0f %% of the time.",
		numbers.Grouped(rows), number(some/all), 100*(selected-copied)/(some+selected))
}

// countLimit is how long the paper takes at most to count a selection over a million records, in
// milliseconds (section 5.11).
const countLimit = 0.25

// countAlone is the counting of a selection that is in the stencil buffer.
func (r *Report) countAlone() (Headline, bool) {
	h := Headline{Figure: "11", What: "counting a selection in the stencil buffer, ms", Paper: countLimit, Of: classic, Over: "time"}
	judge := func(at place) (m Measured) {
		x := at(countSelection, classic)
		if x == nil {
			return m
		}
		m, _ = r.value(lab.Median(x.Operation, x.System), x.Rows)
		m.Verdict = m.judged(lab.AtMost, countLimit*max(1, float64(x.Rows)/paperRows))
		return m
	}
	if !h.measure(judge(r.nearest), judge(r.largest)) {
		return h, false
	}
	h.Sentence = fmt.Sprintf("The paper counts a selection over 1000 x 1000 records within 0.25 ms (over more records, as many times longer); here it takes %s.",
		h.places("records", func(m Measured) string { return ms(m.Here) + " ms" }))
	return h, true
}

// mipmapError is the sum by a mipmap, of which the paper says that floats may not give an exact
// one, and that writing them can be slow.
func (r *Report) mipmapError() (Headline, bool) {
	h := Headline{Figure: mipmapFigure, What: "mipmap sum, relative error", Of: mipmapSum, Over: "exact"}
	judge := func(at place) (m Measured) {
		x := at("sum", mipmapSum)
		if x == nil || x.Error == nil {
			return m
		}
		m = Measured{Here: *x.Error, Rows: x.Rows, Runs: len(x.MS), Verdict: "held: not exact"}
		if m.Here == 0 {
			m.Verdict = failed + ": exact on these data"
		}
		return m
	}
	if !h.measure(judge(r.nearest), judge(r.largest)) {
		return h, false
	}
	h.Sentence = "The mipmap sum, which the paper rejects, since floats may not have the precision for an exact sum, is off by " +
		h.places("records", func(m Measured) string {
			text := fmt.Sprintf("%.2g of the sum", m.Here)
			if x, y := r.Find("sum", m.Rows, mipmapSum), r.Find("sum", m.Rows, classic); y != nil {
				text += fmt.Sprintf(" (in %s ms, the Accumulator in %s)", ms(x.MedianMS), ms(y.MedianMS))
			}
			return text
		}) + "."
	return h, true
}

// remark is said of a figure beside the verdicts on the paper.
type remark struct {
	figure lab.Name
	text   string
}

// said is what is said of the figures of the suite.
func (r *Report) said() []remark {
	if f := r.suite().remarks; f != nil {
		return f(r)
	}
	return nil
}

// paperRemarks are where there is no depth bounds test, what the float form gets wrong, and what the
// guard program costs.
func (r *Report) paperRemarks() (list []remark) {
	if x := r.nearest("range", classic); x != nil && len(x.Passes) > 0 &&
		!slices.ContainsFunc(x.Passes, func(p PassTime) bool { return p.of(pass.Range{}) }) {
		list = append(list, remark{"4", "This device has no depth bounds test that is exact: its ranges are two comparisons, and not the paper's routine."})
	}
	for _, x := range r.ends(semilinearFloat, classicFloat) {
		if x.Wrong == nil {
			continue
		}
		text := fmt.Sprintf("Four random float coefficients in float32, as published, put %s of %s records on the wrong side; the same condition in doubles none.",
			numbers.Grouped(*x.Wrong), numbers.Grouped(x.Rows))
		if y := r.Find(semilinearFloat, x.Rows, classic); y != nil {
			text += fmt.Sprintf(" The float form takes %s ms (n = %d), the doubles take %s on classic (n = %d).", ms(x.MedianMS), len(x.MS), ms(y.MedianMS), len(y.MS))
		}
		list = append(list, remark{"6", text})
	}
	for _, x := range r.ends("median", classicBare) {
		if text := r.guardCost(x.Rows); text != "" {
			list = append(list, remark{"8", text})
		}
	}
	return list
}

// guardCost says how many times as long passes take with the guard program, which keeps the device
// from deciding tiles of records as a whole.
func (r *Report) guardCost(rows int) string {
	i := slices.IndexFunc(r.Floors, func(f Floor) bool { return f.Rows == rows && f.BareMS > 0 })
	if i < 0 {
		return ""
	}
	f := r.Floors[i]
	text := fmt.Sprintf("Early depth culling (section 6.2) over %s records: the guard program, which keeps the device from it, makes an empty quad over one depth %s times as long (%s ms and %s, n = %d)",
		numbers.Grouped(rows), number(f.EachMS/f.BareMS), ms(f.EachMS), ms(f.BareMS), f.Runs)
	right := true
	for _, operation := range []string{"predicate", "median"} {
		bare, with := r.Find(operation, rows, classicBare), r.Find(operation, rows, classic)
		if bare == nil || with == nil {
			continue
		}
		m := ofMedians([]*Result{bare, with}, func(t []float64) float64 { return t[1] / t[0] })
		text += fmt.Sprintf(", a %s %.2f times (95 %% interval %.2f to %.2f, n = %d, %s)", operation, m.Here, m.Lo, m.Hi, m.Runs, r.timerName())
		right = right && (bare.Error == nil || *bare.Error == 0)
	}
	if !right {
		return text + ". Without it an answer was wrong."
	}
	return text + ". Without it the answers were right, too: these data have no NULLs, which lie at the far end."
}

// ends are the results of a case over the table nearest to the paper's and the largest one.
func (r *Report) ends(operation, system string) (list []*Result) {
	if x := r.nearest(operation, system); x != nil {
		list = append(list, x)
		if y := r.largest(operation, system); y != x {
			list = append(list, y)
		}
	}
	return list
}
