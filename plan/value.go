package plan

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// value is an expression as a program, and the errors its topmost operation may
// raise (those of its operands belong to them).
type value struct {
	v     *Val
	scale int  // of a DECIMAL: the program computes value * 10^scale
	never bool // NULL, or an error, for every record; v is nil
	fails []rowError
}

// val turns a value expression into a program.
func (l *lowerer) val(e expr.Expr) (*value, error) {
	if x, ok := l.vals[e]; ok {
		return x, nil
	}
	x, err := l.newVal(e)
	if err == nil {
		l.vals[e] = x
	}
	return x, err
}

func (l *lowerer) newVal(e expr.Expr) (*value, error) {
	if pureOperands(e) && len(expr.Columns(e)) == 0 {
		c, err := expr.Eval(e, nil)
		if err != nil {
			return &value{never: true, fails: []rowError{{truePred, err}}}, nil
		}
		return constantValue(c, e)
	}
	switch e := e.(type) {
	case *expr.Column:
		return l.columnValue(e)
	case *expr.Neg:
		x, err := l.val(e.X)
		if err != nil || x.never {
			return &value{never: true}, err
		}
		out := &value{v: negV(x.v), scale: x.scale}
		l.failing(out, out.v, e, expr.OutOfRange(e.Type()))
		return out, nil
	case *expr.Arith:
		return l.arithValue(e)
	case *expr.Cast:
		x, err := l.val(e.X)
		if err != nil || x.never {
			return &value{never: true}, err
		}
		return l.castValue(e, x)
	}
	return nil, cannot(e)
}

func constantValue(c table.Value, e expr.Expr) (*value, error) {
	switch {
	case c.Null:
		return &value{never: true}, nil
	case c.Type.Kind == table.Varchar:
		return nil, cannot(e)
	case c.Type.IsFloat():
		return &value{v: constF(c.F)}, nil
	}
	return &value{v: constV(c.Unscaled()), scale: c.Type.Scale}, nil
}

func (l *lowerer) columnValue(e *expr.Column) (*value, error) {
	seg := l.seg(e.Index)
	v := &Val{Op: Col, Column: e.Index, Name: l.name(e.Index)}
	switch {
	case seg.NonNull() == 0:
		return &value{never: true}, nil
	case seg.Type.Kind == table.Varchar:
		return nil, cannot(e)
	case seg.Type.IsFloat():
		v.Op, v.Float, v.Base, v.Single = ColF, true, seg.Base, seg.Type.Kind == table.Real
		v.columnRange(seg)
	default:
		v.Offset = seg.Decode(0).I
		v.Lo, v.Hi = big.NewInt(v.Offset), big.NewInt(seg.Decode(seg.Max).I)
	}
	return &value{v: v, scale: seg.Type.Scale}, nil
}

// failing notes that v, when it can fail, fails with msg at e's position.
func (l *lowerer) failing(out *value, v *Val, e expr.Expr, msg string) {
	if v.CanFail {
		p := leafPred(&Program{Fails: v, Shape: Expression, Text: msg + ": " + e.String()})
		out.fails = append(out.fails, rowError{p, expr.Errorf(e.Pos(), "%s", msg)})
	}
}

func (l *lowerer) arithValue(e *expr.Arith) (*value, error) {
	a, err := l.val(e.L)
	if err != nil {
		return nil, err
	}
	b, err := l.val(e.R)
	if err != nil || a.never || b.never {
		return &value{never: true}, err
	}
	switch {
	case a.v.Float != b.v.Float || a.v.Float && e.Op == expr.Mod:
		return nil, cannot(e)
	case a.v.Float:
		return l.floatValue(e, a.v, b.v)
	}
	for _, k := range []*value{a, b} {
		if k.v.Op == Const && !k.v.Lo.IsInt64() {
			return nil, expr.Errorf(e.P, "a constant in %s does not fit 64 bits", e)
		}
	}
	out := &value{scale: max(a.scale, b.scale)}
	isDecimal := e.L.Type().Kind == table.Decimal || e.R.Type().Kind == table.Decimal
	msg := expr.OutOfRange(e.T)
	x, y := a.v, b.v
	switch {
	case isDecimal && e.Op == expr.Div:
		return nil, cannot(e)
	case e.Op == expr.Mul:
		out.scale = a.scale + b.scale
	default:
		if x, err = l.aligned(out, x, out.scale-a.scale, e, e.R, msg); err != nil {
			return nil, err
		}
		if y, err = l.aligned(out, y, out.scale-b.scale, e, e.L, msg); err != nil {
			return nil, err
		}
		if out.never {
			return out, nil
		}
	}
	out.v = intOp(valOp(e.Op), x, y)
	if e.T.Kind == table.Date || e.T.Kind == table.Timestamp {
		l.failing(out, out.v, e, msg)
		l.within(out, e, e.T, msg)
		return out, nil
	}
	if !out.v.CanFail {
		return out, nil
	}
	if e.Op == expr.Div || e.Op == expr.Mod {
		if err := l.divisorIsZero(out, e, false); err != nil {
			return nil, err
		}
		if e.Op == expr.Mod || fits(out.v.Lo, out.v.Hi) {
			return out, nil
		}
	}
	l.failing(out, out.v, e, msg)
	return out, nil
}

