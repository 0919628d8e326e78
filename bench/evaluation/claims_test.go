package evaluation

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/reporttest"
)

// headline finds one by its name.
func headline(t *testing.T, r *report.Report, what string) report.Headline {
	t.Helper()
	i := slices.IndexFunc(r.Headlines, func(h report.Headline) bool { return h.What == what })
	if i < 0 {
		t.Fatalf("no headline %q", what)
	}
	return r.Headlines[i]
}

// A headline is judged over the table nearest to the paper's million, and over the largest.
func TestHeadlinesOfTwoTables(t *testing.T) {
	r := reporttest.Report("paper", "predicate", 4096, map[string][]float64{report.Classic: reporttest.Five(1), "cpu": reporttest.Five(1)})
	reporttest.Add(r, "predicate", 1_000_000, map[string][]float64{report.Classic: reporttest.Five(2), "cpu": reporttest.Five(6), "fused": reporttest.Five(1)})
	reporttest.Add(r, "predicate", 1<<28, map[string][]float64{report.Classic: reporttest.Five(30), "cpu": reporttest.Five(10)})
	Of(r).Finish()
	h := headline(t, r, "predicate")
	if h.Rows != 1_000_000 || h.Verdict != report.Held || h.Runs != report.MinRounds || h.Largest == nil || h.Largest.Rows != 1<<28 || h.Largest.Verdict != report.Failed {
		t.Errorf("%+v, %+v", h, h.Largest)
	}
	want := "Predicate: the paper's GPU is 3 times as fast as its CPU; here classic is 3 times as fast as cpu (fused 6 times as fast) over 1,000,000 records: held; 3 times slower than cpu over 268,435,456 records: did not hold."
	if h.Sentence != want {
		t.Errorf("%q", h.Sentence)
	}
	if rows := Of(r).HeadlineTable().Rows; len(rows) != 3 || rows[1][2] != "1,000,000" || rows[2][2] != "268,435,456" || rows[1][3] != "5" {
		t.Errorf("%q", rows)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		m     report.Measured
		paper float64
		want  string
	}{
		{report.Measured{Here: 3, Lo: 2.9, Hi: 3.1, Runs: 5}, 3, report.Held},
		{report.Measured{Here: 3, Lo: 2.9, Hi: 3.1, Runs: 4}, 3, report.TooFewRounds},
		{report.Measured{Here: 1.1, Lo: 0.9, Hi: 1.3, Runs: 5}, 3, report.Noisy},
		{report.Measured{Here: 1.2, Lo: 1.1, Hi: 1.3, Runs: 5}, 3, "held in direction, less so"},
		{report.Measured{Here: 6, Lo: 5, Hi: 7, Runs: 5}, 3, "held, and more so"},
		{report.Measured{Here: 1. / 466, Lo: 0.002, Hi: 0.003, Runs: 5}, 0.05, "held in direction, slower still"},
		{report.Measured{Here: 0.04, Lo: 0.03, Hi: 0.05, Runs: 5}, 0.05, report.Held},
		{report.Measured{Here: 0.5, Lo: 0.4, Hi: 0.6, Runs: 5}, 0.05, "held in direction, less so"},
		{report.Measured{Here: 2, Lo: 1.9, Hi: 2.1, Runs: 5}, 0.05, report.Failed},
	} {
		if got := c.m.Speed(c.paper); got != c.want {
			t.Errorf("%+v beside the paper's %v: %q, want %q", c.m, c.paper, got, c.want)
		}
	}
}

// The mean over k of fused has only the k's that it searches for.
func TestMeansOverSearches(t *testing.T) {
	r := reporttest.Report("paper", Ranks[0], 250_000, map[string][]float64{report.Classic: reporttest.Five(2), "fused": reporttest.Five(0.01), report.Quickselect: reporttest.Five(4)})
	for _, op := range Ranks[1:] {
		reporttest.Add(r, op, 250_000, map[string][]float64{report.Classic: reporttest.Five(2), "fused": reporttest.Five(1), report.Quickselect: reporttest.Five(4)})
	}
	Of(r).Finish()
	h := headline(t, r, "k-th largest")
	if math.Abs(h.Here-2) > 1e-9 || math.Abs(h.Fused-4) > 1e-9 || h.Verdict != report.Held {
		t.Errorf("%+v, want 2, fused 4", h)
	}
	if h := headline(t, r, "k-th largest: the slowest k beside the fastest"); h.Here != 1 || h.Verdict != report.Held {
		t.Errorf("%+v, want no difference", h)
	}
}

