package int128

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Sums of 192 bits hold what sums of integers of 128 bits and of squares of 64 bits may come to.
func TestSumsOfManyBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got Sum
		want := new(big.Int)
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			hi, lo := rapid.Int64().Draw(t, "hi"), rapid.Int64().Draw(t, "lo")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				got.AddInt(lo)
				want.Add(want, big.NewInt(lo))
			case 1:
				got.AddSquare(lo)
				want.Add(want, new(big.Int).Mul(big.NewInt(lo), big.NewInt(lo)))
			default:
				w := Int{Hi: hi, Lo: uint64(lo)}.Big()
				if back := Of(w); back != (Int{Hi: hi, Lo: uint64(lo)}) {
					t.Fatalf("%v comes back as %v", w, back)
				}
				got.AddInt128(hi, lo)
				want.Add(want, w)
			}
		}
		total := new(big.Int)
		if got.Into(total); total.Cmp(want) != 0 {
			t.Fatalf("%v, want %v", total, want)
		}
	})
}
