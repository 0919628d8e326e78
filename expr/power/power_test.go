package power

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Powers are within 0.52 units in their last place, and exact where a double is.
func TestPower(t *testing.T) {
	for x := int64(-20); x <= 20; x++ {
		for y := range int64(40) {
			exact := new(big.Int).Exp(big.NewInt(x), big.NewInt(y), nil)
			if want, accuracy := new(big.Float).SetInt(exact).Float64(); accuracy == big.Exact {
				if got := Pow(float64(x), float64(y)); got != want {
					t.Errorf("%d to the power of %d: %v, want %v", x, y, got, want)
				}
			}
		}
	}
	for _, c := range []struct{ x, y, want float64 }{
		{4, 0.5, 2}, {2, -3, 0.125}, {-2, -3, -0.125}, {1, 1e300, 1}, {5, 0, 1}, {0, 0, 1}, {0, 3, 0}, {2, 1024, math.Inf(1)}, {2, -1074, 5e-324}, {math.Inf(1), 2, math.Inf(1)}, {math.Inf(-1), 3, math.Inf(-1)},
		{2, 1023, 0x1p1023}, {0x1p-1022, 1, 0x1p-1022}, {-1, 1 << 53, 1}, {5e-324, 1, 5e-324}, {10, 22, 1e22}, {0.5, math.Inf(1), 0},
	} {
		if got := Pow(c.x, c.y); got != c.want {
			t.Errorf("%v to the power of %v: %v, want %v", c.x, c.y, got, c.want)
		}
	}
	for _, c := range [][2]float64{{-2, 0.5}, {math.NaN(), 1}, {2, math.NaN()}} {
		if got := Pow(c[0], c[1]); got == got {
			t.Errorf("%v to the power of %v: %v, want NaN", c[0], c[1], got)
		}
	}
	ln2 := preciseLog(preciseNumber(2))
	precise := func(x, y float64) *big.Float { // by numbers of 160 bits
		fraction, exponent := math.Frexp(x)
		log := new(big.Float).Add(preciseLog(preciseNumber(fraction)), new(big.Float).Mul(preciseNumber(float64(exponent)), ln2))
		log.Mul(log, preciseNumber(y))
		f, _ := log.Float64()
		n := math.Floor(f / math.Ln2)
		rest := log.Sub(log, new(big.Float).Mul(preciseNumber(n), ln2))
		return new(big.Float).SetMantExp(preciseExp(rest), int(n))
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(0.5, 2), rapid.Float64Range(0.98, 1.02), rapid.Float64Range(1e-300, 1e300), rapid.Float64Range(0, 1000)).Draw(t, "x")
		y := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-690, 690).Filter(func(f float64) bool { return f != 0 })).Draw(t, "y")
		if x < 1e-300 {
			return
		}
		if rapid.Bool().Draw(t, "large") {
			y = y / math.Log(x)
		}
		if l := math.Abs(y * math.Log(x)); !(l < 699) {
			return
		}
		got := Pow(x, y)
		want := precise(x, y)
		unit := math.Nextafter(got, math.Inf(1)) - got
		off, _ := new(big.Float).Quo(new(big.Float).Sub(preciseNumber(got), want), preciseNumber(unit)).Float64()
		if math.Abs(off) > 0.52 {
			t.Fatalf("%v to the power of %v: %v, %v units off", x, y, got, off)
		}
	})
}

func BenchmarkPower(b *testing.B) {
	s := 0.0
	for i := range b.N {
		s += Pow(float64(i%1000)+0.5, float64(i%17)/8-1)
	}
	if s < 0 {
		b.Fatal(s)
	}
}
