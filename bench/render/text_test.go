package render

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/reporttest"
)

// A report of an earlier version has "classic, copy excluded" by its name of then.
func TestReadJSONRenames(t *testing.T) {
	text := `{"schema": 1, "results": [{"operation": "sum", "rows": 9, "system": "classic-compute-only", "stride": 1, "ms": [1], "cpu_ms": [1]}],
		"skipped": [{"operation": "sum", "rows": 9, "system": "classic-compute-only", "reason": "r"}], "headlines": [{"what": "range, compute only", "of": "classic-compute-only"}]}`
	r, err := report.ReadJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{r.Results[0].System, r.Skipped[0].System, r.Headlines[0].Of, r.Headlines[0].What, Of(r).styleOf(r.Results[0].System).label}
	if diff := cmp.Diff(got, []string{report.CopyExcluded, report.CopyExcluded, report.CopyExcluded, "range, copy excluded", "classic, copy excluded"}); diff != "" {
		t.Error(diff)
	}
}

func TestGoFormat(t *testing.T) {
	r := reporttest.Report("operations", "count", 1000, map[string][]float64{"cpu": {1, 0.5}})
	var b bytes.Buffer
	if err := Of(r).WriteGo(&b); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^BenchmarkOperations/op=count/rows=1000/system=cpu-2 1 (1000000|500000) ns/op$`).FindAllString(b.String(), -1)
	if len(lines) != 2 || !strings.Contains(b.String(), "goos: linux\ngoarch: amd64\n") {
		t.Errorf("%s", &b)
	}
}

// Two rounds, however far apart, give no spread, no interval and no verdict.
func TestFewRoundsSayNothing(t *testing.T) {
	times := map[string][]float64{"cpu": {10, 10}, "classic": {30, 30}}
	a, b := reporttest.Report("operations", "count", 1000, times), reporttest.Report("operations", "count", 1000, map[string][]float64{"cpu": {40, 40, 40, 40, 40, 40}, "classic": {90, 90, 90}})
	var text bytes.Buffer
	if err := errors.Join(Of(a).WriteText(&text), report.Compare(a, b).Write(&text, 0.05)); err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Compare(a, b).Changes {
		if c.Verdict(0.05) != report.TooFewRounds || c.Lo != 0 || c.Hi != 0 {
			t.Errorf("%+v is %q", c, c.Verdict(0.05))
		}
	}
	if s := text.String(); strings.Contains(s, "±0%") || !strings.Contains(s, "0 slower, 0 faster") || !strings.Contains(s, "2 cases with fewer than 5 rounds") {
		t.Errorf("%s", s)
	}
	p := reporttest.Report("paper", "predicate", 1000, times)
	p.Results = append(p.Results, reporttest.Report("paper", "median", 1000, map[string][]float64{"classic": {5, 5}}).Results...)
	p.Results = append(p.Results, reporttest.Report("paper", "median_where", 1000, map[string][]float64{"classic": {10, 10}}).Results...)
	evaluation.Of(p).Finish()
	if len(p.Headlines) != 2 || len(p.Ties) != 1 {
		t.Errorf("headlines %+v, ties %+v", p.Headlines, p.Ties)
	}
	for _, h := range p.Headlines {
		if h.Verdict != report.TooFewRounds {
			t.Errorf("%s", h.Sentence)
		}
	}
}

func TestAutoBesideTheBest(t *testing.T) {
	r := reporttest.Report("auto", "count", 1000, map[string][]float64{"auto": {2, 4, 2, 2, 2}, "cpu": {2, 4, 2, 2, 2}, "classic": {4, 4, 4, 4, 4}})
	r.Results = append(r.Results, reporttest.Report("auto", "sum", 1000, map[string][]float64{"auto": {6, 6, 6, 6, 6}, "cpu": {3, 3, 3, 3, 3}, "classic": {2, 3, 2, 2, 2}}).Results...)
	r.Results = append(r.Results, reporttest.Report("auto", "min", 1000, map[string][]float64{"auto": {9, 9}, "cpu": {1, 1}}).Results...)
	var b bytes.Buffer
	if err := Of(r).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Within 1.15 of the best: 1 of 2 cases (50 %). The largest ratio: 3.00 (sum over 1,000 rows).",
		"1 case with fewer than 5 rounds: nothing can be said."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &b)
		}
	}
}

func TestTargetsAreJudged(t *testing.T) {
	r := reporttest.Report("targets", "count", evaluation.SoftwareRows, map[string][]float64{"compute": {3, 3, 3, 3, 3}, "auto": {20, 20, 20, 20, 20}, "duckdb": {10, 10, 10, 10, 10}})
	r.Results = append(r.Results, reporttest.Report("targets", "sum", evaluation.SoftwareRows, map[string][]float64{"compute": {3}, "duckdb": {10}}).Results...)
	var b bytes.Buffer
	if err := Of(r).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.400 x duckdb", "0.300 x duckdb", "too few rounds", "1 of 2 targets met, 3 of 11 measured"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &b)
		}
	}
	r = reporttest.Report("targets", "median", evaluation.HardwareRows, map[string][]float64{"compute": {0.6, 0.6, 0.6, 0.6, 0.6}, "fused": {256, 256, 256, 256, 256}})
	r.Machine.Software = false
	b.Reset()
	if err := Of(r).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.650 ms", "0.600 ms", "255.0 ms", "256.0 ms", "1 of 2 targets met, 2 of 20 measured"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &b)
		}
	}
}

// A run too noisy to rank two systems says so, and one that is not does not.
func TestTies(t *testing.T) {
	r := reporttest.Report("paper", "median", 1000, map[string][]float64{
		"classic": {10, 10.1, 9.9, 10, 10.2, 9.8}, "fused": {4, 14, 9, 11, 6, 9.5}, "cpu": {1, 1.1, 0.9, 1, 1, 1},
	})
	evaluation.Of(r).Finish()
	if r.Machine.Cores, r.Machine.LoadAverage = 2, 4; !strings.Contains(Of(r).noise(), "Others used this machine (load average 4.0 on 2 cores") {
		t.Errorf("%s", Of(r).noise())
	}
	if len(r.Ties) != 1 || r.Ties[0].A != "fused" || r.Ties[0].B != "classic" || r.Ties[0].Lo > 1 || r.Ties[0].Hi < 1 {
		t.Errorf("%+v, want fused and classic", r.Ties)
	}
	var b bytes.Buffer
	if err := report.WriteSections(&b, Of(r).evaluation()...); err != nil || !strings.Contains(b.String(), "1 of 2 pairs") || !strings.Contains(b.String(), "median, 1,000 rows: fused and classic\n") {
		t.Errorf("%v: %s", err, &b)
	}
}

// Known times give known ratios and words.
func TestHeadlinesOfKnownTimes(t *testing.T) {
	r := reporttest.Report("paper", "predicate", 1000, map[string][]float64{
		"classic": reporttest.Five(2), report.CopyExcluded: reporttest.Five(0.1), "cpu": reporttest.Five(6), "fused": reporttest.Five(1), "compute": reporttest.Five(12)})
	r.Results = append(r.Results, reporttest.Report("paper", "sum", 1000, map[string][]float64{"classic": reporttest.Five(20), "cpu": reporttest.Five(40)}).Results...)
	r.Results = append(r.Results, reporttest.Report("paper", "median", 1000, map[string][]float64{"classic": reporttest.Five(5)}).Results...)
	r.Results = append(r.Results, reporttest.Report("paper", "median_where", 1000, map[string][]float64{"classic": reporttest.Five(10)}).Results...)
	evaluation.Of(r).Finish()
	for what, want := range map[string]struct {
		here    float64
		verdict string
	}{
		"predicate": {3, "held"}, "predicate, copy excluded": {60, "held, and more so"}, "sum": {2, "did not hold"},
		"median of 80 % beside that of all": {2, "did not hold"},
	} {
		i := slices.IndexFunc(r.Headlines, func(h report.Headline) bool { return h.What == what })
		if i < 0 || math.Abs(r.Headlines[i].Here-want.here) > 1e-9 || r.Headlines[i].Verdict != want.verdict {
			t.Errorf("%s: %+v, want %v, %s", what, r.Headlines, want.here, want.verdict)
		}
	}
	want := "Predicate: the paper's GPU is 3 times as fast as its CPU; here classic is 3 times as fast as cpu (fused 6 times as fast, compute 2 times slower) over 1,000 records: held."
	if r.Headlines[0].Sentence != want {
		t.Errorf("%q, want %q", r.Headlines[0].Sentence, want)
	}
	if g := Of(r).gainTable().Rows; len(g) != 3 || !slices.Equal(g[1], []string{"predicate", "1,000", "5", "high", "3", "medium", "fused", "6", "high"}) {
		t.Errorf("gains %q", g)
	}
	for x, want := range map[float64]string{3: "3", 5.5: "5.5", 0.05: "0.05", 0.0021: "0.0021", 12.34: "12.3", 470.2: "470", 0.8: "0.8"} {
		if got := report.FormatNumber(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	for x, want := range map[[2]float64]string{{0.998, 1.003}: "0.998 – 1.003", {1.02, 1.3}: "1.02 – 1.3", {1, 1}: "1 – 1", {12.31, 12.33}: "12.31 – 12.33"} {
		if got := report.FormatInterval(x[0], x[1]); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}

// A report of parts has the times of each table.
func TestTextOfMergedReports(t *testing.T) {
	r, err := evaluation.Merge(reporttest.Report("paper", "predicate", 1_000_000, map[string][]float64{report.Classic: reporttest.Five(2), "cpu": reporttest.Five(6)}),
		reporttest.Report("paper", "predicate", 1<<28, map[string][]float64{report.Classic: reporttest.Five(30), "cpu": reporttest.Five(10)}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.Bytes(Of(r).WriteText)
	if err != nil || strings.Count(string(text), "rows, median ms") != 2 {
		t.Errorf("%v: %s", err, text)
	}
}

// What cpu does for a system stands beside its name.
func TestOperatorsInWords(t *testing.T) {
	for want, list := range map[string][]string{"": nil, " (cpu groups)": {"Aggregate"}, " (cpu windows, sorts)": {"Window", "Sort"}, " (cpu limit)": {"Limit"}} {
		if got := helped(&report.Result{OnCPU: list}); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}
