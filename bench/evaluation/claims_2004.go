package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
)

// SpeedClaim is a headline of the 2004 paper: the time of a system over that of another.
type SpeedClaim struct {
	figure     lab.Name
	what       string
	paper      float64
	Operations []string // of several the geometric mean
	Of, Over   string
	// against, when set, is the operation of over, in the place of that of of, and against which
	// form that is.
	against, form string
	// same, when set, says that the paper found no difference, as far as "here".
	same string
}

// speedClaims are what the paper says of the GPU's speed against the CPU's (its sections 5.4 to 5.10). They
// include quickselect on 80 % of the records, which takes as long as on all (figure 9), and COUNT, which
// costs nothing (5.11).
var speedClaims = []SpeedClaim{
	{figure: "3", what: "predicate", paper: 3, Operations: []string{"predicate"}, Of: report.Classic, Over: "cpu"},
	{figure: "3", what: "predicate, copy excluded", paper: 20, Operations: []string{"predicate"}, Of: report.CopyExcluded, Over: "cpu"},
	{figure: "4", what: "range", paper: 5.5, Operations: []string{"range"}, Of: report.Classic, Over: "cpu"},
	{figure: "4", what: "range, copy excluded", paper: 40, Operations: []string{"range"}, Of: report.CopyExcluded, Over: "cpu"},
	{figure: "5", what: "AND of four attributes", paper: 2, Operations: []string{"and4"}, Of: report.Classic, Over: "cpu"},
	{figure: "5", what: "AND of four attributes, copy excluded", paper: 20, Operations: []string{"and4"}, Of: report.CopyExcluded, Over: "cpu"},
	{figure: "6", what: "semi-linear query, random floats in float32", paper: 9, Operations: []string{SemilinearFloat}, Of: report.ClassicFloat, Over: "cpu",
		against: "semilinear", form: ", which has random integers,"},
	{figure: "6", what: "semi-linear query, random integers", paper: 9, Operations: []string{"semilinear"}, Of: report.Classic, Over: "cpu"},
	{figure: "7", what: "k-th largest", paper: 2, Operations: Ranks, Of: report.Classic, Over: report.Quickselect},
	{figure: "7", what: "k-th largest, copy excluded", paper: 3, Operations: Ranks, Of: report.CopyExcluded, Over: report.Quickselect},
	{figure: "8", what: "median", paper: 2, Operations: []string{"median"}, Of: report.Classic, Over: report.Quickselect},
	{figure: "8", what: "median, copy excluded", paper: 2.5, Operations: []string{"median"}, Of: report.CopyExcluded, Over: report.Quickselect},
	{figure: "9", what: "quickselect on 80 % beside on all", paper: 1, Operations: []string{"median"}, Of: report.Quickselect, Over: report.Quickselect, against: "median_where",
		same: "The paper's quickselect takes nearly as long on 80 % of the records, with the copying out, as on all"},
	{figure: MipmapFigure, what: "sum", paper: 0.05, Operations: []string{"sum"}, Of: report.Classic, Over: "cpu"},
	{figure: "11", what: "queries with COUNT beside without", paper: 1, Operations: Selections, Of: report.ClassicNoCount, Over: report.Classic,
		same: "The paper's COUNT has no overhead: queries with it take as long as without"},
}

// search reports whether a system searches for the answer: fused finds the extremes, which are of
// rank 1 and n, in one pass.
func search(operation, system string) bool {
	return system != "fused" || operation != Ranks[0] && operation != Ranks[len(Ranks)-1]
}

