package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
)

// softwareNote says what a software rasteriser means for the comparison.
const softwareNote = "Here a software rasteriser stands in for the GPU: it draws on the same cores that the CPU systems have to themselves."

// evaluation is the paper's headlines beside what was measured, the classes of gain, the
// floors and what could not be ranked.
func (r Page) evaluation() []report.Section {
	h := r.HeadlineTable()
	h.Title = "The paper's headlines, over the paper's number of records and over the largest table: how many times as fast as the CPU, or as long (n: runs of the system that ran least)"
	if r.Machine.Software {
		h.Title += "\n" + softwareNote
	}
	for _, x := range r.Headlines {
		h.Notes = append(h.Notes, x.Sentence)
	}
	for _, x := range r.Remarks() {
		h.Notes = append(h.Notes, x.Text)
	}
	gains, floors := r.gainTable(), r.floorTable()
	gains.Title, floors.Title = gainTitle, "The floor of the device: empty passes, ms (n: runs of each, before and after the cases; the smaller medians)"
	onDevice := r.timeTable(func(x report.Result) bool { return report.BackendsOfFigures[x.System] != "" })
	onDevice.Title = fmt.Sprintf("On the device, largest tables: median ms with columns resident, with their upload (n = %d), and how many times the floor", report.ColdRuns)
	passes := r.passTable(func(report.Result) bool { return true })
	passes.Title = fmt.Sprintf("The passes of classic, largest tables, each waited for, n = %d", report.ProfileRuns)
	noise := report.Section{Notes: []string{r.noise()}}
	for _, c := range r.Cases() {
		if pairs := r.pairs(c); pairs != "" && r.IsLargest(c) {
			noise.Notes = append(noise.Notes, fmt.Sprintf("  %s, %s rows: %s", c.Operation, numbers.Grouped(c.Rows), pairs))
		}
	}
	return []report.Section{h, gains, floors, onDevice, passes, noise}
}

// The bounds of the classes: the paper's medium gain is "a factor of 2 to 4".
const (
	mediumGain = 1.5
	highGain   = 4.5
)

var gainTitle = fmt.Sprintf("Classes of gain over the backend cpu: high from %.1f, medium from %.1f, else low", highGain, mediumGain)

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

// gainTable sorts the operations that were measured into the paper's three classes (section 6.2). It compares
// classic, and the fastest of the backends on the device, with the backend cpu.
func (r Page) gainTable() report.Section {
	s := report.Section{Rows: [][]string{{"operation", "records", "n", "paper", "classic", "class", "fastest on the device", "gain", "class"}}}
	for _, o := range []struct{ operation, paper string }{
		{"semilinear", "high"}, {"predicate", "high"}, {"range", "high"}, {"and4", "high"},
		{evaluation.RankShown, "medium"}, {"median", "medium"}, {"median_where", "medium"}, {"sum", "low"},
	} {
		before := 0
		for _, at := range []evaluation.Place{r.Nearest, r.Largest} {
			rows, own, best, name, n := 0, 0.0, 0.0, "", 0
			for _, system := range []string{report.Classic, "fused", "compute"} {
				m := r.SpeedOf(evaluation.SpeedClaim{Operations: []string{o.operation}, Of: "cpu", Over: "cpu"}, system, at)
				if m.Rows == 0 {
					continue
				}
				if rows = m.Rows; system == report.Classic {
					own = m.Here
				}
				if m.Here > best {
					best, name = m.Here, system
				}
				if n == 0 || m.Runs < n {
					n = m.Runs
				}
			}
			if rows > before {
				s.Add(o.operation, numbers.Grouped(rows), fmt.Sprint(n), o.paper, report.OrDash(own, report.FormatNumber), class(own), name, report.FormatNumber(best), class(best))
			}
			before = rows
		}
	}
	return s
}