func valOp(op expr.ArithOp) ValOp { return [...]ValOp{AddV, SubV, MulV, DivV, ModV}[op] }

// aligned brings an operand of e to the larger scale, which happens, and fails,
// only where the other operand is not NULL. A constant that does not fit fails for
// every such record.
func (l *lowerer) aligned(out *value, v *Val, digits int, e *expr.Arith, other expr.Expr, msg string) (*Val, error) {
	before := len(out.fails)
	w := l.rescaled(out, v, digits, e, msg)
	if len(out.fails) == before {
		return w, nil
	}
	p, err := l.null(other, false)
	if err != nil {
		return nil, err
	}
	if v.Op == Const {
		out.never = true
		out.fails = append(out.fails[:before], rowError{p, expr.Errorf(e.P, "%s", msg)})
		return w, nil
	}
	for i := before; i < len(out.fails); i++ {
		out.fails[i].pred = l.and(out.fails[i].pred, p)
	}
	return w, nil
}

// rescaled is v * 10^digits.
func (l *lowerer) rescaled(out *value, v *Val, digits int, e expr.Expr, msg string) *Val {
	if digits == 0 {
		return v
	}
	factor := table.Pow10(digits)
	if v.Op == Const {
		if p := new(big.Int).Mul(v.Lo, factor); p.IsInt64() {
			return constV(p)
		}
	}
	if !factor.IsInt64() {
		// Only 0 survives: multiply twice.
		v = l.rescaled(out, v, 18, e, msg)
		return l.rescaled(out, v, digits-18, e, msg)
	}
	v = intOp(MulV, v, constV(factor))
	l.failing(out, v, e, msg)
	return v
}

// divisorIsZero adds the error of a division by zero: the divisor is 0 and the
// dividend is not NULL (nor, of doubles, NaN).
func (l *lowerer) divisorIsZero(out *value, e *expr.Arith, dividendNaN bool) error {
	zero := &expr.Const{V: table.Value{Type: e.R.Type()}, P: e.P}
	p, err := l.truth(&expr.Compare{Op: expr.EQ, L: e.R, R: zero, P: e.P}, isTrue)
	if err != nil {
		return err
	}
	q, err := l.null(e.L, false)
	if err != nil {
		return err
	}
	if dividendNaN {
		nan := &expr.Const{V: table.Value{Type: e.L.Type(), F: math.NaN()}, P: e.P}
		if q, err = l.truth(&expr.Compare{Op: expr.NE, L: e.L, R: nan, P: e.P}, isTrue); err != nil {
			return err
		}
	}
	out.fails = append(out.fails, rowError{l.and(p, q), expr.Errorf(e.P, expr.MsgDivisionByZero)})
	return nil
}

func (l *lowerer) floatValue(e *expr.Arith, a, b *Val) (*value, error) {
	out := &value{}
	v, why := floatOp(valOp(e.Op), a, b)
	out.v = v
	if why.zero {
		if err := l.divisorIsZero(out, e, a.MayNaN); err != nil {
			return nil, err
		}
	}
	if msg := why.rangeMessage(); msg != "" {
		l.failing(out, v, e, msg)
	}
	if e.T.Kind == table.Real {
		l.roundedTo32(out, e)
	}
	return out, nil
}

// roundedTo32 rounds out's value to a float.
func (l *lowerer) roundedTo32(out *value, e expr.Expr) {
	v, why := round32(out.v)
	out.v = v
	if msg := why.rangeMessage(); msg != "" {
		l.failing(out, v, e, msg)
	}
}