// SpeedOf measures a claim with another system in the place of its own, over the same table; Rows
// is 0 where it was not measured.
func (r Evaluated) SpeedOf(c SpeedClaim, system string, at Place) (out report.Measured) {
	v := lab.Value{Of: func(m []float64) float64 {
		logs := 0.0
		for i := 0; i < len(m); i += 2 {
			logs += math.Log(m[i+1] / m[i])
		}
		return math.Exp(2 * logs / float64(len(m)))
	}}
	rows := 0
	for _, op := range c.Operations {
		own := at(op, c.Of)
		if own == nil || !search(op, system) {
			continue
		}
		x, y := lab.Term{Operation: op, System: system, Rows: own.Rows}, lab.Term{Operation: cmp.Or(c.against, op), System: c.Over, Rows: own.Rows}
		if r.result(x, 0) != nil && r.result(y, 0) != nil {
			v.Terms, rows = append(v.Terms, x, y), own.Rows
		}
	}
	if rows > 0 {
		out, _ = r.Value(v, rows)
	}
	return out
}

// headline is the ratio beside what was measured.
func (c SpeedClaim) headline(r Evaluated) (report.Headline, bool) {
	h := report.Headline{Figure: c.figure, What: c.what, Paper: c.paper, Of: c.Of, Over: c.Over}
	judge := func(at Place) report.Measured {
		m := r.SpeedOf(c, c.Of, at)
		if c.same != "" {
			m.Verdict = m.Difference()
			return m
		}
		if c.Of == report.Classic {
			m.Fused, m.Compute = r.SpeedOf(c, "fused", at).Here, r.SpeedOf(c, "compute", at).Here
		}
		m.Verdict = m.Speed(c.paper)
		return m
	}
	if !h.Measure(judge(r.Nearest), judge(r.Largest)) {
		return h, false
	}
	if c.same != "" {
		h.Of, h.Over = h.Over, h.Of // of times, not of speeds
		h.Sentence = c.same + "; here " + h.Places("records", func(m report.Measured) string { return fmt.Sprintf("%.2f times as long", m.Here) }) + "."
	} else {
		h.Sentence = fmt.Sprintf("%s: the paper's GPU is %s its CPU; here %s is %s.", report.Capitalise(h.What), report.TimesAsFast(h.Paper), h.Of,
			h.Places("records", func(m report.Measured) string { return report.TimesAsFast(m.Here) + " " + h.Over + c.form + m.Others() }))
	}
	return h, true
}

// paperClaims are all that the 2004 paper's suite judges.
func paperClaims() (list []claim) {
	list = xslices.Map(speedClaims, func(c SpeedClaim) claim { return claim{own: c.headline} })
	for _, own := range []func(Evaluated) (report.Headline, bool){Evaluated.linearCopy, Evaluated.constantInK, Evaluated.shareOfIdeal, Evaluated.medianOfSelection,
		Evaluated.countAlone, Evaluated.mipmapError} {
		list = append(list, claim{own: own})
	}
	return list
}

// deviceTimes are the times of a result by the device's timer, where that is real, else by the
// wall.
func deviceTimes(x *report.Result) []float64 {
	if len(x.GPU) > 0 {
		return x.GPU
	}
	return x.MS
}

// timerName names what deviceTimes are by.
func (r Evaluated) timerName() string {
	if r.Machine.GPUTimer {
		return "by the device's timer"
	}
	return "by the clock"
}

// overSizes are the results of an operation on a system, from the smallest table on.
func (r Evaluated) overSizes(operation, system string) (list []*report.Result) {
	for i := range r.Results {
		if x := &r.Results[i]; x.Operation == operation && x.System == system {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b *report.Result) int { return a.Rows - b.Rows })
	return list
}

// ofMedians is what f makes of the medians of results, by the device's timer.
func ofMedians(list []*report.Result, f func(medians []float64) float64) (m report.Measured) {
	var samples [][]float64
	rows := 0
	for _, x := range list {
		samples, rows = append(samples, deviceTimes(x)), max(rows, x.Rows)
	}
	m = measureSamples(samples, report.Median, f)
	m.Rows = rows
	return m
}

