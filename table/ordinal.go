package table

import "math"

// Ordinal maps a non-NULL value of a type other than VARCHAR to an unsigned number that orders as the values
// do. Integers, scaled DECIMALs, days and microseconds have their sign bit flipped. An INTERVAL has its
// months as [MicrosPerMonth]; its [Span] is left out. BOOLEAN is 0 and 1. REAL and DOUBLE are their IEEE bits
// with the sign trick, -0 as +0 and NaN as the one largest value. A REAL's ordinal has 32 bits.
// Equal values have equal ordinals.
func Ordinal(v Value) uint64 {
	switch v.Type.Kind {
	case Boolean:
		return uint64(v.I)
	case Real:
		return uint64(OrdinalFloat32(float32(v.F)))
	case Double:
		return OrdinalFloat64(v.F)
	}
	return OrdinalInt(v.I + int64(v.Months)*MicrosPerMonth)
}

// SignedOrdinal is [Ordinal], but -0 has one of its own, just below 0's: values that print differently differ.
func SignedOrdinal(v Value) uint64 {
	switch v.Type.Kind {
	case Real:
		return uint64(SignedOrdinalFloat32(float32(v.F)))
	case Double:
		return SignedOrdinalFloat64(v.F)
	}
	return Ordinal(v)
}

// FromOrdinal is the inverse of [Ordinal] and of [SignedOrdinal] for type t.
func FromOrdinal(t Type, o uint64) Value {
	v := Value{Type: t}
	switch t.Kind {
	case Boolean:
		v.I = int64(o)
	case Real, Double:
		v.F = t.FloatFromOrdinal(o)
	default:
		v.I = IntFromOrdinal(o)
	}
	return v
}

// FloatFromOrdinal is [FromOrdinal] for REAL and DOUBLE PRECISION.
func (t Type) FloatFromOrdinal(o uint64) float64 {
	if t.Kind == Real {
		return float64(Float32FromOrdinal(uint32(o)))
	}
	return Float64FromOrdinal(o)
}

// OrdinalInt flips the sign bit of a two's complement integer.
func OrdinalInt(i int64) uint64 { return uint64(i) ^ 1<<63 }

// IntFromOrdinal is the inverse of [OrdinalInt].
func IntFromOrdinal(o uint64) int64 { return int64(o ^ 1<<63) }

// OrdinalFloat64 orders doubles: negative numbers with all bits flipped, others
// with the sign bit set.
func OrdinalFloat64(f float64) uint64 {
	switch {
	case f == 0:
		f = 0 // -0 is 0
	case f != f:
		return NaNOrdinal64
	}
	b := math.Float64bits(f)
	return b ^ (-(b >> 63) | 1<<63)
}

// Float64FromOrdinal is the inverse of [OrdinalFloat64].
func Float64FromOrdinal(o uint64) float64 {
	negative := o>>63 - 1 // all ones, else 0; a branch would be guessed wrong where signs take turns
	return math.Float64frombits(o ^ (negative | 1<<63))
}

// OrdinalFloat32 is [OrdinalFloat64] in 32 bits.
func OrdinalFloat32(f float32) uint32 {
	switch {
	case f == 0:
		f = 0
	case f != f:
		return NaNOrdinal32
	}
	b := math.Float32bits(f)
	return b ^ (-(b >> 31) | 1<<31)
}

// Float32FromOrdinal is the inverse of [OrdinalFloat32].
func Float32FromOrdinal(o uint32) float32 {
	negative := o>>31 - 1
	return math.Float32frombits(o ^ (negative | 1<<31))
}

// SignedOrdinalFloat64 is [OrdinalFloat64] that tells -0 from 0.
func SignedOrdinalFloat64(f float64) uint64 {
	if f != f {
		return NaNOrdinal64
	}
	b := math.Float64bits(f)
	return b ^ (-(b >> 63) | 1<<63)
}

// SignedOrdinalFloat32 is [SignedOrdinalFloat64] in 32 bits.
func SignedOrdinalFloat32(f float32) uint32 {
	if f != f {
		return NaNOrdinal32
	}
	b := math.Float32bits(f)
	return b ^ (-(b >> 31) | 1<<31)
}

// The ordinals of NaN: above those of +Infinity. They decode to quiet NaNs.
const (
	NaNOrdinal64 uint64 = 0x7ff8000000000000 | 1<<63
	NaNOrdinal32 uint32 = 0x7fc00000 | 1<<31
)

// The signed ordinals of -0: one below those of 0. No code of a segment stands for them.
const (
	negativeZero64 uint64 = 1<<63 - 1
	negativeZero32 uint32 = 1<<31 - 1
)

// negativeZero is the signed ordinal of a type's -0; ok is false where the type has none.
func (t Type) negativeZero() (ordinal uint64, ok bool) {
	switch t.Kind {
	case Real:
		return uint64(negativeZero32), true
	case Double:
		return negativeZero64, true
	}
	return 0, false
}

// Unsigned is the ordinal of a signed one of a type's values.
func (t Type) Unsigned(ordinal uint64) uint64 {
	if zero, float := t.negativeZero(); float && ordinal == zero {
		ordinal++
	}
	return ordinal
}
