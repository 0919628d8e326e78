package hsu

import (
	"context"
	"math"
)

// Turn is where the faster of two sides changes, over the number of records that a statement selects.
type Turn struct {
	// Q is the turning point; 0 where there is none.
	Q float64
	// Ahead says that the first side is ahead from Q on, and where there is no turning point, everywhere. Else it is so up to Q, or nowhere.
	Ahead bool
}

// Steps of a bisection: the factor from one q to the next at first, and the one that is near enough.
const (
	stride   = 4
	nearness = 1.1
)

// places are the numbers of records at which two sides are compared first: 1, 4, 16, ... and n.
func places(n int) (list []int) {
	for q := 1; q < n; q *= stride {
		list = append(list, q)
	}
	return append(list, n)
}

// Bisect finds the turning point among 1..n, from which on one side is always ahead. behind is how much longer the first side takes for q
// records than the other one. It is known at some places, the first and the last among them.
func Bisect(ctx context.Context, at []int, known []float64, behind func(ctx context.Context, q int) (float64, error)) (Turn, error) {
	turned := len(known) - 1
	for turned > 0 && known[turned-1] > 0 == (known[len(known)-1] > 0) {
		turned--
	}
	if turned == 0 {
		return Turn{Ahead: known[0] <= 0}, nil
	}
	lo, hi, before, after := at[turned-1], at[turned], known[turned-1], known[turned]
	for hi-lo > 1 && float64(hi) > nearness*float64(lo) {
		q := min(hi-1, max(lo+1, int(math.Sqrt(float64(lo)*float64(hi)))))
		d, err := behind(ctx, q)
		if err != nil {
			return Turn{}, err
		}
		if d > 0 == (before > 0) {
			lo, before = q, d
		} else {
			hi, after = q, d
		}
	}
	share := before / (before - after) // of the way from lo to hi
	return Turn{float64(lo) * math.Pow(float64(hi)/float64(lo), share), after <= 0}, nil
}

// slope is that of a line through points, by least squares; ok is false with fewer than two.
func slope(x, y []float64) (b float64, ok bool) {
	if len(x) < 2 {
		return 0, false
	}
	var mx, my, xy, xx float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(y))
	}
	for i := range x {
		xy, xx = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx)
	}
	return xy / xx, xx > 0
}
