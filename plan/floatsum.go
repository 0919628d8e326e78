package plan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrOverflow is the error of a finite exact sum that its type cannot hold.
var ErrOverflow = errors.New("value out of range: overflow")

const (
	limbBits = 32
	limbs    = 67 // 2098 bits of a double's range and room for 2^63 addends of the largest
	// unit is the weight of the accumulator's lowest bit: the smallest denormal.
	unit = -1074
	// An addend puts less than 2^52 + 2^32 into a limb, so this many fit after a
	// carry before an int64 could overflow.
	carryEvery = 1 << 10
)

// FloatSum is an exact sum of doubles: a fixed-point number wide enough for any
// addend, in units of 2^-1074. It is rounded once, when it is read, so the order
// of additions and merges never shows: any order gives the same bits.
//
// NaN wins over everything; +Infinity and -Infinity together are NaN, as
// PostgreSQL's addition has it; otherwise an infinity stays. The zero FloatSum
// is an empty sum, ready to use. It holds up to 2^63 addends. It is not safe for
// concurrent use: give each goroutine its own and [FloatSum.Merge] them.
//
// The layout is the "small superaccumulator" of R. Neal, Fast Exact Summation
// Using Small and Large Superaccumulators (2015): signed 64-bit limbs with weights
// 2^32 apart, so that carries need to be passed on only every 1024 additions.
type FloatSum struct {
	limb    [limbs]int64
	pending int // additions since the last carry
	nan     bool
	posInf  bool
	negInf  bool
}

// Add adds f.
func (s *FloatSum) Add(f float64) {
	b := math.Float64bits(f)
	e := b >> 52 & 0x7ff
	m := b & (1<<52 - 1)
	if e == 0x7ff {
		s.special(f)
		return
	}
	if e != 0 {
		m |= 1 << 52
		e--
	}
	// The mantissa's lowest bit has weight 2^(unit+e).
	shift := e & 31
	lo, hi := int64(m<<shift&(1<<32-1)), int64(m>>(32-shift))
	sign := int64(b) >> 63
	i := e >> 5
	s.limb[i] += (lo ^ sign) - sign
	s.limb[i+1] += (hi ^ sign) - sign
	if s.pending++; s.pending == carryEvery {
		s.carry()
	}
}

func (s *FloatSum) special(f float64) {
	s.nan = s.nan || math.IsNaN(f)
	s.posInf = s.posInf || math.IsInf(f, 1)
	s.negInf = s.negInf || math.IsInf(f, -1)
}

// carry brings every limb but the top one, which keeps the sign, into [0, 2^32):
// the one representation of the sum.
func (s *FloatSum) carry() {
	var c int64
	for i := range limbs - 1 {
		v := s.limb[i] + c
		c = v >> limbBits
		s.limb[i] = v & (1<<limbBits - 1)
	}
	s.limb[limbs-1] += c
	s.pending = 0
}

// Merge adds the sum o; o keeps its value.
func (s *FloatSum) Merge(o *FloatSum) {
	s.carry()
	c := *o
	c.carry()
	for i, v := range c.limb {
		s.limb[i] += v
	}
	s.carry()
	s.nan = s.nan || o.nan
	s.posInf = s.posInf || o.posInf
	s.negInf = s.negInf || o.negInf
}

// AddLimbs adds a sum that was accumulated elsewhere: limb i is in units of
// 2^(32*i - 1074), of any sign and at most 2^62. There may be at most 67 limbs.
func (s *FloatSum) AddLimbs(limb []int64) {
	s.carry()
	for i, v := range limb {
		s.limb[i] += v
	}
	s.carry()
}

// finite returns the exact sum in units of 2^-1074.
func (s *FloatSum) finite() *big.Int {
	s.carry()
	buf := make([]byte, 4*(limbs-1))
	for i := range limbs - 1 {
		binary.BigEndian.PutUint32(buf[4*(limbs-2-i):], uint32(s.limb[i]))
	}
	z := new(big.Int).SetBytes(buf)
	top := big.NewInt(s.limb[limbs-1])
	return z.Add(z, top.Lsh(top, (limbs-1)*limbBits))
}

// nonFinite returns the sum when it is NaN or an infinity.
func (s *FloatSum) nonFinite() (float64, bool) {
	switch {
	case s.nan || s.posInf && s.negInf:
		return math.NaN(), true
	case s.posInf:
		return math.Inf(1), true
	case s.negInf:
		return math.Inf(-1), true
	}
	return 0, false
}

