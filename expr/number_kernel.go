package expr

import (
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// Loops of numbers, which neither call a function nor branch a value.

func absFloats(ys, xs []float64) {
	for i, x := range xs {
		ys[i] = math.Abs(x)
	}
}

func ceilFloats(ys, xs []float64) {
	for i, x := range xs {
		ys[i] = math.Ceil(x)
	}
}

func floorFloats(ys, xs []float64) {
	for i, x := range xs {
		ys[i] = math.Floor(x)
	}
}

func evenFloats(ys, xs []float64) {
	for i, x := range xs {
		ys[i] = math.RoundToEven(x)
	}
}

func truncFloats(ys, xs []float64) {
	for i, x := range xs {
		ys[i] = math.Trunc(x)
	}
}

func signFloats(ys, xs []float64) {
	for i, x := range xs {
		ys[i] = float64(truth(x > 0) - truth(x < 0))
	}
}

func sqrtFloats(ys, xs []float64) (ok bool) {
	ok = true
	for i, x := range xs {
		ys[i] = math.Sqrt(x)
		ok = ok && x >= 0
	}
	return ok
}

// degreesOf and radiansOf are ok where all results are finite, and none is 0.
func degreesOf(ys, xs []float64) (ok bool) {
	ok = true
	for i, x := range xs {
		y := x / radian
		ok = ok && y-y == 0 && y != 0
		ys[i] = y
	}
	return ok
}

func radiansOf(ys, xs []float64) (ok bool) {
	ok = true
	for i, x := range xs {
		y := x * radian
		ok = ok && y-y == 0 && y != 0
		ys[i] = y
	}
	return ok
}

func signInts(ys, xs []int64) {
	for i, x := range xs {
		ys[i] = x>>63 | int64(uint64(-x)>>63)
	}
}

// absInts is not ok of the smallest integer.
func absInts(ys, xs []int64) (ok bool) {
	all := int64(0)
	for i, x := range xs {
		y := (x ^ x>>63) - x>>63
		all |= y
		ys[i] = y
	}
	return all >= 0
}

func notInts(ys, xs []int64) {
	for i, x := range xs {
		ys[i] = ^x
	}
}

func andInts(ys, as, bs []int64) {
	for i, a := range as {
		ys[i] = a & bs[i]
	}
}

func orInts(ys, as, bs []int64) {
	for i, a := range as {
		ys[i] = a | bs[i]
	}
}

func xorInts(ys, as, bs []int64) {
	for i, a := range as {
		ys[i] = a ^ bs[i]
	}
}

// shiftInts shifts BIGINTs, to the left or to the right.
func shiftInts(left bool) func(ys, xs, by []int64) {
	if left {
		return func(ys, xs, by []int64) {
			for i, x := range xs {
				ys[i] = x << uint(by[i]&63)
			}
		}
	}
	return func(ys, xs, by []int64) {
		for i, x := range xs {
			ys[i] = x >> uint(by[i]&63)
		}
	}
}

// divider divides integers from 0 to 2^63 - 1 by one of them by a multiplication (Granlund and Montgomery, 1994).
type divider struct {
	magic uint64
	shift uint
}

// dividerBy is one of a divisor above 1. With 2^shift < d < 2^(shift+1) magic is 2^(64+shift)/d rounded up, whose error is too small to
// be seen in a dividend of 63 bits.
func dividerBy(d uint64) divider {
	shift := uint(bits.Len64(d) - 1)
	if d == 1<<shift {
		return divider{1 << 63, shift - 1}
	}
	magic, _ := bits.Div64(1<<shift, 0, d)
	return divider{magic + 1, shift}
}

func (d divider) of(x uint64) uint64 {
	hi, _ := bits.Mul64(x, d.magic)
	return hi >> (d.shift & 63)
}

// rounding is a way to make whole numbers.
type rounding uint8

const (
	upward rounding = iota
	downward
	halfAway // from zero
	toZero
)

// divide is integers divided by unit, a power of ten above 1, and rounded. It is not ok where some are so large that a step of it may not fit.
func (r rounding) divide(unit int64) func(ys, xs []int64) (ok bool) {
	d := dividerBy(uint64(unit))
	bias := uint64(1<<61/unit) * uint64(unit) // makes what is below 0 positive
	shift := int64(bias / uint64(unit))
	if r == upward {
		bias += uint64(unit) - 1
	}
	half := uint64(0)
	if r == halfAway {
		half = uint64(unit / 2)
	}
	return func(ys, xs []int64) bool {
		if widest(xs) >= 1<<60 {
			return false
		}
		if r == upward || r == downward {
			for i, x := range xs {
				ys[i] = int64(d.of(uint64(x)+bias)) - shift
			}
			return true
		}
		for i, x := range xs {
			below := x >> 63
			ys[i] = int64(d.of(uint64((x^below)-below)+half)) ^ below - below
		}
		return true
	}
}

// dividing is [rounding.divide] whose values an integer type has to hold.
func (r rounding) dividing(unit int64, to table.Type) func(ys, xs []int64) (ok bool) {
	divide := r.divide(unit)
	return func(ys, xs []int64) bool { return divide(ys, xs) && (&Vector{Ints: ys}).within(to) }
}

// multiplied is integers times a power of ten. It is not ok where one may not fit, or passes most.
func multiplied(unit, most int64) func(ys, xs []int64) (ok bool) {
	return func(ys, xs []int64) bool {
		if bits.Len64(widest(xs))+bits.Len64(uint64(unit)) > 63 {
			return false
		}
		for i, x := range xs {
			ys[i] = x * unit
		}
		return nearerThan(ys, most)
	}
}

// nearerThan reports that no integer is as far from 0 as most is, the largest of a type, unless that is the largest of all.
func nearerThan(list []int64, most int64) bool {
	return most == math.MaxInt64 || widest(list) < uint64(most)
}

// copied is integers that a type has to hold.
func copied(to table.Type) func(ys, xs []int64) (ok bool) {
	return func(ys, xs []int64) bool {
		copy(ys, xs)
		return !to.IsInteger() || (&Vector{Ints: ys}).within(to)
	}
}

// toWhole is doubles rounded to an integer type, halves to the even one.
func toWhole(to table.Type) func(ys []int64, xs []float64) (ok bool) {
	lo, hi := to.Limits()
	least, most := float64(lo), float64(hi) // of BIGINT, whose largest is no double, the number above it
	return func(ys []int64, xs []float64) bool {
		ok := true
		for i, x := range xs {
			f := math.RoundToEven(x)
			ok = ok && f >= least && f < most
			ys[i] = int64(f)
		}
		return ok
	}
}

// quotientsBy is integers as doubles, divided by a power of ten that is one.
func quotientsBy(unit float64) func(ys []float64, xs []int64) (ok bool) {
	return func(ys []float64, xs []int64) bool {
		if unit == 1 {
			for i, x := range xs {
				ys[i] = float64(x)
			}
			return true
		}
		if widest(xs) > 1<<53-1 {
			return false
		}
		for i, x := range xs {
			ys[i] = float64(x) / unit
		}
		return true
	}
}

// radian is a degree, as PostgreSQL has it.
const radian = 0.0174532925199432957692

// integers computes x op y, of a type.
func (x Vector) integers(op ArithOp, y Vector, t table.Type) (out Vector, ok bool) {
	out = Vector{Ints: x.arena.Ints(len(x.Ints)), Valid: Both(x.Valid, y.Valid), arena: x.arena}
	a, b, to, wrong := x.Ints, y.Ints[:len(x.Ints)], out.Ints, int64(0)
	switch op {
	case Add:
		for i, l := range a {
			s := l + b[i]
			wrong |= (l ^ s) & (b[i] ^ s)
			to[i] = s
		}
	case Sub:
		for i, l := range a {
			s := l - b[i]
			wrong |= (l ^ b[i]) & (l ^ s)
			to[i] = s
		}
	case Mul:
		if bits.Len64(widest(a))+bits.Len64(widest(b)) < 63 { // each product fits
			for i, l := range a {
				to[i] = l * b[i]
			}
			break
		}
		for i, l := range a {
			r := b[i]
			if int64(int32(l)) != l || int64(int32(r)) != r { // the product may not fit
				if _, fits, _ := IntOp(Mul, l, r); !fits {
					wrong = -1
				}
			}
			to[i] = l * r
		}
	case Div:
		for i, l := range a {
			r := b[i]
			if uint64(r+1) <= 1 { // 0, or -1, of which a quotient may not fit
				wrong = -1
				break
			}
			to[i] = l / r
		}
	case Mod:
		for i, l := range a {
			r := b[i]
			if uint64(r+1) <= 1 {
				wrong = -1
				break
			}
			to[i] = l % r
		}
	default:
		wrong = -1
	}
	narrow := t.Kind != table.Decimal && t.Kind != table.BigInt
	if wrong >= 0 && (!narrow || t.IsInteger() && out.within(t)) {
		return out, true
	}
	for i, l := range a {
		s, fits, _ := IntOp(op, l, b[i])
		if (!fits || narrow && !t.Holds(s)) && !out.IsNull(i) {
			return out, false
		}
		to[i] = s
	}
	return out, true
}

// scaled is DECIMALs with so many digits more behind the point.
func (x Vector) scaled(digits int) (_ Vector, ok bool) {
	if digits <= 0 || digits > 18 {
		return x, digits == 0
	}
	unit := Vector{Ints: x.arena.Ints(len(x.Ints))}
	fill(unit.Ints, table.Pow10(digits).Int64())
	return x.integers(Mul, unit, table.Type{Kind: table.Decimal})
}

// floats computes x op y, of single precision or double.
func (x Vector) floats(op ArithOp, y Vector, single bool) (out Vector, ok bool) {
	out = Vector{Floats: x.arena.floatsOf(len(x.Floats)), Valid: Both(x.Valid, y.Valid), arena: x.arena}
	a, b, to := x.Floats, y.Floats[:len(x.Floats)], out.Floats
	plain := !single // each result is finite, and 0 only where it has to be: so none is an error
	switch op {
	case Add:
		for i, l := range a {
			s := l + b[i]
			plain = plain && s-s == 0
			to[i] = s
		}
	case Sub:
		for i, l := range a {
			s := l - b[i]
			plain = plain && s-s == 0
			to[i] = s
		}
	case Mul:
		for i, l := range a {
			s := l * b[i]
			plain = plain && s-s == 0 && (s != 0 || l == 0 || b[i] == 0)
			to[i] = s
		}
	case Div:
		for i, l := range a {
			s := l / b[i]
			plain = plain && s-s == 0 && b[i] != 0 && (s != 0 || l == 0)
			to[i] = s
		}
	default:
		plain = false
	}
	if plain {
		return out, true
	}
	for i, l := range a {
		s, wrong := floatOp(op, l, b[i], single)
		if wrong != nil && !out.IsNull(i) {
			return out, false
		}
		to[i] = s
	}
	return out, true
}

// Aligned is DECIMALs with so many digits more behind the point.
func Aligned(x, y Vector, xs, ys int) (_, _ Vector, ok bool) {
	if x, ok = x.scaled(xs); ok {
		y, ok = y.scaled(ys)
	}
	return x, y, ok
}
