package render

import (
	"fmt"
	"math"
	"strconv"

	"github.com/stencildb/stencildb/papers/lab"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// tick is a number on a panel's axis.
func tick(p lab.Panel, x float64) string {
	if n := int(x); p.Binary && n >= 1<<10 {
		if n%(1<<20) == 0 {
			return fmt.Sprintf("%d Mi", n>>20)
		}
		return fmt.Sprintf("%d Ki", n>>10)
	}
	return short(x)
}

// short writes a number with its unit: 62.5 K, 1 M.
func short(x float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{" G", 1e9}, {" M", 1e6}, {" K", 1e3}} {
		if x >= u.size {
			return strconv.FormatFloat(x/u.size, 'g', 3, 64) + u.unit
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// logTicks labels the powers of ten, and 2 and 5 times them where there are few.
func logTicks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	few := math.Log10(hi/lo) < 2.5
	for e := math.Floor(math.Log10(lo)); math.Pow(10, e) <= hi; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || few && (m == 2 || m == 5) {
				t.Label = strconv.FormatFloat(v, 'f', max(0, -int(e)), 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// rateTicks are logTicks with units.
func rateTicks(lo, hi float64) []plot.Tick {
	ticks := logTicks(lo, hi)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = short(t.Value)
		}
	}
	return ticks
}

// thin leaves only every so many of the labels of the x axis, so that none touches the next.
func thin(pl *plot.Plot, ticks []plot.Tick) {
	const plotWidth = panelWidth - 2*vg.Centimeter // without what stands beside the y axis
	touch := func(stride int) bool {
		for i := stride; i < len(ticks); i += stride {
			apart := vg.Length(pl.X.Norm(ticks[i].Value)-pl.X.Norm(ticks[i-stride].Value)) * plotWidth
			if apart < (pl.X.Tick.Label.Width(ticks[i].Label)+pl.X.Tick.Label.Width(ticks[i-stride].Label))/2+vg.Points(4) {
				return true
			}
		}
		return false
	}
	stride := 1
	for stride < len(ticks) && touch(stride) {
		stride++
	}
	for i := range ticks {
		if i%stride != 0 {
			ticks[i].Label = ""
		}
	}
}

// axis sets the ticks and the ranges.
func axis(pl *plot.Plot, p lab.Panel, places []float64) {
	ticks := make([]plot.Tick, len(places))
	for i, x := range places {
		ticks[i] = plot.Tick{Value: x, Label: tick(p, x)}
		if p.Names != nil {
			ticks[i].Label = p.Names[int(x)-1]
		}
	}
	first, last := places[0], places[len(places)-1]
	pl.X.Tick.Marker = plot.ConstantTicks(ticks)
	switch {
	case p.LogX:
		pl.X.Scale = plot.LogScale{}
		pl.X.Min, pl.X.Max = first/1.15, last*1.15
	case first == last:
		pl.X.Min, pl.X.Max = first-1, last+1
	default:
		margin := (last - first) / 20
		if p.Names != nil {
			margin = 0.6
		}
		pl.X.Min, pl.X.Max = first-margin, last+margin
	}
	pl.Y.Min, pl.Y.Max = pl.Y.Min/1.3, pl.Y.Max*1.3
	if p.Names == nil {
		thin(pl, ticks)
	}
}
