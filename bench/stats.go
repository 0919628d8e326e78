package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// quantile returns the value below which the fraction p of the values lies,
// interpolated between neighbours; NaN of none.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// spreadOf returns the 5th and 95th percentile; 0, 0 of fewer than [fewest] values.
func spreadOf(values []float64) (p5, p95 float64) {
	if len(values) < fewest {
		return 0, 0
	}
	return rounded(quantile(values, 0.05)), rounded(quantile(values, 0.95))
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// rounded is x with five significant digits: timers are not as good as that.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64) // reads what was written
	return y
}

// resamples is the number of bootstrap samples of an interval.
const resamples = 500

// fewest is the number of times from which their spread says something.
const fewest = 5

// ratioInterval returns the 95 % bootstrap interval of median(b) / median(a) of two
// independent samples (Efron, "Bootstrap methods: another look at the jackknife",
// 1979). The same samples give the same interval; a sample of fewer than [fewest]
// times gives none: 0, 0.
func ratioInterval(a, b []float64) (lo, hi float64) {
	if min(len(a), len(b)) < fewest {
		return 0, 0
	}
	random := rand.New(rand.NewPCG(uint64(len(a)), uint64(len(b))))
	draw := func(from []float64) float64 {
		sample := make([]float64, len(from))
		for i := range sample {
			sample[i] = from[random.IntN(len(from))]
		}
		return median(sample)
	}
	ratios := make([]float64, resamples)
	for i := range ratios {
		ratios[i] = draw(b) / draw(a)
	}
	return quantile(ratios, 0.025), quantile(ratios, 0.975)
}
