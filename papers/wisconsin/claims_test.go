package wisconsin

import (
	"math"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/papers/lab"
)

// The best size of the join is that of the least time a tuple, of two sizes at least.
func TestBestSize(t *testing.T) {
	all := claims()
	at := slices.IndexFunc(all, func(c lab.Claim) bool { return c.What == "the join's best size" })
	none := math.NaN()
	for _, c := range []struct {
		ns   []float64
		want float64
	}{{[]float64{15, 5, 3, 4}, 100}, {[]float64{15, 5, 3, 2}, 1000}, {[]float64{none, 5, 6, none}, 10}, {[]float64{none, none, 6, 5}, 1000}, {[]float64{1, 5, 6, 7}, 1}} {
		if got := all[at].Here.Of(c.ns); got != c.want {
			t.Errorf("%v: %v, want %v", c.ns, got, c.want)
		}
	}
	for _, ns := range [][]float64{{none, none, none, 5}, {none, none, none, none}} {
		if got := all[at].Here.Of(ns); !math.IsNaN(got) {
			t.Errorf("%v: %v, want none", ns, got)
		}
	}
}