// Float64 returns the sum rounded once to the nearest double, ties to even. A
// finite sum whose nearest double would be an infinity is [ErrOverflow].
func (s *FloatSum) Float64() (float64, error) {
	if f, ok := s.nonFinite(); ok {
		return f, nil
	}
	f, _ := s.float().Float64()
	return inRange(f)
}

// Float32 is [FloatSum.Float64] for REAL: rounded once, to the nearest float32.
func (s *FloatSum) Float32() (float32, error) {
	if f, ok := s.nonFinite(); ok {
		return float32(f), nil
	}
	f, _ := s.float().Float32()
	_, err := inRange(float64(f))
	return f, err
}

func inRange(f float64) (float64, error) {
	if math.IsInf(f, 0) {
		return 0, ErrOverflow
	}
	return f, nil
}

// float returns the finite sum without rounding it.
func (s *FloatSum) float() *big.Float {
	z := s.finite()
	f := new(big.Float).SetPrec(uint(max(z.BitLen(), 64))).SetInt(z)
	return f.SetMantExp(f, unit)
}

// Mean returns the exact sum divided by n, n > 0, rounded once to the nearest
// double, ties to even. A mean of doubles is never out of range, though their
// sum may be.
func (s *FloatSum) Mean(n uint64) (float64, error) {
	if f, ok := s.nonFinite(); ok {
		return f, nil
	}
	den := new(big.Int).SetUint64(n)
	f, _ := new(big.Rat).SetFrac(s.finite(), den.Lsh(den, -unit)).Float64()
	return inRange(f)
}

// The first byte of the binary form.
const (
	flagNaN = 1 << iota
	flagPosInf
	flagNegInf
	flagNegative
	flagsAll = 1<<iota - 1
)

// MarshalBinary writes the sum in its one form: a byte of flags, the number of
// trailing zero bytes of the magnitude as a varint, the magnitude's other bytes,
// most significant first. At most 275 bytes, about 10 for sums of small numbers;
// equal sums have equal bytes.
func (s *FloatSum) MarshalBinary() ([]byte, error) {
	var flags byte
	for i, set := range []bool{s.nan, s.posInf, s.negInf} {
		if set {
			flags |= 1 << i
		}
	}
	z := s.finite()
	if z.Sign() < 0 {
		flags |= flagNegative
	}
	zeros := z.TrailingZeroBits() / 8
	mag := z.Bytes() // of the absolute value
	out := binary.AppendUvarint([]byte{flags}, uint64(zeros))
	return append(out, mag[:len(mag)-int(zeros)]...), nil
}

// UnmarshalBinary replaces the sum by one that [FloatSum.MarshalBinary] wrote.
// Bytes that it could not have written are an error and leave the sum as it was.
func (s *FloatSum) UnmarshalBinary(data []byte) error {
	if len(data) < 2 || data[0]&^flagsAll != 0 {
		return fmt.Errorf("plan: float sum: bad header in %d bytes", len(data))
	}
	zeros, n := binary.Uvarint(data[1:])
	if n <= 0 || zeros > 4*limbs {
		return fmt.Errorf("plan: float sum: bad exponent in %d bytes", len(data))
	}
	mag := data[1+n:]
	// One bit of the top limb is the sign.
	if 8*(len(mag)+int(zeros)) > (limbs-1)*limbBits+56 {
		return fmt.Errorf("plan: float sum: %d bytes are too many", len(data))
	}
	var r FloatSum
	for i := range mag {
		bit := 8 * (int(zeros) + i)
		r.limb[min(bit/limbBits, limbs-1)] |= int64(mag[len(mag)-1-i]) << topShift(bit)
	}
	if data[0]&flagNegative != 0 {
		for i := range r.limb {
			r.limb[i] = -r.limb[i]
		}
	}
	r.carry()
	r.nan, r.posInf, r.negInf = data[0]&flagNaN != 0, data[0]&flagPosInf != 0, data[0]&flagNegInf != 0
	if again, _ := r.MarshalBinary(); !bytes.Equal(again, data) {
		return fmt.Errorf("plan: float sum: %d bytes are not in the one form of their sum", len(data))
	}
	*s = r
	return nil
}

// topShift places a bit in its limb; the top limb takes all bits above.
func topShift(bit int) int {
	return bit - min(bit/limbBits, limbs-1)*limbBits
}
