package int128

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Int is an integer of 128 bits.
type Int struct {
	Hi int64
	Lo uint64
}

// Of is an integer that fits 128 bits.
func Of(i *big.Int) Int {
	lo := new(big.Int).And(i, low64).Uint64()
	return Int{new(big.Int).Rsh(i, 64).Int64(), lo}
}

var low64 = new(big.Int).SetUint64(1<<64 - 1)

// Big is the integer without a limit of bits.
func (w Int) Big() *big.Int {
	out := big.NewInt(w.Hi)
	return out.Add(out.Lsh(out, 64), new(big.Int).SetUint64(w.Lo))
}

// Compare is negative, zero or positive, as a is smaller than b, equal or larger.
func Compare(a, b Int) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// Sum is an integer of 192 bits, in two's complement: room for 2^63 integers of 128 bits, or
// squares of ones of 64.
type Sum struct{ Lo, Mid, Hi uint64 }

// Add adds an integer of 192 bits, word by word.
func (s *Sum) Add(lo, mid, hi uint64) {
	var c uint64
	s.Lo, c = bits.Add64(s.Lo, lo, 0)
	s.Mid, c = bits.Add64(s.Mid, mid, c)
	s.Hi += hi + c
}

// AddInt adds an integer of 64 bits.
func (s *Sum) AddInt(i int64) {
	sign := uint64(i >> 63)
	s.Add(uint64(i), sign, sign)
}

// AddInt128 adds one of 128 bits.
func (s *Sum) AddInt128(hi, lo int64) { s.Add(uint64(lo), uint64(hi), uint64(hi>>63)) }

// AddSquare adds the square of an integer of 64 bits.
func (s *Sum) AddSquare(i int64) {
	u := uint64(i)
	if i < 0 {
		u = -u
	}
	mid, lo := bits.Mul64(u, u)
	s.Add(lo, mid, 0)
}

// Int64 is the sum where 64 bits hold it.
func (s *Sum) Int64() (i int64, ok bool) {
	sign := uint64(int64(s.Lo) >> 63)
	return int64(s.Lo), s.Mid == sign && s.Hi == sign
}

// Into adds the sum to an integer.
func (s *Sum) Into(to *big.Int) {
	if i, ok := s.Int64(); ok {
		to.Add(to, big.NewInt(i))
		return
	}
	i := big.NewInt(int64(s.Hi))
	i.Or(i.Lsh(i, 64), new(big.Int).SetUint64(s.Mid))
	to.Add(to, i.Or(i.Lsh(i, 64), new(big.Int).SetUint64(s.Lo)))
}

// Minus is the difference of two sums.
func (s Sum) Minus(o Sum) Sum {
	var b uint64
	s.Lo, b = bits.Sub64(s.Lo, o.Lo, 0)
	s.Mid, b = bits.Sub64(s.Mid, o.Mid, b)
	s.Hi, _ = bits.Sub64(s.Hi, o.Hi, b)
	return s
}
