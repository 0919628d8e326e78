package partial

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// exactSum adds finite doubles without rounding.
func exactSum(fs []float64) *big.Float {
	z := new(big.Float).SetPrec(4096)
	for _, f := range fs {
		z.Add(z, new(big.Float).SetFloat64(f))
	}
	return z
}

func floatSumOf(fs ...float64) *FloatSum {
	s := new(FloatSum)
	for _, f := range fs {
		s.Add(f)
	}
	return s
}

func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestFloatSumCases(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	const tiny, huge = math.SmallestNonzeroFloat64, math.MaxFloat64
	cases := []struct {
		name string
		in   []float64
		want float64
		err  error
	}{
		{"nothing", nil, 0, nil},
		{"zero", []float64{0}, 0, nil},
		{"minus zero is zero", []float64{math.Copysign(0, -1)}, 0, nil},
		{"one", []float64{1}, 1, nil},
		{"minus one", []float64{-1}, -1, nil},
		{"cancels to what was lost", []float64{1e16, 1, -1e16}, 1, nil},
		{"huge cancels", []float64{huge, tiny, -huge}, tiny, nil},
		{"twice huge and back", []float64{huge, huge, -huge}, huge, nil},
		{"too large", []float64{huge, huge}, 0, ErrOverflow},
		{"too small", []float64{-huge, -huge}, 0, ErrOverflow},
		{"less than half an ulp above the largest", []float64{huge, 0x1p969}, huge, nil},
		{"half an ulp above the largest rounds to even, beyond", []float64{huge, 0x1p970}, 0, ErrOverflow},
		{"just below half an ulp above the largest", []float64{huge, 0x1p970, -tiny}, huge, nil},
		{"denormals", []float64{tiny, tiny, -3 * tiny}, -tiny, nil},
		{"smallest normal from two denormals", []float64{0x1p-1023, 0x1p-1023}, 0x1p-1022, nil},
		{"a tie rounds to even, down", []float64{1, 0x1p-53}, 1, nil},
		{"a tie rounds to even, up", []float64{1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51, nil},
		{"a tie broken from afar", []float64{1, 0x1p-53, tiny}, 1 + 0x1p-52, nil},
		{"a tie broken from below", []float64{1 + 0x1p-52, 0x1p-53, -tiny}, 1 + 0x1p-52, nil},
		{"infinity", []float64{1, inf, huge, huge}, inf, nil},
		{"minus infinity", []float64{-inf, 1}, -inf, nil},
		{"both infinities", []float64{inf, -inf}, nan, nil},
		{"NaN wins", []float64{inf, nan, 1}, nan, nil},
	}
	for _, c := range cases {
		got, err := floatSumOf(c.in...).Float64()
		if !errors.Is(err, c.err) || !sameFloat(got, c.want) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, err, c.want, c.err)
		}
	}
}

func TestFloatSumToReal(t *testing.T) {
	cases := []struct {
		in   []float64
		want float32
		err  error
	}{
		{[]float64{1, 0x1p-24}, 1, nil},
		// Through a double first this would tie and round down.
		{[]float64{1, 0x1p-24, 0x1p-90}, 1 + 0x1p-23, nil},
		{[]float64{math.MaxFloat32, math.MaxFloat32}, 0, ErrOverflow},
		{[]float64{math.MaxFloat32, math.MaxFloat32, -math.MaxFloat32}, math.MaxFloat32, nil},
		{[]float64{math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32}, 2 * math.SmallestNonzeroFloat32, nil},
		{[]float64{math.Inf(-1), 1}, float32(math.Inf(-1)), nil},
	}
	for _, c := range cases {
		got, err := floatSumOf(c.in...).Float32()
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("sum of %v as REAL: %v, %v, want %v, %v", c.in, got, err, c.want, c.err)
		}
	}
	if got, err := floatSumOf(math.NaN(), 1).Float32(); err != nil || got == got {
		t.Errorf("sum with a NaN as REAL: %v, %v", got, err)
	}
}

