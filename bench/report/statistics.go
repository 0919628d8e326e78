package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Quantile returns the value below which the fraction p of the values lies,
// interpolated between neighbours; NaN of none.
func Quantile(values []float64, p float64) float64 {
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

// Percentiles returns the 5th and 95th percentile; 0, 0 of fewer than [MinRounds] values.
func Percentiles(values []float64) (p5, p95 float64) {
	if len(values) < MinRounds {
		return 0, 0
	}
	return Rounded(Quantile(values, 0.05)), Rounded(Quantile(values, 0.95))
}

func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Rounded is x with five significant digits: timers are not as good as that.
func Rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64) // reads what was written
	return y
}

// resamples is the number of bootstrap samples of an interval.
const resamples = 500

// MinRounds is the number of times from which their spread says something.
const MinRounds = 5

// RatioInterval returns the interval of median(b) / median(a) of two independent samples.
func RatioInterval(a, b []float64) (lo, hi float64) {
	return Interval([][]float64{a, b}, func(m []float64) float64 { return m[1] / m[0] })
}

// Interval returns the 95 % bootstrap interval of what f makes of the medians of independent
// samples (Efron, "Bootstrap methods: another look at the jackknife", 1979). The same samples
// give the same interval; a sample of fewer than [MinRounds] times gives none: 0, 0.
func Interval(samples [][]float64, f func(medians []float64) float64) (lo, hi float64) {
	seed := [2]uint64{}
	for i, s := range samples {
		if len(s) < MinRounds {
			return 0, 0
		}
		seed[i%2] += uint64(len(s))
	}
	random := rand.New(rand.NewPCG(seed[0], seed[1]))
	values, medians := make([]float64, resamples), make([]float64, len(samples))
	for i := range values {
		for j, from := range samples {
			sample := make([]float64, len(from))
			for k := range sample {
				sample[k] = from[random.IntN(len(from))]
			}
			medians[j] = Median(sample)
		}
		values[i] = f(medians)
	}
	return Quantile(values, 0.025), Quantile(values, 0.975)
}

// Nearest is the size that is nearest to another one, by its ratio.
func Nearest(sizes []int, to int) int {
	away := func(rows int) float64 { return math.Abs(math.Log(float64(rows) / float64(to))) }
	return slices.MinFunc(sizes, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
}
