package debugger

import (
	"context"
	"errors"
	"fmt"
	"image/gif"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

func TestHeadlessWritesEveryStepAndTheSweep(t *testing.T) {
	d := open(t, flights(t, rows), "SELECT COUNT(*) FROM flights WHERE distance > 700")
	d.sweep = 2
	dir := t.TempDir()
	r, err := Headless(context.Background(), d, dir)
	if err != nil {
		t.Fatal(err)
	}
	steps := d.Last() + 1
	if r.Frames <= steps+1 || r.Width != MinWidth || r.Height != MinHeight || r.Median <= 0 || r.Slowest < r.Median {
		t.Errorf("%+v after %d steps", r, steps)
	}
	for i := range r.Frames {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("frame-%03d.png", i)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(f)
		if err = errors.Join(err, f.Close()); err != nil || c.Width != MinWidth || c.Height != MinHeight {
			t.Errorf("frame %d: %v, %v", i, c, err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "run.gif"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := gif.DecodeAll(f)
	if err != nil || len(g.Image) != r.Frames {
		t.Errorf("an animation of %d frames, want %d (%v)", len(g.Image), r.Frames, err)
	}
}

// Values of 64 bits, NULLs, NaN and infinities: no frame fails, at whatever step, and
// wherever a constant is dragged.
func TestAnyValuesAreShown(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "big", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.Double}},
		{Name: "n", Type: table.Type{Kind: table.SmallInt}}}, 0)
	for i, v := range []int64{math.MinInt64, math.MaxInt64, 0, 5, -5, 1 << 60, 17} {
		b.Column(0).Int(v)
		b.Column(1).Float([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 0, 1.5}[i])
		if i%3 == 0 {
			b.Column(2).Null()
		} else {
			b.Column(2).Int(int64(i))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	for _, sql := range []string{
		"SELECT COUNT(*) FROM t WHERE big > 5",
		"SELECT COUNT(*) FROM t WHERE big BETWEEN -9223372036854775808 AND 1_000 AND n IS NULL",
		"SELECT MEDIAN(n) FROM t WHERE x < 1e10",
		"SELECT COUNT(*) FROM t WHERE x > -0x10",
		"SELECT SUM(n) FROM t WHERE x = 1.5",
	} {
		d := open(t, tab, sql)
		d.point()
		for step := range d.Last() + 1 {
			d.goes(t, step)
		}
		for i := range d.Constants {
			d.Choose(i)
			for _, place := range []float64{0, 0.4, 1} {
				d.Set(place)
				d.draws(t)
				d.Linear = !d.Linear
			}
		}
	}
}

func TestSweepsGoDownAndUpAndBack(t *testing.T) {
	const n = 20
	list := sweepPlaces(0.5, n)
	least, most := list[0], list[0]
	for _, x := range list {
		least, most = min(least, x), max(most, x)
	}
	if len(list) != n || math.Abs(list[n-1]-0.5) > 1e-9 || least > 0.2 || most < 0.8 {
		t.Errorf("from 0.5 down to %v and up to %v: %v", least, most, list)
	}
}

func TestHeadlessStopsWhenItIsToldTo(t *testing.T) {
	d := open(t, flights(t, rows), cnf)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Headless(ctx, d, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Headless(context.Background(), d, filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("error %v", err)
	}
}
