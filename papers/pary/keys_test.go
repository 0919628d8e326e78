package pary

import (
	"math"
	"testing"
)

// The largest random number of a span gives a string below that of the next span's smallest, and all are within the alphabet.
func TestKeysAtTheEndsOfSpans(t *testing.T) {
	const top = 1<<upperBits - 1
	for _, n := range []uint64{1, 2, 3, 1000, 36_000_000} {
		for _, i := range []uint64{0, 1, n / 2, n - 2} {
			if i >= n-1 {
				continue
			}
			next := keyAt(i+1, n, 0, 0)
			for _, r := range [][2]uint64{{top, math.MaxUint64}, {top, math.MaxUint64 - n}, {top, math.MaxUint64 - n + 1}, {top - 1, math.MaxUint64}, {0, math.MaxUint64}} {
				if k := keyAt(i, n, r[0], r[1]); k.Compare(next) >= 0 {
					t.Errorf("key %d of %d with %x is %q, the next one may be %q", i, n, r, k, next)
				}
			}
			if a, b := keyAt(i, n, top-1, math.MaxUint64), keyAt(i, n, top, 0); n == 2 && a.Compare(b) > 0 {
				t.Errorf("%q, and then %q", a, b)
			}
		}
	}
	if k := keyAt(0, 1, 0, 0); k.String() != "---------------\x00" {
		t.Errorf("the smallest string is %q", k)
	}
	if k := keyAt(0, 1, 0, 63); k.String() != "--------------z\x00" {
		t.Errorf("string 63 is %q", k)
	}
	if k := keyAt(0, 1, 0, 64); k.String() != "-------------0-\x00" {
		t.Errorf("string 64 is %q", k)
	}
}
