package lower

import (
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

var (
	minInt64 = big.NewInt(math.MinInt64)
	maxInt64 = big.NewInt(math.MaxInt64)
)

func constV(i *big.Int) *predicate.Val {
	return &predicate.Val{Op: predicate.Const, I: i.Int64(), Lo: i, Hi: i}
}

func fits(lo, hi *big.Int) bool { return lo.IsInt64() && hi.IsInt64() }

// clip returns v's interval within 64 bits: the values it has where it does not
// fail. A constant outside stays as it is.
func clip(v *predicate.Val) (lo, hi *big.Int) {
	if v.Op == predicate.Const {
		return v.Lo, v.Hi
	}
	_, lo = extremes(v.Lo, minInt64)
	hi, _ = extremes(v.Hi, maxInt64)
	return lo, hi
}

func extremes(xs ...*big.Int) (lo, hi *big.Int) {
	return slices.MinFunc(xs, (*big.Int).Cmp), slices.MaxFunc(xs, (*big.Int).Cmp)
}

func negV(x *predicate.Val) *predicate.Val {
	if x.Float {
		return &predicate.Val{Op: predicate.NegV, Kids: []*predicate.Val{x}, Float: true, FLo: -x.FHi, FHi: -x.FLo,
			MayNaN: x.MayNaN, Tiny: x.Tiny, Grain: x.Grain}
	}
	lo, hi := clip(x)
	v := &predicate.Val{Op: predicate.NegV, Kids: []*predicate.Val{x}, Lo: new(big.Int).Neg(hi), Hi: new(big.Int).Neg(lo)}
	v.CanFail = !fits(v.Lo, v.Hi)
	return v
}

// bigOps are the integer operations without a limit.
var bigOps = map[predicate.ValOp]func(z, x, y *big.Int) *big.Int{
	predicate.AddV: (*big.Int).Add, predicate.SubV: (*big.Int).Sub, predicate.MulV: (*big.Int).Mul, predicate.DivV: (*big.Int).Quo, predicate.ModV: (*big.Int).Rem,
}

// intOp makes an integer operation with its interval.
func intOp(op predicate.ValOp, a, b *predicate.Val) *predicate.Val {
	v := &predicate.Val{Op: op, Kids: []*predicate.Val{a, b}}
	al, ah := clip(a)
	bl, bh := clip(b)
	do := func(x, y *big.Int) *big.Int { return bigOps[op](new(big.Int), x, y) }
	zero := (op == predicate.DivV || op == predicate.ModV) && bl.Sign() <= 0 && bh.Sign() >= 0 // a divisor
	switch {
	case op == predicate.ModV && (zero || a.Op != predicate.Const || b.Op != predicate.Const):
		_, m := extremes(new(big.Int), new(big.Int).Sub(maxAbs(bl, bh), big.NewInt(1)))
		v.Lo, v.Hi = new(big.Int), new(big.Int)
		if al.Sign() < 0 {
			_, v.Lo = extremes(new(big.Int).Neg(m), al)
		}
		if ah.Sign() > 0 {
			v.Hi, _ = extremes(m, ah)
		}
	case zero:
		m := maxAbs(al, ah)
		v.Lo, v.Hi = new(big.Int).Neg(m), m
		if al.Cmp(minInt64) == 0 && (bl.Sign() == 0 || bl.Cmp(big.NewInt(-1)) > 0) {
			v.Hi, _ = extremes(m, maxInt64) // -1 is no divisor
		}
	default:
		v.Lo, v.Hi = extremes(do(al, bl), do(al, bh), do(ah, bl), do(ah, bh))
	}
	v.CanFail = zero || !fits(v.Lo, v.Hi)
	if a.Op == predicate.Const && b.Op == predicate.Const && !v.CanFail {
		return constV(v.Lo) // the interval of one value
	}
	return v
}

func maxAbs(a, b *big.Int) *big.Int {
	if a.CmpAbs(b) < 0 {
		a = b
	}
	return new(big.Int).Abs(a)
}

// The float side. Rounding is monotone, so that the bounds of a result are the
// rounded results of bounds.

func constF(f float64) *predicate.Val {
	v := &predicate.Val{Op: predicate.Const, Float: true, F: f, FLo: f, FHi: f, Tiny: math.Abs(f)}
	if f != f {
		v.MayNaN, v.FLo, v.FHi = true, math.Inf(-1), math.Inf(1)
	}
	if f == 0 || f != f {
		v.Tiny = math.Inf(1)
	}
	v.Grain = grainOf(v.Tiny, 53)
	return v
}

// grainOf returns g such that all floats of p bits of magnitude >= tiny are
// multiples of 2^g.
func grainOf(tiny float64, p int) int {
	if math.IsInf(tiny, 0) || tiny == 0 {
		return 0
	}
	_, e := math.Frexp(tiny)
	return max(e-p, -1074)
}

func columnRange(v *predicate.Val, seg *table.Segment) {
	v.FLo, v.FHi = seg.Decode(0).F, seg.Decode(seg.Max).F
	nan := math.IsNaN(v.FHi)
	least, bits := math.SmallestNonzeroFloat64, 53
	if v.Single {
		least, bits = math.SmallestNonzeroFloat32, 24
	}
	if nan {
		v.MayNaN, v.FHi = true, math.Inf(1)
		if math.IsNaN(v.FLo) {
			v.FLo = math.Inf(-1)
		}
	}
	v.Tiny = away(v.FLo, v.FHi, least)
	v.Grain = max(grainOf(v.Tiny, bits), grainOf(least, 1))
}

// away is the least magnitude of the interval, or least where it holds 0.
func away(lo, hi, least float64) float64 {
	if lo > 0 {
		return max(lo, least)
	}
	if hi < 0 {
		return max(-hi, least)
	}
	return least
}

func toFloat(x *predicate.Val) *predicate.Val {
	lo, hi := clip(x)
	v := &predicate.Val{Op: predicate.ToFloat, Kids: []*predicate.Val{x}, Float: true}
	v.FLo, _ = lo.Float64()
	v.FHi, _ = hi.Float64()
	v.Tiny = away(v.FLo, v.FHi, 1)
	v.Grain = max(0, grainOf(v.Tiny, 53))
	return v
}

// floatErrors says how a float operation may fail.
type floatErrors struct{ zero, overflow, underflow bool }

func (r floatErrors) exception() *expr.Exception {
	switch {
	case r.overflow && r.underflow:
		return &expr.Exception{Code: sqlstate.NumericOutOfRange, Message: "value out of range: overflow or underflow"}
	case r.overflow:
		return expr.Overflow
	case r.underflow:
		return expr.Underflow
	}
	return nil
}

func finite(f float64) float64 { return max(-math.MaxFloat64, min(f, math.MaxFloat64)) }

// floatOp makes a double operation with its range and the ways it may fail.
func floatOp(op predicate.ValOp, a, b *predicate.Val) (*predicate.Val, floatErrors) {
	v := &predicate.Val{Op: op, Kids: []*predicate.Val{a, b}, Float: true, MayNaN: a.MayNaN || b.MayNaN}
	var why floatErrors
	var corners []float64
	bottom := math.Inf(1)
	f := func(x, y float64) float64 { return x + y }
	switch op {
	case predicate.SubV:
		f = func(x, y float64) float64 { return x - y }
	case predicate.MulV:
		f = func(x, y float64) float64 { return x * y }
	case predicate.DivV:
		f = func(x, y float64) float64 { return x / y }
		why.zero = b.FLo <= 0 && b.FHi >= 0
	}
	if why.zero {
		// Divisors as small as tiny, of either sign.
		m := max(math.Abs(a.FLo), math.Abs(a.FHi)) / b.Tiny
		corners = []float64{-m, m}
		why.overflow = math.IsInf(finite(max(math.Abs(a.FLo), math.Abs(a.FHi)))/b.Tiny, 0)
		v.MayNaN = v.MayNaN || unbounded(a) && unbounded(b)
	} else {
		for _, x := range []float64{a.FLo, a.FHi} {
			for _, y := range []float64{b.FLo, b.FHi} {
				corners = append(corners, f(x, y))
				why.overflow = why.overflow || math.IsInf(f(finite(x), finite(y)), 0)
			}
		}
		// inf - inf, 0 * inf and inf / inf are NaN.
		v.MayNaN = v.MayNaN || unbounded(a) && (unbounded(b) || holdsZero(b)) || holdsZero(a) && unbounded(b)
	}
	switch op {
	case predicate.AddV, predicate.SubV:
		v.Grain = min(a.Grain, b.Grain)
		bottom = math.Ldexp(1, v.Grain)
	case predicate.MulV:
		bottom = a.Tiny * b.Tiny
		why.underflow = bottom == 0
	case predicate.DivV:
		bottom = a.Tiny / finite(max(math.Abs(b.FLo), math.Abs(b.FHi)))
		why.underflow = bottom == 0
	}
	v.FLo, v.FHi = math.Inf(1), math.Inf(-1)
	for _, c := range corners {
		if c != c {
			v.FLo, v.FHi = math.Inf(-1), math.Inf(1)
		}
		v.FLo, v.FHi = min(v.FLo, c), max(v.FHi, c)
	}
	if math.IsNaN(v.FLo) || math.IsNaN(v.FHi) {
		v.FLo, v.FHi = math.Inf(-1), math.Inf(1)
	}
	if bottom == 0 || bottom != bottom {
		bottom = math.SmallestNonzeroFloat64
	}
	v.Tiny = away(v.FLo, v.FHi, bottom)
	if op == predicate.MulV || op == predicate.DivV {
		v.Grain = grainOf(v.Tiny, 53)
	}
	v.CanFail = why != floatErrors{}
	return v, why
}

func unbounded(v *predicate.Val) bool { return math.IsInf(v.FLo, 0) || math.IsInf(v.FHi, 0) }
func holdsZero(v *predicate.Val) bool { return v.FLo <= 0 && v.FHi >= 0 }

// round32 makes the rounding of x to a float.
func round32(x *predicate.Val) (*predicate.Val, floatErrors) {
	v := &predicate.Val{Op: predicate.Round32, Kids: []*predicate.Val{x}, Float: true, MayNaN: x.MayNaN}
	r := func(f float64) float64 { return float64(float32(f)) }
	v.FLo, v.FHi = r(x.FLo), r(x.FHi)
	why := floatErrors{
		overflow:  math.IsInf(r(finite(x.FLo)), 0) || math.IsInf(r(finite(x.FHi)), 0),
		underflow: r(x.Tiny) == 0,
	}
	v.Tiny = away(v.FLo, v.FHi, max(r(x.Tiny), math.SmallestNonzeroFloat32))
	v.Grain = max(grainOf(v.Tiny, 24), -149)
	v.CanFail = why != floatErrors{}
	return v, why
}