// castValue converts x, the program of e's operand.
func (l *lowerer) castValue(e *expr.Cast, x *value) (*value, error) {
	from, to := e.X.Type(), e.To
	out := &value{v: x.v, scale: x.scale}
	switch {
	case from.Kind == table.Boolean && to.Kind == table.Boolean,
		from.Kind == to.Kind && !to.IsNumeric():
		return out, nil
	case to.IsInteger() && (from.IsExact() || from.Kind == table.Boolean):
		out.v, out.scale = scaledDown(x.v, x.scale), 0
		lo, hi := to.Limits()
		return out, l.bounded(out, e, big.NewInt(lo), big.NewInt(hi), to.String()+" out of range", x)
	case to.Kind == table.Decimal && from.IsExact():
		return l.castDecimal(e, x)
	case to.IsFloat() && from.IsFloat():
		if to.Kind == table.Real && from.Kind == table.Double {
			l.roundedTo32(out, e)
		}
		return out, nil
	case to.IsFloat() && from.IsExact():
		return exactToFloat(e, x, to.Kind == table.Real)
	case to.Kind == table.Timestamp && from.Kind == table.Date:
		const msg = "date out of range for timestamp"
		out.v = intOp(MulV, x.v, constV(big.NewInt(table.MicrosPerDay)))
		l.failing(out, out.v, e, msg)
		l.within(out, e, to, msg)
		return out, nil
	case to.Kind == table.Date && from.Kind == table.Timestamp:
		out.v = floorDiv(x.v, table.MicrosPerDay)
		if anyFails(out.v, x.v) {
			return nil, cannot(e)
		}
		return out, nil
	}
	return nil, cannot(e)
}

func (l *lowerer) castDecimal(e *expr.Cast, x *value) (*value, error) {
	out := &value{v: x.v, scale: e.To.Scale}
	if d := e.To.Scale - x.scale; d >= 0 {
		out.v = l.rescaled(out, x.v, d, e, expr.OutOfRange(e.To))
	} else {
		out.v = scaledDown(x.v, -d)
	}
	if e.To.Precision == 0 || e.To.Precision >= 18 {
		return out, nil
	}
	hi := table.Pow10(e.To.Precision)
	hi.Sub(hi, big.NewInt(1))
	msg := "numeric field overflow: a value does not fit " + e.To.String()
	return out, l.bounded(out, e, new(big.Int).Neg(hi), hi, msg, x)
}

// bounded adds the error msg for values outside [lo, hi]. The program goes on with
// such a value; the query fails all the same.
func (l *lowerer) bounded(out *value, e expr.Expr, lo, hi *big.Int, msg string, x *value) error {
	if anyFails(out.v, x.v) && len(out.fails) == 0 {
		return cannot(e)
	}
	l.outside(out, e, lo, hi, msg)
	return nil
}

// within adds the error msg for values outside the limits of type t.
func (l *lowerer) within(out *value, e expr.Expr, t table.Type, msg string) {
	lo, hi := t.Limits()
	l.outside(out, e, big.NewInt(lo), big.NewInt(hi), msg)
}

func (l *lowerer) outside(out *value, e expr.Expr, lo, hi *big.Int, msg string) {
	below := l.programs(expr.LT, out.v, constV(lo), e.String()+" < "+lo.String())
	above := l.programs(expr.GT, out.v, constV(hi), e.String()+" > "+hi.String())
	if p := l.or(below, above); p.Op != False {
		out.fails = append(out.fails, rowError{p, expr.Errorf(e.Pos(), "%s", msg)})
	}
}

// anyFails reports whether v, down to its part x, has operations that can fail.
func anyFails(v, x *Val) bool {
	if v == x {
		return false
	}
	if v.CanFail {
		return true
	}
	for _, k := range v.Kids {
		if anyFails(k, x) {
			return true
		}
	}
	return false
}

// scaledDown is v / 10^digits rounded, halves away from zero: with q the quotient
// by half of that, (q + q % 2) / 2.
func scaledDown(v *Val, digits int) *Val {
	if digits == 0 {
		return v
	}
	if digits > 19 {
		return intOp(MulV, v, constV(new(big.Int))) // 64 bits have 19 digits: it is less than a half
	}
	half := new(big.Int).Mul(big.NewInt(5), table.Pow10(digits-1))
	q := intOp(DivV, v, constV(half))
	two := constV(big.NewInt(2))
	return intOp(DivV, intOp(AddV, q, intOp(ModV, q, two)), two)
}

// floorDiv is v / d rounded down, d > 0: (v - ((v % d) + d) % d) / d.
func floorDiv(v *Val, d int64) *Val {
	c := constV(big.NewInt(d))
	m := intOp(ModV, intOp(AddV, intOp(ModV, v, c), c), c)
	return intOp(DivV, intOp(SubV, v, m), c)
}

// exactToFloat is the float nearest to an integer or DECIMAL. A DECIMAL is the
// quotient of two doubles, rounded once when both are exact.
func exactToFloat(e *expr.Cast, x *value, single bool) (*value, error) {
	lo, hi := clip(x.v)
	exact := lo.CmpAbs(two53) <= 0 && hi.CmpAbs(two53) <= 0
	if (x.scale > 0 || single) && !exact || x.scale > 22 || x.scale > 0 && single {
		return nil, cannot(e)
	}
	v := toFloat(x.v)
	if x.scale > 0 {
		v, _ = floatOp(DivV, v, constF(math.Pow(10, float64(x.scale))))
	}
	if single {
		v, _ = round32(v)
	}
	return &value{v: v}, nil
}

var two53 = big.NewInt(1 << 53)