// linearCopy is figure 2: the time of a copy grows almost as the number of records does. Here is
// the power of the number with which it grows.
func (r Evaluated) linearCopy() (report.Headline, bool) {
	list := r.overSizes("copy_to_depth", report.Classic)
	h := report.Headline{Figure: "2", What: "copy to depth: power of the number of records", Paper: 1, Of: report.Classic, Over: "records"}
	if len(list) < 3 {
		return h, false
	}
	x := xslices.Map(list, func(one *report.Result) float64 { return math.Log(float64(one.Rows)) })
	h.Measured = ofMedians(list, func(m []float64) float64 { return slope(x, m) })
	h.Verdict = h.Difference()
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
func (r Evaluated) constantInK() (report.Headline, bool) {
	var list []*report.Result
	for _, op := range Ranks {
		if x := r.Nearest(op, report.Classic); x != nil {
			list = append(list, x)
		}
	}
	h := report.Headline{Figure: "7", What: "k-th largest: the slowest k beside the fastest", Paper: 1, Of: report.Classic, Over: report.Classic}
	if len(list) < 2 {
		return h, false
	}
	h.Measured = ofMedians(list, func(m []float64) float64 { return slices.Max(m) / slices.Min(m) })
	h.Verdict = h.Difference()
	h.Sentence = fmt.Sprintf("The paper's KthLargest takes the same time for any k; here the slowest of %d takes %s times as long as the fastest over %s records (%s): %s.",
		len(list), report.FormatNumber(h.Here), numbers.Grouped(h.Rows), r.timerName(), h.Verdict)
	return h, true
}

// shareOfIdeal is the paper's section 6.2.2. KthLargest takes 6.6 ms over a million records. Its 19 quads,
// computed from clock and pipes, would take 5.28. Here the quads are measured.
func (r Evaluated) shareOfIdeal() (report.Headline, bool) {
	h := report.Headline{Figure: "8", What: "k-th largest, share of the ideal", Paper: 0.8, Of: report.CopyExcluded, Over: "empty quads"}
	quads := 0
	judge := func(at Place) (m report.Measured) {
		x := at("median", report.CopyExcluded)
		if x == nil {
			return m
		}
		whole := r.Find("median", x.Rows, report.Classic)
		i := slices.IndexFunc(r.Floors, func(f report.Floor) bool { return f.Rows == x.Rows })
		if i < 0 || whole == nil {
			return m
		}
		quads = 0
		for _, p := range whole.Passes {
			if !p.IsOf(pass.CopyToDepth{}) {
				quads++
			}
		}
		if quads == 0 {
			return m
		}
		ideal := float64(quads) * r.Floors[i].EachMS
		m = report.Measured{Here: ideal / x.MedianMS, Rows: x.Rows, Runs: min(len(x.MS), r.Floors[i].Runs), Verdict: report.Held}
		m.Lo, m.Hi = report.Interval([][]float64{x.MS}, func(t []float64) float64 { return ideal / t[0] })
		switch {
		case m.Runs < report.MinRounds:
			m.Verdict = report.TooFewRounds
		case m.Here*1.25 < h.Paper:
			m.Verdict = report.Failed
		}
		return m
	}
	if !h.Measure(judge(r.Nearest), judge(r.Largest)) {
		return h, false
	}
	h.Sentence = fmt.Sprintf("The paper's KthLargest over 1,000,000 records reaches 80 %% of an ideal of 19 quads that it computes from clock and pipes. "+
		"Here the ideal is %d empty quads, measured: each has a count and, on hardware, the guard program, and follows the one before at once. The share is %s.",
		quads, h.Places("records", func(m report.Measured) string { return fmt.Sprintf("%.0f %%", 100*m.Here) }))
	return h, true
}

// medianOfSelection is figure 9: the median of 80 % of the records takes as long as that of all.
// It is judged over all tables, since it depends on their size.
func (r Evaluated) medianOfSelection() (report.Headline, bool) {
	h := report.Headline{Figure: "9", What: "median of 80 % beside that of all", Paper: 1, Of: report.Classic, Over: report.Classic}
	var list []report.Measured
	verdicts := map[string]int{}
	for _, x := range r.overSizes("median_where", report.Classic) {
		all := r.Find("median", x.Rows, report.Classic)
		if all == nil {
			continue
		}
		m := ofMedians([]*report.Result{all, x}, func(t []float64) float64 { return t[1] / t[0] })
		m.Verdict = m.Difference()
		verdicts[m.Verdict]++
		list = append(list, m)
	}
	if len(list) == 0 {
		return h, false
	}
	sizes := xslices.Map(list, func(m report.Measured) int { return m.Rows })
	h.Measure(list[slices.Index(sizes, report.Nearest(sizes, PaperRows))], list[len(list)-1])
	here := func(a, b report.Measured) int { return cmp.Compare(a.Here, b.Here) }
	h.Sentence = fmt.Sprintf("The paper's median of 80 %% of the records takes exactly as long as that of all; here %s to %s times as long over tables of %s to %s records, the passes that select among them (%s): %s.%s",
		report.FormatNumber(slices.MinFunc(list, here).Here), report.FormatNumber(slices.MaxFunc(list, here).Here), numbers.Grouped(list[0].Rows), numbers.Grouped(list[len(list)-1].Rows),
		r.timerName(), listVerdicts(verdicts, len(list)), r.whySelectionCosts(list[len(list)-1].Rows))
	return h, true
}

// listVerdicts is what n verdicts say: one where they agree.
func listVerdicts(verdicts map[string]int, n int) string {
	var parts []string
	for _, v := range []string{report.Held, report.Failed, report.Noisy, report.TooFewRounds} {
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
func (r Evaluated) whySelectionCosts(rows int) string {
	sums := func(operation string) (search, rest float64) {
		x := r.Find(operation, rows, report.Classic)
		for _, p := range x.Passes {
			if p.IsOf(pass.KthLargest{}, pass.KthLargest{Smallest: true}) {
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
		numbers.Grouped(rows), report.FormatNumber(some/all), 100*(selected-copied)/(some+selected))
}

// countLimit is how long the paper takes at most to count a selection over a million records, in
// milliseconds (section 5.11).
const countLimit = 0.25

// countAlone is the counting of a selection that is in the stencil buffer.
func (r Evaluated) countAlone() (report.Headline, bool) {
	h := report.Headline{Figure: "11", What: "counting a selection in the stencil buffer, ms", Paper: countLimit, Of: report.Classic, Over: "time"}
	judge := func(at Place) (m report.Measured) {
		x := at(CountSelection, report.Classic)
		if x == nil {
			return m
		}
		m, _ = r.Value(lab.Median(x.Operation, x.System), x.Rows)
		m.Verdict = m.Judged(lab.AtMost, countLimit*max(1, float64(x.Rows)/PaperRows))
		return m
	}
	if !h.Measure(judge(r.Nearest), judge(r.Largest)) {
		return h, false
	}
	h.Sentence = fmt.Sprintf("The paper counts a selection over 1000 x 1000 records within 0.25 ms (over more records, as many times longer); here it takes %s.",
		h.Places("records", func(m report.Measured) string { return report.FormatMS(m.Here) + " ms" }))
	return h, true
}

// mipmapError is the error of the sum by a mipmap. The paper says that floats may not give an exact one, and
// that writing them can be slow.
func (r Evaluated) mipmapError() (report.Headline, bool) {
	h := report.Headline{Figure: MipmapFigure, What: "mipmap sum, relative error", Of: report.MipmapSum, Over: "exact"}
	judge := func(at Place) (m report.Measured) {
		x := at("sum", report.MipmapSum)
		if x == nil || x.Error == nil {
			return m
		}
		m = report.Measured{Here: *x.Error, Rows: x.Rows, Runs: len(x.MS), Verdict: "held: not exact"}
		if m.Here == 0 {
			m.Verdict = report.Failed + ": exact on these data"
		}
		return m
	}
	if !h.Measure(judge(r.Nearest), judge(r.Largest)) {
		return h, false
	}
	h.Sentence = "The mipmap sum, which the paper rejects, since floats may not have the precision for an exact sum, is off by " +
		h.Places("records", func(m report.Measured) string {
			text := fmt.Sprintf("%.2g of the sum", m.Here)
			if x, y := r.Find("sum", m.Rows, report.MipmapSum), r.Find("sum", m.Rows, report.Classic); y != nil {
				text += fmt.Sprintf(" (in %s ms, the Accumulator in %s)", report.FormatMS(x.MedianMS), report.FormatMS(y.MedianMS))
			}
			return text
		}) + "."
	return h, true
}

// remark is said of a figure beside the verdicts on the paper.
type remark struct {
	Figure lab.Name
	Text   string
}

// Remarks is what is said of the figures of the suite.
func (r Evaluated) Remarks() []remark {
	if f := r.Paper.remarks; f != nil {
		return f(r)
	}
	return nil
}

// paperRemarks are where there is no depth bounds test, what the float form gets wrong, and what the
// guard program costs.
func (r Evaluated) paperRemarks() (list []remark) {
	if x := r.Nearest("range", report.Classic); x != nil && len(x.Passes) > 0 &&
		!slices.ContainsFunc(x.Passes, func(p report.PassTime) bool { return p.IsOf(pass.Range{}) }) {
		list = append(list, remark{"4", "This device has no depth bounds test that is exact: its ranges are two comparisons, and not the paper's routine."})
	}
	for _, x := range r.ends(SemilinearFloat, report.ClassicFloat) {
		if x.Wrong == nil {
			continue
		}
		text := fmt.Sprintf("Four random float coefficients in float32, as published, put %s of %s records on the wrong side; the same condition in doubles none.",
			numbers.Grouped(*x.Wrong), numbers.Grouped(x.Rows))
		if y := r.Find(SemilinearFloat, x.Rows, report.Classic); y != nil {
			text += fmt.Sprintf(" The float form takes %s ms (n = %d), the doubles take %s on classic (n = %d).", report.FormatMS(x.MedianMS), len(x.MS), report.FormatMS(y.MedianMS), len(y.MS))
		}
		list = append(list, remark{"6", text})
	}
	for _, x := range r.ends("median", report.ClassicNoGuard) {
		if text := r.guardCost(x.Rows); text != "" {
			list = append(list, remark{"8", text})
		}
	}
	return list
}

// guardCost says how many times as long passes take with the guard program, which keeps the device
// from deciding tiles of records as a whole.
func (r Evaluated) guardCost(rows int) string {
	i := slices.IndexFunc(r.Floors, func(f report.Floor) bool { return f.Rows == rows && f.BareMS > 0 })
	if i < 0 {
		return ""
	}
	f := r.Floors[i]
	text := fmt.Sprintf("Early depth culling (section 6.2) over %s records: the guard program, which keeps the device from it, makes an empty quad over one depth %s times as long (%s ms and %s, n = %d)",
		numbers.Grouped(rows), report.FormatNumber(f.EachMS/f.BareMS), report.FormatMS(f.EachMS), report.FormatMS(f.BareMS), f.Runs)
	right := true
	for _, operation := range []string{"predicate", "median"} {
		bare, with := r.Find(operation, rows, report.ClassicNoGuard), r.Find(operation, rows, report.Classic)
		if bare == nil || with == nil {
			continue
		}
		m := ofMedians([]*report.Result{bare, with}, func(t []float64) float64 { return t[1] / t[0] })
		text += fmt.Sprintf(", a %s %.2f times (95 %% interval %.2f to %.2f, n = %d, %s)", operation, m.Here, m.Lo, m.Hi, m.Runs, r.timerName())
		right = right && (bare.Error == nil || *bare.Error == 0)
	}
	if !right {
		return text + ". Without it an answer was wrong."
	}
	return text + ". Without it the answers were right, too: these data have no NULLs, which lie at the far end."
}

// ends are the results of a case over the table nearest to the paper's and the largest one.
func (r Evaluated) ends(operation, system string) (list []*report.Result) {
	if x := r.Nearest(operation, system); x != nil {
		list = append(list, x)
		if y := r.Largest(operation, system); y != x {
			list = append(list, y)
		}
	}
	return list
}
