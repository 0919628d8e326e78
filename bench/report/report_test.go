package report_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/reporttest"
)

func TestQuantiles(t *testing.T) {
	values := []float64{4, 1, 3, 2, 5}
	for p, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 3, 0.9: 4.6, 1: 5} {
		if got := report.Quantile(values, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	if got := report.Median([]float64{1, 2}); got != 1.5 {
		t.Errorf("median of 1 and 2 is %v", got)
	}
	if got := report.Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("quantile of nothing is %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 50).Draw(t, "values")
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		a, b := report.Quantile(v, min(p, q)), report.Quantile(v, max(p, q))
		if a < slices.Min(v) || b > slices.Max(v) || a > b*(1+1e-12) {
			t.Fatalf("quantiles %v and %v of %v", a, b, v)
		}
	})
}

// Intervals of ratios are exact where the samples leave no doubt. Intervals of samples that differ by
// a factor hold the factor as often as they should.
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
		if lo, hi := report.RatioInterval(c.a, c.b); lo != c.lo || hi != c.hi {
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
		if lo, hi := report.RatioInterval(sample(1), sample(3)); lo <= 3 && 3 <= hi {
			held++
		}
	}
	if held < trials*88/100 {
		t.Errorf("%d of %d intervals of 95 %% hold the ratio", held, trials)
	}
}

func TestRounded(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 1.234567: 1.2346, 123456: 123460, -0.00012345678: -0.00012346, math.Inf(1): math.Inf(1)} {
		if got := report.Rounded(x); got != want {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := reporttest.Report("operations", "count", 1000, map[string][]float64{"cpu": {1, 2, 3}, "classic": {4, 5, 6}})
	r.Skipped = append(r.Skipped, report.Skip{report.Case{"sum", 1000}, "classic", "too wide"})
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if want := `"ms": [1,2,3],`; !strings.Contains(b.String(), want) {
		t.Errorf("the JSON lacks %s:\n%s", want, &b)
	}
	back, err := report.ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, back); d != "" {
		t.Error(d)
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
		if _, err := report.ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
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
	a := reporttest.Report("operations", "count", 1000, map[string][]float64{"same": times, "slow": times, "fast": times, "noisy": {1, 10, 100, 5, 50}, "gone": times})
	b := reporttest.Report("operations", "count", 1000, map[string][]float64{"same": times, "slow": scaled(1.5), "fast": scaled(0.5), "noisy": {2, 20, 200, 10, 100}, "new": times})
	b.Machine.CPU = "another CPU"
	c := report.Compare(a, b)
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