func TestFloatSumMean(t *testing.T) {
	huge := math.MaxFloat64
	cases := []struct {
		in   []float64
		want float64
	}{
		{[]float64{huge, huge}, huge},
		{[]float64{1, 2}, 1.5},
		{[]float64{0, 0, 1}, 1.0 / 3},
		{[]float64{math.SmallestNonzeroFloat64, 0}, 0},
		{[]float64{math.SmallestNonzeroFloat64, 2 * math.SmallestNonzeroFloat64}, 2 * math.SmallestNonzeroFloat64},
		{[]float64{-huge, huge, 3}, 1},
	}
	for _, c := range cases {
		if got, err := floatSumOf(c.in...).Mean(uint64(len(c.in))); err != nil || got != c.want {
			t.Errorf("mean of %v: %v, %v, want %v", c.in, got, err, c.want)
		}
	}
}

// anyFloats draws finite doubles that make a sum hard: of every exponent, exact
// opposites, neighbours.
func anyFloats(t *rapid.T) []float64 {
	var fs []float64
	for range rapid.IntRange(0, 60).Draw(t, "n") {
		f := rapid.Float64().Draw(t, "f")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			f = math.Ldexp(rapid.Float64Range(-2, 2).Draw(t, "mantissa"), rapid.IntRange(-1074, 1023).Draw(t, "exponent"))
		case 1:
			if len(fs) > 0 {
				f = -fs[rapid.IntRange(0, len(fs)-1).Draw(t, "opposite")]
			}
		case 2:
			if len(fs) > 0 {
				f = math.Nextafter(-fs[len(fs)-1], 0)
			}
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			f = math.MaxFloat64
		}
		fs = append(fs, f)
	}
	return fs
}

func TestFloatSumIsTheExactSumRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := anyFloats(t)
		s, exact := floatSumOf(fs...), exactSum(fs)
		want, _ := exact.Float64()
		got, err := s.Float64()
		if math.IsInf(want, 0) {
			if !errors.Is(err, ErrOverflow) {
				t.Fatalf("%v, %v for a sum of %v", got, err, exact)
			}
		} else if err != nil || !sameFloat(got, want+0) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		want32, _ := exact.Float32()
		if got, err := s.Float32(); !math.IsInf(float64(want32), 0) && (err != nil || got != want32) {
			t.Fatalf("as REAL %v, %v, want %v", got, err, want32)
		}
		if n := uint64(len(fs)); n > 0 {
			rat, _ := exact.Rat(nil)
			mean, _ := rat.Quo(rat, new(big.Rat).SetInt64(int64(n))).Float64()
			if got, err := s.Mean(n); err != nil || got != mean {
				t.Fatalf("mean %v, %v, want %v", got, err, mean)
			}
		}
	})
}

func TestFloatSumOfManyAddends(t *testing.T) {
	// More than fit between two carries, all into the same limbs.
	for _, f := range []float64{math.MaxFloat64 / 1e6, -math.MaxFloat64 / 1e6, math.Nextafter(1, 2), -0x1.fffffffffffffp-1000} {
		const n = 100_000
		var s FloatSum
		for range n {
			s.Add(f)
		}
		want, _ := new(big.Float).SetPrec(200).Mul(big.NewFloat(f), big.NewFloat(n)).Float64()
		if got, err := s.Float64(); err != nil || got != want {
			t.Errorf("%v added %d times: %v, %v, want %v", f, n, got, err, want)
		}
	}
}

func TestFloatSumMergesInAnyOrderToTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := anyFloats(t)
		if rapid.Bool().Draw(t, "special") {
			fs = append(fs, rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "which"))
		}
		var want FloatSum
		want.Merge(floatSumOf(fs...))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		rng.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
		parts := make([]FloatSum, rapid.IntRange(1, 5).Draw(t, "parts"))
		for _, f := range fs {
			parts[rng.IntN(len(parts))].Add(f)
		}
		var all FloatSum
		for _, i := range rng.Perm(len(parts)) {
			all.Merge(&parts[i])
		}
		if all.limb != want.limb || !sameFloat(all.special, want.special) {
			t.Fatalf("%v in parts, %v at once", all, want)
		}
	})
}

func BenchmarkFloatSumAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	fs := make([]float64, 1<<16)
	for i := range fs {
		fs[i] = rng.NormFloat64() * 1e3
	}
	var s FloatSum
	for b.Loop() {
		for _, f := range fs {
			s.Add(f)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(fs))/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
