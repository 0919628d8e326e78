package partial

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/sqlstate"
)

// ErrOverflow is the error of a finite exact sum that its type cannot hold.
var ErrOverflow = sqlstate.Errorf(sqlstate.NumericOutOfRange, "value out of range: overflow")

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
// The layout is the "small superaccumulator" of R. Neal, Fast Exact Summation Using Small and Large
// Superaccumulators (2015). Its limbs are signed 64-bit integers with weights 2^32 apart, so that carries
// need to be passed on only every 1024 additions.
type FloatSum struct {
	limb    [limbs]int64
	pending int     // additions since the last carry
	special float64 // the sum of the NaNs and infinities; 0 for none
}

// Add adds f.
func (s *FloatSum) Add(f float64) {
	b := math.Float64bits(f)
	e := b >> 52 & 0x7ff
	m := b & (1<<52 - 1)
	if e == 0x7ff {
		s.special += f
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
	c := *o
	c.carry()
	s.AddLimbs(c.limb[:])
	s.special += c.special
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

// Float64 returns the sum rounded once to the nearest double, ties to even. A
// finite sum whose nearest double would be an infinity is [ErrOverflow].
func (s *FloatSum) Float64() (float64, error) { return s.Mean(1) }

// Special is the sum of the NaNs and infinities among what was added; 0 for none.
func (s *FloatSum) Special() float64 { return s.special }

// Float32 is [FloatSum.Float64] for REAL: rounded once, to the nearest float32.
func (s *FloatSum) Float32() (float32, error) {
	if s.special != 0 {
		return float32(s.special), nil
	}
	f, _ := s.over(1).Float32()
	_, err := inRange(float64(f))
	return f, err
}

// Mean returns the exact sum divided by n, n > 0, rounded once to the nearest
// double, ties to even. A mean of doubles is never out of range, though their
// sum may be.
func (s *FloatSum) Mean(n uint64) (float64, error) {
	if s.special != 0 {
		return s.special, nil
	}
	f, _ := s.over(n).Float64()
	return inRange(f)
}

// Rat is the exact sum of values that are neither NaN nor infinite.
func (s *FloatSum) Rat() *big.Rat { return s.over(1) }

// over is the exact sum divided by n.
func (s *FloatSum) over(n uint64) *big.Rat {
	sum, den := s.units(), new(big.Int).SetUint64(n)
	common := min(sum.TrailingZeroBits(), -unit) // short numbers, of which the greatest common divisor is soon found
	return new(big.Rat).SetFrac(sum.Rsh(sum, common), den.Lsh(den, -unit-common))
}

// units is the exact sum in units of 2^unit. Most sums take few of the limbs, those around the values' own.
func (s *FloatSum) units() *big.Int {
	low, top := 0, limbs-1
	for top > 0 && s.limb[top] == 0 {
		top--
	}
	for low < top && s.limb[low] == 0 {
		low++
	}
	sum, limb := big.NewInt(s.limb[top]), new(big.Int)
	for i := top - 1; i >= low; i-- {
		sum.Add(sum.Lsh(sum, limbBits), limb.SetInt64(s.limb[i]))
	}
	return sum.Lsh(sum, uint(low)*limbBits)
}

func inRange(f float64) (float64, error) {
	if math.IsInf(f, 0) {
		return 0, ErrOverflow
	}
	return f, nil
}