// Figure 9 is judged over all tables, by the device's timer.
func TestTheMedianOfASelectionOverAllTables(t *testing.T) {
	r := &report.Report{Schema: report.Schema, Suite: "paper"}
	for i, factor := range []float64{1.4, 1.5, 1.6} {
		rows := 1_000_000 << i
		reporttest.Add(r, "median", rows, map[string][]float64{report.Classic: reporttest.Five(1)})
		reporttest.Add(r, "median_where", rows, map[string][]float64{report.Classic: reporttest.Five(1)})
		for j := len(r.Results) - 2; j < len(r.Results); j++ {
			r.Results[j].GPU = reporttest.Five(1)
		}
		r.Results[len(r.Results)-1].GPU = reporttest.Five(factor)
	}
	for i := range r.Results { // of the largest table
		x := &r.Results[i]
		if x.Passes = []report.PassTime{{Pass: "CopyToDepth", Routine: "CopyToDepth", MS: 2}, {Pass: "KthSmallest", Routine: "KthSmallest", MS: 4}}; x.Operation == "median_where" {
			x.Passes = []report.PassTime{{Pass: "CopyToDepth", Routine: "CopyToDepth", MS: 2}, {Pass: "Compare", Routine: "Compare", MS: 1}, {Pass: "CopyToDepth", Routine: "CopyToDepth", MS: 2}, {Pass: "KthSmallest", Routine: "KthSmallest", MS: 5}}
		}
	}
	Of(r).Finish()
	h := headline(t, r, "median of 80 % beside that of all")
	for _, want := range []string{"1.4 to 1.6 times as long over tables of 1,000,000 to 4,000,000 records", ": did not hold.", "1.25 times as long under the stencil test", "30 % of the time"} {
		if !strings.Contains(h.Sentence, want) {
			t.Errorf("%q lacks %q", h.Sentence, want)
		}
	}
	if got := listVerdicts(map[string]int{report.Failed: 3, report.Noisy: 1, report.Held: 1}, 5); got != "held over 1 of 5 tables, did not hold over 3 of 5 tables, too noisy to say over 1 of 5 tables" {
		t.Errorf("%q", got)
	}
	if h.Here != 1.4 || h.Verdict != report.Failed || h.Largest == nil || h.Largest.Here != 1.6 {
		t.Errorf("%+v, %+v", h, h.Largest)
	}
}

// Times that grow as the number of records have the power 1, and those of a constant 0.
func TestTheCopyIsLinear(t *testing.T) {
	for power, want := range map[float64]string{1: report.Held, 0: report.Failed, 1.5: report.Failed} {
		r := &report.Report{Schema: report.Schema, Suite: "paper"}
		for rows := 1000; rows <= 1_000_000; rows *= 10 {
			reporttest.Add(r, "copy_to_depth", rows, map[string][]float64{report.Classic: reporttest.Five(math.Pow(float64(rows), power))})
		}
		Of(r).Finish()
		if h := headline(t, r, "copy to depth: power of the number of records"); math.Abs(h.Here-power) > 1e-3 || h.Verdict != want {
			t.Errorf("power %v: %+v, want %s", power, h, want)
		}
	}
}

// What the guard costs is said of an empty quad and of the cases that ran without it.
func TestTheGuardsCost(t *testing.T) {
	r := reporttest.Report("paper", "median", 1_000_000, map[string][]float64{report.Classic: reporttest.Five(3), report.ClassicNoGuard: reporttest.Five(2)})
	if got := Of(r).Remarks(); len(got) != 0 {
		t.Errorf("%v without a floor", got)
	}
	r.Floors = []report.Floor{{Rows: 1_000_000, EachMS: 0.04, BareMS: 0.01, Runs: 15}}
	wrong := 0.5
	for _, want := range []string{"an empty quad over one depth 4 times as long (0.0400 ms and 0.0100, n = 15), a median 1.50 times", "the answers were right", "an answer was wrong"} {
		if want == "an answer was wrong" {
			r.Find("median", 1_000_000, report.ClassicNoGuard).Error = &wrong
		}
		if got := Of(r).Remarks(); len(got) != 1 || !strings.Contains(got[0].Text, want) {
			t.Errorf("%v lacks %q", got, want)
		}
	}
}

