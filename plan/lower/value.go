package lower

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// value is an expression as operations on codes, and the errors its topmost operation may
// raise (those of its operands belong to them).
type value struct {
	v     *predicate.Val
	scale int  // of a DECIMAL: v computes value * 10^scale
	never bool // NULL, or an error, for every record; v is nil
	fails []rowError
}

// noValue is the value that is NULL, or fails, for every record.
func noValue(fails ...rowError) *value { return &value{never: true, fails: fails} }

// val turns a value expression into operations on codes.
func (l *lowerer) val(e expr.Expr) *value {
	return memoize(l.vals, e, func() *value { return l.newVal(e) })
}

func (l *lowerer) newVal(e expr.Expr) *value {
	if pureOperands(e) && len(expr.Columns(e)) == 0 {
		c, err := expr.Eval(e, nil)
		if err != nil {
			return noValue(rowError{pred: predicate.Always, err: err})
		}
		return constantValue(c, e)
	}
	switch e := e.(type) {
	case *expr.Column:
		return l.columnValue(e)
	case *expr.Neg:
		x := l.val(e.X)
		if x.never {
			return noValue()
		}
		out := &value{v: negV(x.v), scale: x.scale}
		wrong := expr.OutOfRange(e.Type())
		if k := e.Type().Kind; k == table.SmallInt || k == table.Integer {
			l.checkNarrower(out, e, wrong)
		} else {
			out.addFailure(out.v, e, wrong)
		}
		return out
	case *expr.Arith:
		return l.arithValue(e)
	case *expr.Cast:
		if x := l.val(e.X); !x.never {
			return l.castValue(e, x)
		}
		return noValue()
	}
	panic(unsupported(e))
}

func constantValue(c table.Value, e expr.Expr) *value {
	switch {
	case c.Null:
		return noValue()
	case c.Type.Kind == table.Varchar:
		panic(unsupported(e))
	case c.Type.IsFloat():
		return &value{v: constF(c.F + 0)} // 0 for -0
	}
	return &value{v: constV(c.Unscaled()), scale: c.Type.Scale}
}

func (l *lowerer) columnValue(e *expr.Column) *value {
	seg := l.seg(e.Index)
	v := &predicate.Val{Op: predicate.Col, Column: e.Index, Name: l.name(e.Index)}
	switch {
	case seg.NonNull() == 0:
		return noValue()
	case seg.Type.Kind == table.Varchar:
		panic(unsupported(e))
	case seg.Type.IsFloat():
		v.Op, v.Float, v.Base, v.Single = predicate.ColF, true, seg.Base, seg.Type.Kind == table.Real
		columnRange(v, seg)
	default:
		v.Offset, v.Max = seg.Decode(0).I, seg.Max
		v.Lo, v.Hi = big.NewInt(v.Offset), big.NewInt(seg.Decode(seg.Max).I)
	}
	return &value{v: v, scale: seg.Type.Scale}
}

// addFailure notes that v, when it can fail, fails with wrong at e's position.
func (out *value) addFailure(v *predicate.Val, e expr.Expr, wrong *expr.Exception) {
	if v.CanFail && wrong != nil {
		p := predicate.NewLeaf(&predicate.Computed{Fails: v, Shape: predicate.Expression, Text: wrong.Message + ": " + e.String()})
		out.fails = append(out.fails, rowError{pred: p, err: expr.Raised(e.Pos(), wrong)})
	}
}

