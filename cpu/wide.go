package cpu

import (
	"cmp"
	"math/big"
	"math/bits"
)

// wide is an integer of 128 bits.
type wide struct {
	hi int64
	lo uint64
}

// wideOf is an integer that fits 128 bits.
func wideOf(i *big.Int) wide {
	lo := new(big.Int).And(i, low64).Uint64()
	return wide{new(big.Int).Rsh(i, 64).Int64(), lo}
}

var low64 = new(big.Int).SetUint64(1<<64 - 1)

func (w wide) big() *big.Int {
	out := big.NewInt(w.hi)
	return out.Add(out.Lsh(out, 64), new(big.Int).SetUint64(w.lo))
}

func compareWide(a, b wide) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// sum is an integer of 192 bits, in two's complement: room for 2^63 integers of 128 bits, or
// squares of ones of 64.
type sum struct{ lo, mid, hi uint64 }

func (s *sum) add(lo, mid, hi uint64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, lo, 0)
	s.mid, c = bits.Add64(s.mid, mid, c)
	s.hi += hi + c
}

// addInt adds an integer of 64 bits.
func (s *sum) addInt(i int64) {
	sign := uint64(i >> 63)
	s.add(uint64(i), sign, sign)
}

// addWide adds one of 128 bits.
func (s *sum) addWide(hi, lo int64) { s.add(uint64(lo), uint64(hi), uint64(hi>>63)) }

// addSquare adds the square of an integer of 64 bits.
func (s *sum) addSquare(i int64) {
	u := uint64(i)
	if i < 0 {
		u = -u
	}
	mid, lo := bits.Mul64(u, u)
	s.add(lo, mid, 0)
}

// int64 is the sum where 64 bits hold it.
func (s *sum) int64() (i int64, ok bool) {
	sign := uint64(int64(s.lo) >> 63)
	return int64(s.lo), s.mid == sign && s.hi == sign
}

// into adds the sum to an integer.
func (s *sum) into(to *big.Int) {
	if i, ok := s.int64(); ok {
		to.Add(to, big.NewInt(i))
		return
	}
	i := big.NewInt(int64(s.hi))
	i.Or(i.Lsh(i, 64), new(big.Int).SetUint64(s.mid))
	to.Add(to, i.Or(i.Lsh(i, 64), new(big.Int).SetUint64(s.lo)))
}