// A range without the depth bounds test is said not to be the paper's.
func TestRangesWithoutDepthBounds(t *testing.T) {
	for routine, want := range map[string]int{"Range": 0, "Compare": 1} {
		r := reporttest.Report("paper", "range", 1000, map[string][]float64{report.Classic: reporttest.Five(1)})
		r.Results[0].Passes = []report.PassTime{{Pass: "CopyToDepth", Routine: "CopyToDepth", MS: 2}, {Pass: routine, Routine: routine, MS: 1}}
		if got := Of(r).Remarks(); len(got) != want || want > 0 && !strings.Contains(got[0].Text, "no depth bounds test") {
			t.Errorf("%s: %v", routine, got)
		}
	}
}

// The share of the ideal is that of the median's quads, at the paper's size.
func TestShareOfTheIdeal(t *testing.T) {
	r := reporttest.Report("paper", "median", 1_000_000, map[string][]float64{report.Classic: reporttest.Five(12), report.CopyExcluded: reporttest.Five(10)})
	for i := range r.Results {
		r.Results[i].Passes = append([]report.PassTime{{Pass: "CopyToDepth", Routine: "CopyToDepth", MS: 2}}, slices.Repeat([]report.PassTime{{Pass: "KthSmallest", Routine: "KthSmallest", MS: 0.5}}, 19)...)
	}
	r.Floors = []report.Floor{{Rows: 1_000_000, EachMS: 0.4, Runs: 15}}
	Of(r).Finish()
	h := headline(t, r, "k-th largest, share of the ideal")
	if math.Abs(h.Here-0.76) > 1e-9 || h.Verdict != report.Held || !strings.Contains(h.Sentence, "19 empty quads, measured") {
		t.Errorf("%+v", h)
	}
}

// A run in parts is one report, judged as a whole.
func TestMerge(t *testing.T) {
	a := reporttest.Report("paper", "predicate", 1_000_000, map[string][]float64{report.Classic: reporttest.Five(2), "cpu": reporttest.Five(6)})
	b := reporttest.Report("paper", "predicate", 1<<28, map[string][]float64{report.Classic: reporttest.Five(30), "cpu": reporttest.Five(10)})
	again := reporttest.Report("paper", "predicate", 1_000_000, map[string][]float64{report.Classic: reporttest.Five(99)})
	a.Floors, b.Floors = []report.Floor{{Rows: 1_000_000, Runs: 15}}, []report.Floor{{Rows: 1 << 28, Runs: 15}}
	b.Results = append(b.Results, again.Results...)
	r, err := Merge(b, a)
	if err != nil {
		t.Fatal(err)
	}
	if h := headline(t, r, "predicate"); len(r.Results) != 4 || len(r.Floors) != 2 || r.Floors[0].Rows != 1_000_000 || r.Results[0].Rows != 1_000_000 || h.Largest == nil || h.Largest.Rows != 1<<28 {
		t.Errorf("%d results, floors %v, %+v", len(r.Results), r.Floors, h)
	}
	other := reporttest.Report("paper", "predicate", 1000, map[string][]float64{"cpu": reporttest.Five(1)})
	other.Machine.CPU = "another CPU"
	older := reporttest.Report("paper", "predicate", 1000, map[string][]float64{"cpu": reporttest.Five(1)})
	older.Machine.Commit = "older"
	for want, parts := range map[string][]*report.Report{
		"a report": nil, "differ in CPU": {a, other}, "differ in the commit": {a, older},
		"suite operations has no figures": {a, reporttest.Report("operations", "count", 1000, map[string][]float64{"cpu": reporttest.Five(1)})},
	} {
		if _, err := Merge(parts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
