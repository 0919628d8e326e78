package bench

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/stencildb/stencildb/papers/lab"
)

// batches is a report of two systems in batches of two sizes, and of the steps of a run.
func batches() *Report {
	r := report("paper", "search_16", 1_000_000, map[string][]float64{"cpu": five(0.5), "classic": five(2), "launch": five(0.25), "copied": five(1)})
	add(r, "search_1024", 1_000_000, map[string][]float64{"cpu": five(8), "classic": five(4), "launch": five(0.25), "copied": five(3)})
	for i := range r.Results {
		x := &r.Results[i]
		x.Figure, x.Unit, x.Work, x.X = "6", "searches", 16, 16
		if x.Operation == "search_1024" {
			x.Work, x.X = 1024, 1024
		}
		x.Counters = map[string]float64{"reads": 3 * x.Work}
		x.Sections = []SectionTime{{"Scan", five(3), 3}, {"Copy", five(1), 1}}
	}
	return r
}

func TestWhatPanelsShow(t *testing.T) {
	r, operations := batches(), []string{"search_16", "search_1024"}
	of := func(p lab.Panel) map[string]plotter.XYs {
		p.Operations = operations
		got := map[string]plotter.XYs{}
		for _, s := range r.series(p) {
			got[s.label] = s.XYs
		}
		return got
	}
	two := func(a, b float64) plotter.XYs { return plotter.XYs{{X: 16, Y: a}, {X: 1024, Y: b}} }
	for name, c := range map[string]struct {
		panel lab.Panel
		want  map[string]plotter.XYs
	}{
		"ms":        {lab.Panel{Systems: []string{"cpu"}}, map[string]plotter.XYs{"cpu": two(0.5, 8)}},
		"rate":      {lab.Panel{Systems: []string{"cpu", "classic"}, Shows: lab.Rate}, map[string]plotter.XYs{"cpu": two(32_000, 128_000), "classic": two(8000, 256_000)}},
		"per unit":  {lab.Panel{Systems: []string{"cpu"}, Shows: lab.PerUnit}, map[string]plotter.XYs{"cpu": two(31_250, 7812.5)}},
		"bandwidth": {lab.Panel{Systems: []string{"cpu"}, Shows: lab.Bandwidth}, map[string]plotter.XYs{"cpu": two(3.2e-5, 1.28e-4)}},
		"counter":   {lab.Panel{Systems: []string{"cpu"}, Shows: lab.Counter, Counters: []lab.Line{{Counter: "reads"}, {Counter: "none"}, {Counter: "reads", Label: "again"}}}, map[string]plotter.XYs{"cpu": two(48, 3072), "cpu: again": two(48, 3072)}},
		"within": {lab.Panel{Systems: []string{"cpu", "classic"}, Shows: lab.Rate, Within: []float64{0.1, 1, 4, 10}},
			map[string]plotter.XYs{"cpu": {{X: 1, Y: 32_000}, {X: 4, Y: 32_000}, {X: 10, Y: 128_000}}, "classic": {{X: 4, Y: 256_000}, {X: 10, Y: 256_000}}}},
		"steps": {lab.Panel{As: lab.Stacked, Steps: []lab.Step{{System: "launch", Does: "launch"}, {System: "copied", Does: "copy"}, {System: "classic", Does: "search"}}},
			map[string]plotter.XYs{"launch": {{X: 1, Y: 0.25}, {X: 2, Y: 0.25}}, "copy": {{X: 1, Y: 0.75}, {X: 2, Y: 2.75}}, "search": {{X: 1, Y: 1}, {X: 2, Y: 1}}}},
		"sections": {lab.Panel{As: lab.Stacked, Shows: lab.Share, Systems: []string{"cpu"}}, map[string]plotter.XYs{"Scan": {{X: 1, Y: 75}, {X: 2, Y: 75}}, "Copy": {{X: 1, Y: 25}, {X: 2, Y: 25}}}},
	} {
		if d := cmp.Diff(c.want, of(c.panel)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for form, p := range map[string]lab.Panel{"bars": {As: lab.Bars, Shows: lab.Rate}, "shares": {As: lab.Stacked, Shows: lab.Share}, "parts": {As: lab.Stacked, Systems: []string{"cpu"}}} {
		p.Operations = operations
		var b bytes.Buffer
		if err := r.SVG(lab.Figure{Name: "6", Title: "t", Panels: []lab.Panel{p}}, &b); err != nil || !strings.Contains(b.String(), "<svg") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// Claims and published tables take the numbers that they name.
func TestClaimsAsData(t *testing.T) {
	r := batches()
	add(r, "search_16", 4_000_000, map[string][]float64{"cpu": five(3), "classic": five(1)})
	speed := lab.Claim{Figure: "6", What: "classic beside cpu", Says: "it is faster", Where: "S1", Number: 3, Here: lab.Speedup("search_16", "classic", "cpu")}
	h, ok := r.judge(speed)
	if !ok || h.Here != 0.25 || h.Rows != 1_000_000 || h.Verdict != failed || h.Largest == nil || h.Largest.Here != 3 || h.Largest.Verdict != held {
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
		{lab.Near, lab.Counted("search_16", "cpu", "reads"), 40, held}, {lab.Near, lab.Counted("search_16", "cpu", "reads"), 20, failed},
		{lab.AtMost, lab.Median("search_16", "cpu"), 0.5, held}, {lab.AtMost, lab.Median("search_16", "cpu"), 0.4, failed},
		{lab.AtLeast, lab.Median("search_16", "cpu"), 0.5, held}, {lab.AtLeast, lab.Median("search_16", "cpu"), 0.6, failed},
		{lab.Alike, lab.Ratio(perWork, perWork), 1, held},
		{lab.Near, lab.Ratio(lab.Term{Operation: "search_16", System: "cpu", Section: "Scan"}, lab.Term{Operation: "search_16", System: "cpu", Section: "Copy"}), 3, held},
		{lab.Faster, lab.Ratio(lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Largest}, lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Smallest}), 6, held},
	} {
		if h, ok := r.judge(lab.Claim{Here: c.here, Number: c.number, Verdict: c.verdict, Says: "x"}); !ok || h.Verdict != c.want {
			t.Errorf("%+v: %+v", c, h)
		}
	}
	trend := lab.Ratio(lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Largest}, lab.Term{Operation: "search_16", System: "cpu", Rows: lab.Smallest})
	if h, _ := r.judge(lab.Claim{Says: "x", Here: trend}); h.Rows != 4_000_000 || h.Largest != nil {
		t.Errorf("a trend: %+v, want it once", h)
	}
	unknown := lab.Value{Terms: []lab.Term{{Operation: "search_16", System: "cpu"}}, Of: func([]float64) float64 { return math.NaN() }}
	oneSize := lab.Median("search_1024", "cpu")
	oneSize.Terms[0].Rows = lab.Smallest
	for _, none := range []lab.Value{{}, unknown, oneSize, {Terms: []lab.Term{{Operation: "search_16", System: "cpu", Section: "none"}}}, lab.Counted("search_16", "cpu", "none")} {
		if _, ok := r.judge(lab.Claim{Here: none}); ok {
			t.Errorf("a claim about %+v", none)
		}
	}
	if _, ok := r.judge(lab.Claim{Here: lab.Median("search_16", "nobody")}); ok {
		t.Error("a claim about what was not measured")
	}
	if got := (Measured{Here: 1, Lo: 0.5, Hi: 2, Runs: fewest}).judged(lab.AtMost, 1.5); got != noisy {
		t.Errorf("%s", got)
	}
	list := r.published(lab.Figure{Name: "table1", Tables: []lab.Table{{Title: "t", Heads: []string{"way", "16", "1k"},
		Rows: []lab.Row{{Name: "classic", Paper: []float64{0.3, 5.1}, Here: []lab.Value{lab.Speedup("search_16", "classic", "cpu"), lab.Speedup("search_1024", "classic", "cpu")}},
			{Name: "gone", Paper: []float64{1}, Here: []lab.Value{{}, lab.Median("gone", "cpu")}}}}}})
	want := [][]string{{"way", "16, paper", "here", "1k, paper", "here"}, {"classic", "0.3", "0.25", "5.1", "2"}, {"gone", "1", "–", "–", "–"}}
	if len(list) != 1 || !slices.EqualFunc(list[0].Rows, want, slices.Equal) {
		t.Errorf("%v", list)
	}
}

// Labels of places that are near each other leave some out, evenly; those that have room all stand.
func TestLabelsDoNotTouch(t *testing.T) {
	for places, want := range map[int]int{3: 3, 5: 5, 11: 6} {
		pl, ticks := plot.New(), make([]plot.Tick, places)
		for i := range ticks {
			x := float64(int(1) << (10 + 2*i))
			ticks[i] = plot.Tick{Value: x, Label: tick(lab.Panel{LogX: true, Binary: true}, x)}
		}
		pl.X.Scale, pl.X.Min, pl.X.Max = plot.LogScale{}, ticks[0].Value/1.15, ticks[places-1].Value*1.15
		thin(pl, ticks)
		got := 0
		for _, x := range ticks {
			if x.Label != "" {
				got++
			}
		}
		if got != want || ticks[0].Label == "" {
			t.Errorf("%d of %d labels stand, want %d", got, places, want)
		}
	}
}
