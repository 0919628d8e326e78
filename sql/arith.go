package sql

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

func arith(op expr.ArithOp, l, r expr.Expr, pos int) expr.Expr {
	l, r = adaptArith(op, l, r, pos)
	lt, rt := l.Type(), r.Type()
	switch {
	case lt.IsNumeric() && rt.IsNumeric():
		return ofNumbers(op, l, r, pos)
	case isTime(lt) || isTime(rt) || lt.Kind == table.Interval || rt.Kind == table.Interval:
		return ofTimes(op, l, r, pos)
	}
	panic(noOperator(op.String(), lt, rt, pos))
}

// adaptArith gives an operand of unknown type the type that PostgreSQL finds for it
// from the operators there are.
func adaptArith(op expr.ArithOp, l, r expr.Expr, pos int) (expr.Expr, expr.Expr) {
	t := l.Type()
	if isUnknown(l) {
		t = r.Type()
	}
	switch {
	case !isUnknown(l) && !isUnknown(r):
		return l, r
	case t.Kind == table.Unknown:
		panic(expr.Errorf(pos, "operator is not unique: unknown %s unknown; add a cast", op))
	case t.Kind == table.Date && op == expr.Add:
		panic(expr.Errorf(pos, "operator is not unique: date + unknown; write INTERVAL '...' or a number of days"))
	case t.Kind == table.Timestamp && op == expr.Add:
		t = interval
	case t.Kind == table.Interval && (op == expr.Mul || op == expr.Div):
		t = double
	case t.IsNumeric() || t.Kind == table.Interval || isTime(t):
	default:
		panic(noOperator(op.String(), l.Type(), r.Type(), pos))
	}
	return coerce(l, t), coerce(r, t)
}

// ofNumbers is arithmetic of two numbers; the result types are package expr's.
func ofNumbers(op expr.ArithOp, l, r expr.Expr, pos int) expr.Expr {
	lt, rt := l.Type(), r.Type()
	t := commonNumber(lt, rt)
	if op == expr.Mod && t.IsFloat() {
		panic(noOperator("%", lt, rt, pos))
	}
	l, r = widen(l, t), widen(r, t)
	if t.Kind == table.Decimal {
		t = decimalResult(op, l.Type(), r.Type())
	}
	return fold(&expr.Arith{Op: op, L: l, R: r, T: t, P: pos})
}

// maxDigits is the most digits that a DECIMAL column or result is declared with.
const maxDigits = 38

// decimalResult is the type of DECIMAL arithmetic.
func decimalResult(op expr.ArithOp, l, r table.Type) table.Type {
	t := table.Type{Kind: table.Decimal, Precision: maxDigits}
	switch op {
	case expr.Div:
		return double
	case expr.Mul:
		t.Scale = l.Scale + r.Scale
	default:
		t.Scale = max(l.Scale, r.Scale)
	}
	t.Precision = max(t.Precision, t.Scale)
	return t
}

// sign is a + or - before x.
func sign(op string, x expr.Expr, pos int) expr.Expr {
	t := x.Type()
	s, constant := x.(*span)
	switch {
	case t.Kind == table.Unknown:
		panic(expr.Errorf(pos, "operator is not unique: %s unknown; add a cast", op))
	case t.IsNumeric() && op == "+":
		return x
	case constant && op == "-":
		return new(span).add(s, expr.Sub, pos)
	case !t.IsNumeric():
		panic(expr.Errorf(pos, "operator does not exist: %s %s", op, typeName(t)))
	}
	if c, ok := x.(*expr.Const); ok && t.IsInteger() {
		if c.V.I == math.MinInt64 {
			// Overflows, and reads back as it prints: --9223372036854775808 does not.
			return &expr.Arith{Op: expr.Sub, L: &expr.Const{V: table.Int(0), P: pos}, R: x, T: bigint, P: pos}
		}
		wide := *c
		wide.V.Type = bigint
		x = &wide
	}
	return fold(&expr.Neg{X: x, P: pos})
}

// ofTimes is arithmetic in which a date, a timestamp or an interval takes part.
func ofTimes(op expr.ArithOp, l, r expr.Expr, pos int) expr.Expr {
	lt, rt := l.Type(), r.Type()
	x, y := l, r
	if op == expr.Add && isTime(rt) || op == expr.Mul && rt.Kind == table.Interval { // either order will do
		x, y = r, l
	}
	xt, yt := x.Type(), y.Type()
	xs, constant := x.(*span)
	ys, both := y.(*span)
	minus := op == expr.Sub
	plus := op == expr.Add || minus
	switch {
	case constant && both && plus:
		return xs.add(ys, op, pos)
	case constant && yt.IsNumeric() && (op == expr.Mul || op == expr.Div):
		return scaleSpan(op, xs, y, pos)
	case isTime(xt) && yt.Kind == table.Interval && plus:
		return shift(op, x, y, pos)
	case xt.Kind == table.Date && yt.IsInteger() && plus:
		return inRange(fold(&expr.Arith{Op: op, L: x, R: y, T: date, P: pos}))
	case xt.Kind == table.Date && yt.Kind == table.Date && minus:
		return fold(&expr.Arith{Op: op, L: x, R: y, T: bigint, P: pos})
	case isTime(xt) && isTime(yt) && minus:
		e := fold(&expr.Arith{Op: op, L: toTimestamp(x), R: toTimestamp(y), T: interval, P: pos})
		if c, ok := e.(*expr.Const); ok && !c.V.Null {
			return &span{[3]int64{microField: c.V.I}, pos}
		}
		return e
	case lt.Kind == table.Interval && (rt.Kind == table.Interval || rt.IsNumeric()), rt.Kind == table.Interval && lt.IsNumeric():
		panic(expr.Errorf(pos, "arithmetic with intervals that are not constant is not supported: %s of %s and %s", op, typeName(lt), typeName(rt)))
	}
	panic(noOperator(op.String(), lt, rt, pos))
}

// toTimestamp converts a date or a timestamp.
func toTimestamp(e expr.Expr) expr.Expr { return convert(e, timestamp, e.Pos()) }

// shift is x, a date or timestamp, plus or minus an interval: a timestamp.
func shift(op expr.ArithOp, x, by expr.Expr, pos int) expr.Expr {
	x = toTimestamp(x)
	if isNull(x) || isNull(by) {
		return &expr.Const{V: table.Null(timestamp), P: pos}
	}
	s, ok := by.(*span)
	if !ok {
		panic(expr.Errorf(pos, "adding an interval that is not constant is not supported"))
	}
	if c, ok := x.(*expr.Const); ok {
		return s.addTo(c.V.I, op, pos)
	}
	if s.n[monthField] != 0 {
		panic(expr.Errorf(s.pos, "an interval of months or years beside a column is not supported, for a month has no fixed length (%s); use days, or move it to the constant side", s))
	}
	return &expr.Arith{Op: op, L: x, R: s.plain(), T: timestamp, P: pos}
}
