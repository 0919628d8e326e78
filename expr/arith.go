package expr

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// arith is l op r, neither of them NULL.
func arith(op ArithOp, l, r table.Value, t table.Type, wide bool, pos int) (table.Value, error) {
	switch {
	case l.Type.IsFloat() || r.Type.IsFloat():
		f, wrong := floatOp(op, l.F, r.F, t.Kind == table.Real)
		if wrong != nil {
			return table.Null(t), Raised(pos, wrong)
		}
		return table.Value{Type: t, F: f}, nil
	case l.Type.Kind == table.Decimal && op == Div:
		return quotient(l, r, t, pos)
	case l.Type.Kind == table.Decimal || r.Type.Kind == table.Decimal:
		return decimalOp(op, l, r, wide, pos)
	}
	i, ok, zero := IntOp(op, l.I, r.I)
	switch {
	case zero:
		return table.Null(t), Raised(pos, DivisionByZero)
	case !ok || !t.Holds(i):
		return table.Null(t), Raised(pos, OutOfRange(t))
	}
	return table.Value{Type: t, I: i}, nil
}

// IntOp is 64-bit integer arithmetic: division truncates towards zero, the
// remainder has the sign of the dividend. ok is false where the result does not
// fit 64 bits and where the divisor is 0, which zero tells apart. The result is
// then the wrapped one, or 0.
func IntOp(op ArithOp, a, b int64) (result int64, ok, zero bool) {
	switch op {
	case Add:
		s := a + b
		return s, (s > a) == (b > 0) || b == 0, false
	case Sub:
		d := a - b
		return d, (d < a) == (b > 0) || b == 0, false
	case Mul:
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		// The signed product's high word, from the unsigned one's.
		h := int64(hi)
		if a < 0 {
			h -= b
		}
		if b < 0 {
			h -= a
		}
		return int64(lo), h == int64(lo)>>63, false
	}
	if b == 0 {
		return 0, false, true
	}
	if op == Mod {
		return a % b, true, false // MinInt64 % -1 is 0 in Go, as it should
	}
	return a / b, !(a == math.MinInt64 && b == -1), false
}

// floatOp is arithmetic of doubles, or of floats (single), with the errors that
// PostgreSQL raises: see [FloatOp] and [Round32].
func floatOp(op ArithOp, a, b float64, single bool) (float64, *Exception) {
	f, wrong := FloatOp(op, a, b)
	if wrong == nil && single {
		// Rounding twice does no harm: a double has more than twice the bits
		// of a float.
		f, wrong = Round32(f)
	}
	return f, wrong
}

// FloatOp is double arithmetic. wrong is not nil where PostgreSQL raises an error.
// It raises one for an infinite result of finite operands, and for division by 0 (of anything but NaN).
// It also raises one for a product or quotient that becomes 0 though no factor is.
func FloatOp(op ArithOp, a, b float64) (f float64, wrong *Exception) {
	infinite := math.IsInf(a, 0) || math.IsInf(b, 0)
	switch op {
	case Add:
		f = a + b
	case Sub:
		f = a - b
	case Mul:
		f = a * b
		if f == 0 && a != 0 && b != 0 {
			return f, Underflow
		}
	case Div:
		if b == 0 {
			if a != a {
				return a, nil
			}
			return 0, DivisionByZero
		}
		f = a / b
		if f == 0 && a != 0 && !math.IsInf(b, 0) {
			return f, Underflow
		}
	default:
		return math.NaN(), noModulo
	}
	if math.IsInf(f, 0) && !infinite {
		return f, Overflow
	}
	return f, nil
}

// Round32 rounds a double to the nearest float. wrong is not nil where a finite
// value becomes infinite or one that is not 0 becomes 0.
func Round32(x float64) (f float64, wrong *Exception) {
	f = float64(float32(x))
	switch {
	case math.IsInf(f, 0) && !math.IsInf(x, 0):
		return f, Overflow
	case f == 0 && x != 0:
		return f, Underflow
	}
	return f, nil
}

// decimal makes a DECIMAL, which must fit 64 bits unless wide.
func decimal(t table.Type, unscaled *big.Int, wide bool, pos int) (table.Value, error) {
	if !wide && !unscaled.IsInt64() {
		return table.Null(t), Raised(pos, OutOfRange(t))
	}
	return table.Dec(t, unscaled), nil
}

// quotient is that of two DECIMALs: the DOUBLE nearest to it.
func quotient(l, r table.Value, t table.Type, pos int) (table.Value, error) {
	x, y := aligned(l, r)
	if y.Sign() == 0 {
		return table.Null(t), Raised(pos, DivisionByZero)
	}
	var f float64
	const exact = 1 << 53
	if x.IsInt64() && y.IsInt64() && x.CmpAbs(big.NewInt(exact)) <= 0 && y.CmpAbs(big.NewInt(exact)) <= 0 {
		f = float64(x.Int64()) / float64(y.Int64())
	} else {
		f, _ = new(big.Rat).SetFrac(x, y).Float64()
	}
	switch {
	case math.IsInf(f, 0):
		return table.Null(t), Raised(pos, Overflow)
	case f == 0 && x.Sign() != 0:
		return table.Null(t), Raised(pos, Underflow)
	}
	return table.Value{Type: t, F: f + 0}, nil
}

// aligned are the integers of two DECIMALs at the larger of their scales.
func aligned(l, r table.Value) (a, b *big.Int) {
	a, b = l.Unscaled(), r.Unscaled()
	if d := l.Type.Scale - r.Type.Scale; d < 0 {
		a = new(big.Int).Mul(a, table.Pow10(-d))
	} else if d > 0 {
		b = new(big.Int).Mul(b, table.Pow10(d))
	}
	return a, b
}

// decimalOp is DECIMAL arithmetic: + - % at the larger scale, * at the sum of the scales.
func decimalOp(op ArithOp, l, r table.Value, wide bool, pos int) (table.Value, error) {
	t := table.Type{Kind: table.Decimal, Precision: max(l.Type.Precision, r.Type.Precision, 18)}
	if op == Mul {
		t.Scale = l.Type.Scale + r.Type.Scale
		return decimal(t, new(big.Int).Mul(l.Unscaled(), r.Unscaled()), wide, pos)
	}
	t.Scale = max(l.Type.Scale, r.Type.Scale)
	a, b := aligned(l, r)
	if !wide && !(a.IsInt64() && b.IsInt64()) {
		return table.Null(t), Raised(pos, OutOfRange(t))
	}
	out := new(big.Int)
	switch op {
	case Add:
		out.Add(a, b)
	case Sub:
		out.Sub(a, b)
	default:
		if b.Sign() == 0 {
			return table.Null(t), Raised(pos, DivisionByZero)
		}
		out.Rem(a, b)
	}
	return decimal(t, out, wide, pos)
}

// powersOfTen are doubles without error.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