func (l *lowerer) arithValue(e *expr.Arith) *value {
	a, b := l.val(e.L), l.val(e.R)
	switch {
	case a.never || b.never:
		return noValue()
	case a.v.Float != b.v.Float || a.v.Float && e.Op == expr.Mod:
		panic(unsupported(e))
	case a.v.Float:
		return l.floatValue(e, a.v, b.v)
	}
	for _, k := range []*value{a, b} {
		if k.v.Op == predicate.Const && !k.v.Lo.IsInt64() {
			panic(unsupportedError{expr.Coded(sqlstate.NumericOutOfRange, e.P, "a constant in %s does not fit 64 bits", e)})
		}
	}
	out := &value{scale: max(a.scale, b.scale)}
	isDecimal := e.L.Type().Kind == table.Decimal || e.R.Type().Kind == table.Decimal
	wrong := expr.OutOfRange(e.T)
	x, y := a.v, b.v
	switch {
	case isDecimal && e.Op == expr.Div:
		return l.quotient(e, a, b)
	case e.Op == expr.Mul:
		out.scale = a.scale + b.scale
	default:
		x = l.alignScale(out, x, out.scale-a.scale, e, e.R, wrong)
		y = l.alignScale(out, y, out.scale-b.scale, e, e.L, wrong)
		if out.never {
			return out
		}
	}
	out.v = intOp(valOp(e.Op), x, y)
	switch {
	case e.T.Kind == table.Date || e.T.Kind == table.Timestamp:
		out.addFailure(out.v, e, wrong)
		l.checkType(out, e, e.T, wrong)
		return out
	case e.T.Kind == table.SmallInt || e.T.Kind == table.Integer: // of 32 bits, whose results 64 bits hold
		if out.v.CanFail {
			l.divisorIsZero(out, e, false)
		}
		l.checkNarrower(out, e, wrong)
		return out
	case !out.v.CanFail:
		return out
	case e.Op == expr.Div || e.Op == expr.Mod:
		l.divisorIsZero(out, e, false)
		if e.Op == expr.Mod || fits(out.v.Lo, out.v.Hi) {
			return out
		}
	}
	out.addFailure(out.v, e, wrong)
	return out
}

func valOp(op expr.ArithOp) predicate.ValOp {
	return [...]predicate.ValOp{predicate.AddV, predicate.SubV, predicate.MulV, predicate.DivV, predicate.ModV}[op]
}

// alignScale brings an operand of e to the larger scale, which happens, and fails,
// only where the other operand is not NULL. A constant that does not fit fails for
// every such record.
func (l *lowerer) alignScale(out *value, v *predicate.Val, digits int, e *expr.Arith, other expr.Expr, wrong *expr.Exception) *predicate.Val {
	before := len(out.fails)
	w := scaleUp(out, v, digits, e, wrong)
	if len(out.fails) == before {
		return w
	}
	p := l.null(other, false)
	if v.Op == predicate.Const {
		out.never = true
		out.fails = append(out.fails[:before], rowError{pred: p, err: expr.Raised(e.P, wrong)})
		return w
	}
	for i := before; i < len(out.fails); i++ {
		out.fails[i].pred = l.and(out.fails[i].pred, p)
	}
	return w
}

// scaleUp is v * 10^digits.
func scaleUp(out *value, v *predicate.Val, digits int, e expr.Expr, wrong *expr.Exception) *predicate.Val {
	if digits == 0 {
		return v
	}
	factor := table.Pow10(digits)
	if v.Op == predicate.Const {
		if p := new(big.Int).Mul(v.Lo, factor); p.IsInt64() {
			return constV(p)
		}
	}
	if !factor.IsInt64() {
		// Only 0 survives: multiply twice.
		v = scaleUp(out, v, 18, e, wrong)
		return scaleUp(out, v, digits-18, e, wrong)
	}
	v = intOp(predicate.MulV, v, constV(factor))
	out.addFailure(v, e, wrong)
	return v
}

// divisorIsZero adds the error of a division by zero: the divisor is 0 and the
// dividend is not NULL (nor, of doubles, NaN).
func (l *lowerer) divisorIsZero(out *value, e *expr.Arith, dividendNaN bool) {
	zero := zeroOf(e.R.Type(), e.P)
	isZero := l.truth(&expr.Compare{Op: expr.EQ, L: e.R, R: zero, P: e.P}, predicate.IsTrue)
	dividend := l.null(e.L, false)
	if dividendNaN {
		nan := &expr.Const{V: table.Value{Type: e.L.Type(), F: math.NaN()}, P: e.P}
		dividend = l.truth(&expr.Compare{Op: expr.NE, L: e.L, R: nan, P: e.P}, predicate.IsTrue)
	}
	out.fails = append(out.fails, rowError{pred: l.and(isZero, dividend), err: expr.Raised(e.P, expr.DivisionByZero)})
}