func (r Page) floorTable() report.Section {
	s := report.Section{Rows: [][]string{{"records", "n", "quad", "each of many quads", "without the guard", "dispatch", "copy of an attribute"}}}
	for _, f := range r.Floors {
		s.Add(numbers.Grouped(f.Rows), fmt.Sprint(f.Runs), report.FormatMS(f.DrawMS), report.FormatMS(f.EachMS), report.OrDash(f.BareMS, report.FormatMS), report.FormatMS(f.DispatchMS), report.FormatMS(f.CopyMS))
	}
	return s
}

// timeTable is the results over the largest tables.
func (r Page) timeTable(keep func(report.Result) bool) report.Section {
	s := report.Section{Words: 1, Rows: [][]string{{"operation", "system", "records", "median ms", "5th – 95th percentile", "runs", "device ms", "with upload", "over floor", "relative error"}}}
	for _, x := range r.Results {
		if !keep(x) || !r.IsLargest(x.Case) {
			continue
		}
		spread, wrong := "–", "–"
		if x.P95MS > 0 {
			spread = report.FormatMS(x.P5MS) + " – " + report.FormatMS(x.P95MS)
		}
		if x.Error != nil {
			wrong = fmt.Sprintf("%.1e", *x.Error)
		}
		if x.Wrong != nil {
			wrong += fmt.Sprintf(", %s records", numbers.Grouped(*x.Wrong))
		}
		s.Add(x.Operation, r.styleOf(x.System).label, numbers.Grouped(x.Rows), report.FormatMS(x.MedianMS), spread, fmt.Sprint(len(x.MS)),
			report.OrDash(x.MedianGPU, report.FormatMS), report.OrDash(x.ColdMS, report.FormatMS), report.OrDash(x.OfFloor, report.FormatNumber), wrong)
	}
	return s
}

// passTable sums up the passes of classic by the paper's routine, over the largest tables. The k-th largest
// has the same passes for each k, so that it counts only one.
func (r Page) passTable(keep func(report.Result) bool) report.Section {
	s := report.Section{Words: 1, Rows: [][]string{{"operation", "routine", "passes", "ms", "share"}}}
	for _, x := range r.Results {
		if !keep(x) || !r.IsLargest(x.Case) || x.Operation != evaluation.RankShown && slices.Contains(evaluation.Ranks, x.Operation) {
			continue
		}
		sum := 0.0
		for _, p := range x.Passes {
			sum += p.MS
		}
		for _, routine := range report.Distinct(x.Passes, func(p report.PassTime) string { return p.Routine }) {
			n, took := 0, 0.0
			for _, p := range x.Passes {
				if p.Routine == routine {
					n, took = n+1, took+p.MS
				}
			}
			s.Add(x.Operation, routine, fmt.Sprint(n), report.FormatMS(took), fmt.Sprintf("%.0f %%", 100*took/sum))
		}
	}
	return s
}

// noise says whether others used the machine, and how many pairs of systems, next to each other by
// their medians, the run could not rank.
func (r Page) noise() string {
	busy := ""
	if m := r.Machine; m.LoadAverage > float64(m.Cores) {
		busy = fmt.Sprintf("Others used this machine (load average %.1f on %d cores before the run): times are longer than they need be, and spread. ", m.LoadAverage, m.Cores)
	}
	if len(r.Ties) == 0 {
		return busy + "All systems of all cases are ranked beyond noise."
	}
	return busy + fmt.Sprintf("Too noisy to rank (the 95 %% interval of the ratio holds 1, or there are fewer than %d rounds): %d of %d pairs of neighbours.", report.MinRounds, len(r.Ties), len(r.Results)-len(r.Cases()))
}

// pairs names the systems of a case that the run could not rank.
func (r Page) pairs(c report.Case) string {
	var list []string
	for _, t := range r.Ties {
		if t.Case == c {
			list = append(list, t.A+" and "+t.B)
		}
	}
	return strings.Join(list, "; ")
}
