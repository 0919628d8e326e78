package bench

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// report makes a report with a result for each of systems, whose times are those of
// ms.
func report(suite, operation string, rows int, ms map[string][]float64) *Report {
	r := &Report{
		Schema: Schema, Suite: suite, Command: "stencildb bench", Date: time.Date(2004, 6, 13, 0, 0, 0, 0, time.UTC),
		Machine: Machine{CPU: "a CPU", Cores: 2, GOMAXPROCS: 2, Go: "go1.26", OS: "linux/amd64", Commit: "abc", Software: true},
		Data:    Data{Name: "uniform", Seed: 1}, Reference: "cpu", Results: []Result{}, Skipped: []Skip{},
	}
	var names []string
	for name := range ms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		x := Result{Case: Case{operation, rows}, SQL: "SELECT 1", System: name, Answer: []string{"1"}, Stride: 1, MS: ms[name], CPU: ms[name]}
		x.summarise()
		r.Results = append(r.Results, x)
	}
	r.setRatios()
	return r
}

func TestQuantiles(t *testing.T) {
	values := []float64{4, 1, 3, 2, 5}
	for p, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 3, 0.9: 4.6, 1: 5} {
		if got := quantile(values, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	if got := median([]float64{1, 2}); got != 1.5 {
		t.Errorf("median of 1 and 2 is %v", got)
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("quantile of nothing is %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 50).Draw(t, "values")
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		a, b := quantile(v, min(p, q)), quantile(v, max(p, q))
		if a < slices.Min(v) || b > slices.Max(v) || a > b*(1+1e-12) {
			t.Fatalf("quantiles %v and %v of %v", a, b, v)
		}
	})
}

// Intervals of ratios: exact where the samples leave no doubt, and of samples that differ
// by a factor they hold it as often as they should.
func TestRatioIntervals(t *testing.T) {
	for _, c := range []struct {
		a, b   []float64
		lo, hi float64
	}{
		{slices.Repeat([]float64{2}, 5), slices.Repeat([]float64{6}, 5), 3, 3},
		{slices.Repeat([]float64{2}, 7), slices.Repeat([]float64{1}, 9), 0.5, 0.5},
		{slices.Repeat([]float64{1}, 5), []float64{1, 2, 1, 2, 1, 2}, 1, 2},
		{[]float64{1, 2, 1, 2, 1, 2}, slices.Repeat([]float64{4}, 5), 2, 4},
		{[]float64{2}, []float64{6}, 0, 0}, // too few for an interval
		{slices.Repeat([]float64{1}, 4), slices.Repeat([]float64{6}, 50), 0, 0},
		{slices.Repeat([]float64{1}, 50), slices.Repeat([]float64{6}, 4), 0, 0},
	} {
		if lo, hi := ratioInterval(c.a, c.b); lo != c.lo || hi != c.hi {
			t.Errorf("of %v to %v: %v to %v, want %v to %v", c.b, c.a, lo, hi, c.lo, c.hi)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	sample := func(scale float64) (list []float64) {
		for range 24 {
			list = append(list, scale*math.Exp(0.2*random.NormFloat64()))
		}
		return list
	}
	const trials = 200
	held := 0
	for range trials {
		if lo, hi := ratioInterval(sample(1), sample(3)); lo <= 3 && 3 <= hi {
			held++
		}
	}
	if held < trials*88/100 {
		t.Errorf("%d of %d intervals of 95 %% hold the ratio", held, trials)
	}
}

func TestRounded(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 1.234567: 1.2346, 123456: 123460, -0.00012345678: -0.00012346, math.Inf(1): math.Inf(1)} {
		if got := rounded(x); got != want {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := report("operations", "count", 1000, map[string][]float64{"cpu": {1, 2, 3}, "classic": {4, 5, 6}})
	r.Skipped = append(r.Skipped, Skip{Case{"sum", 1000}, "classic", "too wide"})
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if want := `"ms": [1,2,3],`; !strings.Contains(b.String(), want) {
		t.Errorf("the JSON lacks %s:\n%s", want, &b)
	}
	back, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, back); d != "" {
		t.Error(d)
	}
}

// A report of an earlier version has "classic, copy excluded" by its name of then.
func TestReadJSONRenames(t *testing.T) {
	text := `{"schema": 1, "results": [{"operation": "sum", "rows": 9, "system": "classic-compute-only", "stride": 1, "ms": [1], "cpu_ms": [1]}],
		"skipped": [{"operation": "sum", "rows": 9, "system": "classic-compute-only", "reason": "r"}], "headlines": [{"what": "range, compute only", "of": "classic-compute-only"}]}`
	r, err := ReadJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{r.Results[0].System, r.Skipped[0].System, r.Headlines[0].Of, r.Headlines[0].What, r.lookOf(r.Results[0].System).label}
	if diff := cmp.Diff(got, []string{copyExcluded, copyExcluded, copyExcluded, "range, copy excluded", "classic, copy excluded"}); diff != "" {
		t.Error(diff)
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                "not the JSON",
		`[1]`:             "not the JSON",
		`{"schema": 2}`:   "schema is 2",
		`{"results": []}`: "schema is 0",
		`{"schema": 1, "results": [{"operation": "count", "stride": 0, "ms": [1]}]}`: "no times",
		`{"schema": 1, "results": [{"operation": "count", "stride": 1}]}`:            "no times",
		`{"schema": 1, "results": [{"operation": "count", "stride": 1, "ms": [1]}]}`: "no times",
	} {
		if _, err := ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}

func TestGoFormat(t *testing.T) {
	r := report("operations", "count", 1000, map[string][]float64{"cpu": {1, 0.5}})
	var b bytes.Buffer
	if err := r.WriteGo(&b); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^BenchmarkOperations/op=count/rows=1000/system=cpu-2 1 (1000000|500000) ns/op$`).FindAllString(b.String(), -1)
	if len(lines) != 2 || !strings.Contains(b.String(), "goos: linux\ngoarch: amd64\n") {
		t.Errorf("%s", &b)
	}
}

func TestCompareNamesWhatChanged(t *testing.T) {
	times := []float64{10, 10.1, 9.9, 10.2, 9.8, 10, 10.1, 9.9}
	scaled := func(f float64) []float64 {
		out := slices.Clone(times)
		for i := range out {
			out[i] *= f
		}
		return out
	}
	a := report("operations", "count", 1000, map[string][]float64{"same": times, "slow": times, "fast": times, "noisy": {1, 10, 100, 5, 50}, "gone": times})
	b := report("operations", "count", 1000, map[string][]float64{"same": times, "slow": scaled(1.5), "fast": scaled(0.5), "noisy": {2, 20, 200, 10, 100}, "new": times})
	b.Machine.CPU = "another CPU"
	c := Compare(a, b)
	verdicts := map[string]string{}
	for _, x := range c.Changes {
		verdicts[x.System] = x.Verdict(0.05)
		if !(x.Lo <= x.Ratio && x.Ratio <= x.Hi) {
			t.Errorf("the ratio %v of %s is outside its interval %v to %v", x.Ratio, x.System, x.Lo, x.Hi)
		}
	}
	if d := cmp.Diff(verdicts, map[string]string{"same": "", "slow": "slower", "fast": "faster", "noisy": ""}); d != "" {
		t.Error(d)
	}
	var out bytes.Buffer
	if err := c.Write(&out, 0.05); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"differs in CPU: a CPU, another CPU", "only in A: count, 1,000 rows, gone", "only in B: count, 1,000 rows, new", "4 cases: 1 slower, 1 faster"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the comparison lacks %q:\n%s", want, &out)
		}
	}
}

// Two rounds, however far apart, give no spread, no interval and no verdict.
func TestFewRoundsSayNothing(t *testing.T) {
	times := map[string][]float64{"cpu": {10, 10}, "classic": {30, 30}}
	a, b := report("operations", "count", 1000, times), report("operations", "count", 1000, map[string][]float64{"cpu": {40, 40, 40, 40, 40, 40}, "classic": {90, 90, 90}})
	var text bytes.Buffer
	if err := errors.Join(a.WriteText(&text), Compare(a, b).Write(&text, 0.05)); err != nil {
		t.Fatal(err)
	}
	for _, c := range Compare(a, b).Changes {
		if c.Verdict(0.05) != tooFew || c.Lo != 0 || c.Hi != 0 {
			t.Errorf("%+v is %q", c, c.Verdict(0.05))
		}
	}
	if s := text.String(); strings.Contains(s, "±0%") || !strings.Contains(s, "0 slower, 0 faster") || !strings.Contains(s, "2 cases with fewer than 5 rounds") {
		t.Errorf("%s", s)
	}
	p := report("paper", "predicate", 1000, times)
	p.Results = append(p.Results, report("paper", "median", 1000, map[string][]float64{"classic": {5, 5}}).Results...)
	p.Results = append(p.Results, report("paper", "median_where", 1000, map[string][]float64{"classic": {10, 10}}).Results...)
	p.finishFigures()
	if len(p.Headlines) != 2 || len(p.Ties) != 1 {
		t.Errorf("headlines %+v, ties %+v", p.Headlines, p.Ties)
	}
	for _, h := range p.Headlines {
		if h.Verdict != tooFew {
			t.Errorf("%s", h.Sentence)
		}
	}
}

func TestAutoBesideTheBest(t *testing.T) {
	r := report("auto", "count", 1000, map[string][]float64{"auto": {2, 4, 2, 2, 2}, "cpu": {2, 4, 2, 2, 2}, "classic": {4, 4, 4, 4, 4}})
	r.Results = append(r.Results, report("auto", "sum", 1000, map[string][]float64{"auto": {6, 6, 6, 6, 6}, "cpu": {3, 3, 3, 3, 3}, "classic": {2, 3, 2, 2, 2}}).Results...)
	r.Results = append(r.Results, report("auto", "min", 1000, map[string][]float64{"auto": {9, 9}, "cpu": {1, 1}}).Results...)
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
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
	r := report("targets", "count", softwareRows, map[string][]float64{"compute": {3, 3, 3, 3, 3}, "auto": {20, 20, 20, 20, 20}, "duckdb": {10, 10, 10, 10, 10}})
	r.Results = append(r.Results, report("targets", "sum", softwareRows, map[string][]float64{"compute": {3}, "duckdb": {10}}).Results...)
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.400 x duckdb", "0.300 x duckdb", "too few rounds", "1 of 2 targets met, 3 of 11 measured"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &b)
		}
	}
	r = report("targets", "median", hardwareRows, map[string][]float64{"compute": {0.6, 0.6, 0.6, 0.6, 0.6}, "fused": {256, 256, 256, 256, 256}})
	r.Machine.Software = false
	b.Reset()
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.650 ms", "0.600 ms", "255.0 ms", "256.0 ms", "1 of 2 targets met, 2 of 20 measured"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &b)
		}
	}
}

// Every target is of an operation that exists.
func TestTargetsNameOperations(t *testing.T) {
	for _, target := range Targets() {
		if !slices.ContainsFunc(operations, func(o Operation) bool { return o.Name == target.Operation }) {
			t.Errorf("no operation %s", target.Operation)
		}
		if target.LimitMS > 0 == (target.Ratio > 0) || target.Hardware == (target.To != "") {
			t.Errorf("%+v has not one limit", target)
		}
	}
}