// zeroOf is the constant 0 beside a value of a type.
func zeroOf(t table.Type, pos int) *expr.Const {
	if t.IsInteger() {
		return &expr.Const{V: table.Literal(0), P: pos}
	}
	return &expr.Const{V: table.Value{Type: t}, P: pos}
}

func (l *lowerer) floatValue(e *expr.Arith, a, b *predicate.Val) *value {
	v, why := floatOp(valOp(e.Op), a, b)
	out := &value{v: v}
	if why.zero {
		l.divisorIsZero(out, e, a.MayNaN)
	}
	out.addFailure(v, e, why.exception())
	if e.T.Kind == table.Real {
		out.roundToFloat32(e)
	}
	return out
}

// quotient is that of two DECIMALs, of which at one scale both are doubles.
func (l *lowerer) quotient(e *expr.Arith, a, b *value) *value {
	scale := max(a.scale, b.scale)
	at := func(k *value) *predicate.Val {
		v := scaleUp(&value{}, k.v, scale-k.scale, e, nil)
		if lo, hi := clip(v); v.CanFail || lo.CmpAbs(two53) > 0 || hi.CmpAbs(two53) > 0 {
			panic(unsupported(e))
		}
		return toFloat(v)
	}
	return l.floatValue(e, at(a), at(b))
}

// roundToFloat32 rounds out's value to a float.
func (out *value) roundToFloat32(e expr.Expr) {
	v, why := round32(out.v)
	out.v = v
	out.addFailure(v, e, why.exception())
}

// castValue converts x, the value of e's operand.
func (l *lowerer) castValue(e *expr.Cast, x *value) *value {
	from, to := e.X.Type(), e.To
	out := &value{v: x.v, scale: x.scale}
	switch {
	case from.Kind == table.Boolean && to.Kind == table.Boolean,
		from.Kind == to.Kind && !to.IsNumeric():
	case to.IsInteger() && (from.IsExact() || from.Kind == table.Boolean):
		out.v, out.scale = scaleDown(x.v, x.scale), 0
		lo, hi := to.Limits()
		l.checkBounds(out, e, lo, hi, expr.OutOfRange(to), x)
		out.v = clampToType(out.v, to)
	case to.Kind == table.Decimal && from.IsExact():
		l.castDecimal(out, e, x)
	case to.IsFloat() && from.IsFloat():
		if to.Kind == table.Real && from.Kind == table.Double {
			out.roundToFloat32(e)
		}
	case to.IsFloat() && from.IsExact():
		return exactToFloat(e, x, to.Kind == table.Real)
	case to.Kind == table.Timestamp && from.Kind == table.Date:
		wrong := expr.DateBeyondTimestamps
		out.v = intOp(predicate.MulV, x.v, constV(big.NewInt(table.MicrosPerDay)))
		out.addFailure(out.v, e, wrong)
		l.checkType(out, e, to, wrong)
	case to.Kind == table.Date && from.Kind == table.Timestamp:
		if out.v = floorDiv(x.v, table.MicrosPerDay); hasFailing(out.v, x.v) {
			panic(unsupported(e))
		}
	default:
		panic(unsupported(e))
	}
	return out
}

func (l *lowerer) castDecimal(out *value, e *expr.Cast, x *value) {
	out.scale = e.To.Scale
	if d := e.To.Scale - x.scale; d >= 0 {
		out.v = scaleUp(out, x.v, d, e, expr.OutOfRange(e.To))
	} else {
		out.v = scaleDown(x.v, -d)
	}
	if e.To.Precision == 0 || e.To.Precision >= 18 {
		return
	}
	hi := table.Pow10(e.To.Precision).Int64() - 1
	l.checkBounds(out, e, -hi, hi, expr.Beyond(e.To), x)
}

// checkBounds adds an exception for values outside [lo, hi]. The expression goes on with
// such a value; the query fails all the same.
func (l *lowerer) checkBounds(out *value, e expr.Expr, lo, hi int64, wrong *expr.Exception, x *value) {
	if hasFailing(out.v, x.v) && len(out.fails) == 0 {
		panic(unsupported(e))
	}
	l.addOutOfRange(out, e, lo, hi, wrong)
}

