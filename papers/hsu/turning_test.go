package hsu

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
)

// The turning point of a constant time and a linear one is where they cross, to a few per cent. It is not looked for where one side is
// ahead everywhere.
func TestBisect(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		behind func(q float64) float64
		want   Turn
	}{
		"crosses":        {500_000, func(q float64) float64 { return 5 - 0.001*q }, Turn{5000, true}},
		"near the end":   {1000, func(q float64) float64 { return 990.5 - q }, Turn{990.5, true}},
		"near the start": {1000, func(q float64) float64 { return 1.5 - q }, Turn{1.5, true}},
		"the other way":  {500_000, func(q float64) float64 { return 0.001*q - 5 }, Turn{5000, false}},
		"ahead":          {500_000, func(float64) float64 { return -1 }, Turn{0, true}},
		"behind":         {500_000, func(float64) float64 { return 1 }, Turn{0, false}},
		"one record":     {1, func(float64) float64 { return 1 }, Turn{0, false}},
		"of two records": {2, func(q float64) float64 { return 1.25 - q }, Turn{1.25, true}},
		"square root":    {100_000, func(q float64) float64 { return 20 - math.Sqrt(q) }, Turn{400, true}},
		"ahead once before": {1024, func(q float64) float64 {
			if q == 4 {
				return -1
			}
			return 100 - q
		}, Turn{100, true}},
		"ties are not lost": {64, func(q float64) float64 { return max(0, 10-q) }, Turn{10, true}},
	} {
		var asked []int
		behind := func(_ context.Context, q int) (float64, error) {
			asked = append(asked, q)
			return c.behind(float64(q)), nil
		}
		at := places(c.n)
		var known []float64
		for _, q := range at {
			known = append(known, c.behind(float64(q)))
		}
		got, err := Bisect(t.Context(), at, known, behind)
		if err != nil || got.Ahead != c.want.Ahead || math.Abs(got.Q-c.want.Q) > 0.08*c.want.Q+0.5 || (got.Q == 0) != (c.want.Q == 0) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
		if len(asked) > 5 || slices.ContainsFunc(asked, func(q int) bool { return slices.Contains(at, q) || q < 1 || q > c.n }) {
			t.Errorf("%s: asked at %v", name, asked)
		}
	}
	wrong := errors.New("wrong")
	if _, err := Bisect(t.Context(), []int{1, 4}, []float64{1, -1}, func(context.Context, int) (float64, error) { return 0, wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if got := places(17); !slices.Equal(got, []int{1, 4, 16, 17}) {
		t.Error(got)
	}
}

// The slope of a line is its own, and of one point there is none.
func TestSlope(t *testing.T) {
	if b, ok := slope([]float64{100, 200, 300}, []float64{5, 7, 9}); !ok || math.Abs(b-0.02) > 1e-12 {
		t.Error(b, ok)
	}
	if b, ok := slope([]float64{0, 1, 2, 3}, []float64{1, 0, 1, 0}); !ok || math.Abs(b+0.2) > 1e-12 {
		t.Error(b, ok)
	}
	if _, ok := slope([]float64{1}, []float64{1}); ok {
		t.Error("a slope of one point")
	}
}

// A crossing is between two places; it is none where a side is ahead everywhere.
func TestCrossing(t *testing.T) {
	v, qs := crossing(gpu, SQLiteIndex), queried(false)
	of := func(theirs func(q int) float64) float64 {
		list := make([]float64, 2*len(qs))
		for i, q := range qs {
			list[i], list[len(qs)+i] = 2, theirs(q)
			if i%2 == 1 { // not measured
				list[i] = math.NaN()
			}
		}
		return v.Of(list)
	}
	if got := of(func(q int) float64 { return float64(q) / 850 }); math.Abs(got-1700) > 1e-9 {
		t.Error(got)
	}
	if ahead, behind := of(func(int) float64 { return 3 }), of(func(int) float64 { return 1 }); ahead != 0 || behind != 100_000 {
		t.Error(ahead, behind)
	}
	none := make([]float64, 2*len(qs))
	for i := range none {
		none[i] = math.NaN()
	}
	if got := v.Of(none); !math.IsNaN(got) {
		t.Error(got)
	}
}

// A share says on which side of it SQLite is behind, or that it is so everywhere or nowhere.
func TestShares(t *testing.T) {
	none, v := math.NaN(), share(Select, gpu, SQLiteIndex)
	for want, values := range map[string][]float64{"1.926": {1.926, none, none, none}, "ahead up to 0.5": {none, 0.5, none, none}, "ahead everywhere": {none, none, 1, none}, "behind everywhere": {none, none, none, 1}} {
		if got := writeShare(v.Of(values)); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
	if !math.IsNaN(v.Of([]float64{none, none, none, none})) {
		t.Error("a share of nothing")
	}
}
