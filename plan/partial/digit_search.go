package partial

import (
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Digit is what the next step of a search for a code decides: Bits bits of it from bit Shift on. Lo is what
// is known of it, a multiple of 2^(Shift+Bits). The search is for the K-th largest of N values, so that a
// part may guess the next digits. N is 0 where it cannot, because a selection decides only this digit (see
// [Stream]).
type Digit struct {
	Lo          uint64
	Shift, Bits int
	K, N        uint64
}

// Thresholds are the codes of the space at which the digit becomes 1, 2, ...
func (d Digit) Thresholds(s *physical.CodeSpace) []uint64 {
	codes := make([]uint64, d.thresholds(s))
	for i := range codes {
		codes[i] = d.Lo + uint64(i+1)<<d.Shift
	}
	return codes
}

// thresholds is how many there are.
func (d Digit) thresholds(s *physical.CodeSpace) int {
	if d.Lo > s.Max() {
		return 0
	}
	return int(min(1<<d.Bits-1, (s.Max()-d.Lo)>>d.Shift))
}

// Reach turns a histogram into how many values reach each of the digit's thresholds. The histogram counts the values with
// each value of the digit; its last count is that of all values above these.
func (d Digit) Reach(s *physical.CodeSpace, counts []uint64) []uint64 {
	reach := make([]uint64, d.thresholds(s))
	n := counts[len(counts)-1]
	for v := len(counts) - 2; v > 0; v-- {
		if n += counts[v]; v <= len(reach) {
			reach[v-1] = n
		}
	}
	return reach
}

// DigitBits is the width of the digit below bit shift of a search whose digits have at most most bits. It is
// as small as it can be if all further digits have most bits. No digit has bits both below and above bit 32.
func DigitBits(shift, most int) int { return (shift-1)%32%most + 1 }

// KthLargest returns the largest of n values that at least k > 0 of them reach. count counts the values at or
// above each of a digit's thresholds (see [Selection]). The code is found digit by digit from the top, each
// of [DigitBits]. most says how many bits a digit has when so many values may still be the wanted one.
func KthLargest(s *physical.CodeSpace, k, n uint64, most func(left uint64) int, count func(Digit) ([]uint64, error)) (table.Value, error) {
	x := newDigitSearch(s, k, n)
	for x.shift > 0 {
		d := x.digit(most(x.left()))
		counts, err := count(d)
		if err != nil {
			return table.Value{}, err
		}
		x.decide(d, counts)
	}
	return s.Value(x.code), nil
}

// digitSearch is a search for the code of the k-th largest of some values of a space, digit by digit from the top.
type digitSearch struct {
	k, all   uint64
	code     uint64 // what is known of it: the bits from shift on
	shift    int    // 0 at the end
	n, above uint64 // values at or above the code, and those of them above all that it may become
}

// left is how many values may still be the one.
func (x *digitSearch) left() uint64 { return x.n - x.above }

// digit is the next one, of at most so many bits.
func (x *digitSearch) digit(most int) Digit {
	bits := DigitBits(x.shift, most)
	return Digit{x.code, x.shift - bits, bits, x.k, x.all}
}

// widest is the next digit of a search that goes over all values for each digit. The first digit has as many bits as
// it may, because few values are left for the later ones.
func (x *digitSearch) widest(most int) Digit {
	bits := min(most, (x.shift-1)%32+1)
	return Digit{Lo: x.code, Shift: x.shift - bits, Bits: bits}
}

// decide takes a digit from how many values reach each of its thresholds.
func (x *digitSearch) decide(d Digit, counts []uint64) {
	x.shift = d.Shift
	for _, reach := range counts {
		if reach < x.k {
			x.above = max(x.above, reach)
			continue
		}
		x.code += 1 << d.Shift
		x.n = reach
	}
}

func newDigitSearch(s *physical.CodeSpace, k, n uint64) *digitSearch {
	return &digitSearch{k: k, all: n, n: n, shift: s.Bits()}
}