// checkNarrower is within the type of e, an integer narrower than what computes it.
func (l *lowerer) checkNarrower(out *value, e expr.Expr, wrong *expr.Exception) {
	l.checkType(out, e, e.Type(), wrong)
	out.v = clampToType(out.v, e.Type())
}

// clampToType is a value whose error has been noted where it exceeds the limits of an integer type. Operations over it may rely on these
// limits, since otherwise the query fails.
func clampToType(v *predicate.Val, t table.Type) *predicate.Val {
	least, most := t.Limits()
	lo, hi := big.NewInt(least), big.NewInt(most)
	if v.Op == predicate.Const || v.Lo.Cmp(lo) >= 0 && v.Hi.Cmp(hi) <= 0 {
		return v
	}
	out := *v
	between := func(x *big.Int) *big.Int {
		_, x = extremes(x, lo)
		x, _ = extremes(x, hi)
		return x
	}
	out.Lo, out.Hi = between(v.Lo), between(v.Hi)
	return &out
}

// checkType adds an exception for values outside the limits of type t.
func (l *lowerer) checkType(out *value, e expr.Expr, t table.Type, wrong *expr.Exception) {
	lo, hi := t.Limits()
	l.addOutOfRange(out, e, lo, hi, wrong)
}

func (l *lowerer) addOutOfRange(out *value, e expr.Expr, lo, hi int64, wrong *expr.Exception) {
	beyond := func(op expr.CmpOp, limit int64) *predicate.Pred {
		return l.compareValues(op, out.v, constV(big.NewInt(limit)), fmt.Sprintf("%v %v %d", e, op, limit))
	}
	if p := l.or(beyond(expr.LT, lo), beyond(expr.GT, hi)); p.Op != predicate.False {
		out.fails = append(out.fails, rowError{pred: p, err: expr.Raised(e.Pos(), wrong)})
	}
}

// hasFailing reports whether v, down to its part x, has operations that can fail.
func hasFailing(v, x *predicate.Val) bool {
	return v != x && (v.CanFail || slices.ContainsFunc(v.Kids, func(k *predicate.Val) bool { return hasFailing(k, x) }))
}

// scaleDown is v / 10^digits rounded, halves away from zero: with q the quotient
// by half of that, (q + q % 2) / 2.
func scaleDown(v *predicate.Val, digits int) *predicate.Val {
	if digits == 0 {
		return v
	}
	if digits > 19 {
		return intOp(predicate.MulV, v, constV(new(big.Int))) // 64 bits have 19 digits: it is less than a half
	}
	half := new(big.Int).Mul(big.NewInt(5), table.Pow10(digits-1))
	q := intOp(predicate.DivV, v, constV(half))
	two := constV(big.NewInt(2))
	return intOp(predicate.DivV, intOp(predicate.AddV, q, intOp(predicate.ModV, q, two)), two)
}

// floorDiv is v / d rounded down, d > 0: (v - ((v % d) + d) % d) / d.
func floorDiv(v *predicate.Val, d int64) *predicate.Val {
	c := constV(big.NewInt(d))
	m := intOp(predicate.ModV, intOp(predicate.AddV, intOp(predicate.ModV, v, c), c), c)
	return intOp(predicate.DivV, intOp(predicate.SubV, v, m), c)
}

// exactToFloat is the float nearest to an integer or DECIMAL. A DECIMAL is the
// quotient of two doubles, rounded once when both are exact.
func exactToFloat(e *expr.Cast, x *value, single bool) *value {
	lo, hi := clip(x.v)
	exact := lo.CmpAbs(two53) <= 0 && hi.CmpAbs(two53) <= 0
	if (x.scale > 0 || single) && !exact || x.scale > 22 || x.scale > 0 && single {
		panic(unsupported(e))
	}
	v := toFloat(x.v)
	if x.scale > 0 {
		v, _ = floatOp(predicate.DivV, v, constF(math.Pow(10, float64(x.scale))))
	}
	if single {
		v, _ = round32(v)
	}
	return &value{v: v}
}

var two53 = big.NewInt(1 << 53)
