package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/stencildb/stencildb/bench/reporttest"
	"github.com/stencildb/stencildb/papers/lab"
)

func TestWhatPanelsShow(t *testing.T) {
	r, operations := reporttest.Batches(), []string{"search_16", "search_1024"}
	of := func(p lab.Panel) map[string]plotter.XYs {
		p.Operations = operations
		got := map[string]plotter.XYs{}
		for _, s := range Of(r).series(p) {
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
		"section":   {lab.Panel{Systems: []string{"cpu"}, Section: "Scan"}, map[string]plotter.XYs{"cpu": two(3, 3)}},
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
		if err := Of(r).SVG(lab.Figure{Name: "6", Title: "t", Panels: []lab.Panel{p}}, &b); err != nil || !strings.Contains(b.String(), "<svg") {
			t.Errorf("%s: %v", form, err)
		}
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
