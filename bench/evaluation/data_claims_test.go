package evaluation

import (
	"math"
	"testing"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/reporttest"
	"github.com/stencildb/stencildb/papers/lab"
)

// Claims and published tables take the numbers that they name.
func TestClaimsAsData(t *testing.T) {
	r := reporttest.Batches()
	reporttest.Add(r, "search_16", 4_000_000, map[string][]float64{"cpu": reporttest.Five(3), "classic": reporttest.Five(1)})
	speed := lab.Claim{Figure: "6", What: "classic beside cpu", Says: "it is faster", Where: "S1", Number: 3, Here: lab.Speedup("search_16", "classic", "cpu")}
	h, ok := Of(r).judge(speed)
	if !ok || h.Here != 0.25 || h.Rows != 1_000_000 || h.Verdict != report.Failed || h.Largest == nil || h.Largest.Here != 3 || h.Largest.Verdict != report.Held {
		t.Errorf("%+v, %+v", h, h.Largest)
	}
	if want := "It is faster (S1). The paper: 3 on ; here: 0.25 over 1,000,000 records: did not hold; 3 over 4,000,000 records: held."; h.Sentence != want {
		t.Errorf("%q", h.Sentence)
	}
	perWork := lab.Term{Operation: "search_16", System: "cpu", PerWork: true}
	for _, c := range []struct {
		verdict lab.Verdict
		here    lab.Value
		number  float64
		want    string
	}{
		{lab.Near, lab.Counted("search_16", "cpu", "reads"), 40, report.Held}, {lab.Near, lab.Counted("search_16", "cpu", "reads"), 20, report.Failed},
		{lab.AtMost, lab.Median("search_16", "cpu"), 0.5, report.Held}, {lab.AtMost, lab.Median("search_16", "cpu"), 0.4, report.Failed},
		{lab.AtLeast, lab.Median("search_16", "cpu"), 0.5, report.Held}, {lab.AtLeast, lab.Median("search_16", "cpu"), 0.6, report.Failed},
		{lab.Alike, lab.Ratio(perWork, perWork), 1, report.Held},
		{lab.Near, lab.Ratio(lab.Term{Operation: "search_16", System: "cpu", Section: "Scan"}, lab.Term{Operation: "search_16", System: "cpu", Section: "Copy"}), 3, report.Held},
		{lab.Faster, lab.Ratio(lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Largest}, lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Smallest}), 6, report.Held},
	} {
		if h, ok := Of(r).judge(lab.Claim{Here: c.here, Number: c.number, Verdict: c.verdict, Says: "x"}); !ok || h.Verdict != c.want {
			t.Errorf("%+v: %+v", c, h)
		}
	}
	trend := lab.Ratio(lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Largest}, lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Smallest})
	if h, _ := Of(r).judge(lab.Claim{Says: "x", Here: trend}); h.Rows != 4_000_000 || h.Largest != nil {
		t.Errorf("a trend: %+v, want it once", h)
	}
	unknown := lab.Value{Terms: []lab.Term{{Operation: "search_16", System: "cpu"}}, Of: func([]float64) float64 { return math.NaN() }}
	oneSize := lab.Median("search_1024", "cpu")
	oneSize.Terms[0].Rows = lab.Smallest
	for _, none := range []lab.Value{{}, unknown, oneSize, {Terms: []lab.Term{{Operation: "search_16", System: "cpu", Section: "none"}}}, lab.Counted("search_16", "cpu", "none")} {
		if _, ok := Of(r).judge(lab.Claim{Here: none}); ok {
			t.Errorf("a claim about %+v", none)
		}
	}
	if _, ok := Of(r).judge(lab.Claim{Here: lab.Median("search_16", "nobody")}); ok {
		t.Error("a claim about what was not measured")
	}
	if got := (report.Measured{Here: 1, Lo: 0.5, Hi: 2, Runs: report.MinRounds}).Judged(lab.AtMost, 1.5); got != report.Noisy {
		t.Errorf("%s", got)
	}
}
