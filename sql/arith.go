package sql

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// arith is l op r.
func (b *binder) arith(op expr.ArithOp, l, r expr.Expr, pos int) (expr.Expr, error) {
	l, r, err := b.adaptArith(op, l, r, pos)
	if err != nil {
		return nil, err
	}
	lt, rt := l.Type(), r.Type()
	switch {
	case lt.IsNumeric() && rt.IsNumeric():
		return b.numbers(op, l, r, pos)
	case isTime(lt) || isTime(rt) || lt.Kind == table.Interval || rt.Kind == table.Interval:
		return times(op, l, r, pos)
	}
	return nil, noOperator(op.String(), lt, rt, pos)
}

// adaptArith gives an operand of unknown type the type that PostgreSQL finds for it
// from the operators there are.
func (b *binder) adaptArith(op expr.ArithOp, l, r expr.Expr, pos int) (expr.Expr, expr.Expr, error) {
	lu, ru := isUnknown(l), isUnknown(r)
	if !lu && !ru {
		return l, r, nil
	}
	if lu && ru {
		return nil, nil, expr.Errorf(pos, "operator is not unique: unknown %s unknown; add a cast", op)
	}
	u, t := l, r.Type()
	if ru {
		u, t = r, l.Type()
	}
	switch {
	case t.IsNumeric():
	case t.Kind == table.Date && op == expr.Add:
		return nil, nil, expr.Errorf(pos, "operator is not unique: date + unknown; write INTERVAL '...' or a number of days")
	case t.Kind == table.Timestamp && op == expr.Add:
		t = interval
	case t.Kind == table.Interval && (op == expr.Mul || op == expr.Div):
		t = double
	case t.Kind == table.Interval || isTime(t):
	default:
		return nil, nil, noOperator(op.String(), l.Type(), r.Type(), pos)
	}
	u, err := b.coerce(u, t)
	if ru {
		return l, u, err
	}
	return u, r, err
}

// numbers is arithmetic of two numbers; the result types are package expr's.
func (b *binder) numbers(op expr.ArithOp, l, r expr.Expr, pos int) (expr.Expr, error) {
	lt, rt := l.Type(), r.Type()
	t := commonNumber(lt, rt)
	if op == expr.Mod && t.IsFloat() {
		return nil, noOperator("%", lt, rt, pos)
	}
	l, err := widen(l, t)
	if err != nil {
		return nil, err
	}
	if r, err = widen(r, t); err != nil {
		return nil, err
	}
	if t.Kind == table.Decimal {
		if op == expr.Div && (len(expr.Columns(l)) > 0 || len(expr.Columns(r)) > 0) {
			return nil, expr.Errorf(pos, "division of numeric values of columns is not supported (its scale depends on each value); cast one side: CAST(%s AS DOUBLE PRECISION)", l)
		}
		t = decimalResult(op, l.Type(), r.Type())
	}
	return fold(&expr.Arith{Op: op, L: l, R: r, T: t, P: pos}), nil
}

// maxDigits is the most digits that a DECIMAL column or result is declared with.
const maxDigits = 38

// decimalResult is the type of DECIMAL arithmetic. The scale of a quotient is the
// least one that PostgreSQL may choose; its value says which it was.
func decimalResult(op expr.ArithOp, l, r table.Type) table.Type {
	t := table.Type{Kind: table.Decimal, Precision: maxDigits}
	switch op {
	case expr.Mul:
		t.Scale = l.Scale + r.Scale
	case expr.Div:
		t.Scale = max(16, l.Scale, r.Scale)
	default:
		t.Scale = max(l.Scale, r.Scale)
	}
	t.Precision = max(t.Precision, t.Scale)
	return t
}

// sign is a + or - before x.
func (b *binder) sign(op string, x expr.Expr, pos int) (expr.Expr, error) {
	t := x.Type()
	if t.Kind == table.Unknown {
		return nil, expr.Errorf(pos, "operator is not unique: %s unknown; add a cast", op)
	}
	s, constant := x.(*span)
	switch {
	case t.IsNumeric() && op == "+":
		return x, nil
	case constant && op == "-":
		return s.times(-1, pos)
	case !t.IsNumeric():
		return nil, expr.Errorf(pos, "operator does not exist: %s %s", op, typeName(t))
	}
	if c, ok := x.(*expr.Const); ok && t.IsInteger() {
		if c.V.I == math.MinInt64 {
			// Overflows, and reads back as it prints: --9223372036854775808 does not.
			return &expr.Arith{Op: expr.Sub, L: &expr.Const{V: table.Int(0), P: pos}, R: x, T: bigint, P: pos}, nil
		}
		wide := *c
		wide.V.Type = bigint
		x = &wide
	}
	return fold(&expr.Neg{X: x, P: pos}), nil
}

// times is arithmetic in which a date, a timestamp or an interval takes part.
func times(op expr.ArithOp, l, r expr.Expr, pos int) (expr.Expr, error) {
	lt, rt := l.Type(), r.Type()
	ls, lSpan := l.(*span)
	rs, rSpan := r.(*span)
	plus, minus := op == expr.Add, op == expr.Sub
	switch {
	case lSpan && rSpan && plus:
		return ls.add(rs, 1, pos)
	case lSpan && rSpan && minus:
		return ls.add(rs, -1, pos)
	case lSpan && rt.IsNumeric() && (op == expr.Mul || op == expr.Div):
		return scaleSpan(op, ls, r, pos)
	case rSpan && lt.IsNumeric() && op == expr.Mul:
		return scaleSpan(op, rs, l, pos)
	case isTime(lt) && rt.Kind == table.Interval && (plus || minus):
		return shift(op, l, r, pos)
	case lt.Kind == table.Interval && isTime(rt) && plus:
		return shift(op, r, l, pos)
	case lt.Kind == table.Date && rt.IsInteger() && (plus || minus):
		return timeResult(&expr.Arith{Op: op, L: l, R: r, T: date, P: pos})
	case lt.IsInteger() && rt.Kind == table.Date && plus:
		return timeResult(&expr.Arith{Op: op, L: r, R: l, T: date, P: pos})
	case lt.Kind == table.Date && rt.Kind == table.Date && minus:
		return fold(&expr.Arith{Op: op, L: l, R: r, T: bigint, P: pos}), nil
	case isTime(lt) && isTime(rt) && minus:
		return timeDifference(l, r, pos)
	case lt.Kind == table.Interval && (rt.Kind == table.Interval || rt.IsNumeric()), rt.Kind == table.Interval && lt.IsNumeric():
		return nil, expr.Errorf(pos, "arithmetic with intervals that are not constant is not supported: %s of %s and %s", op, typeName(lt), typeName(rt))
	}
	return nil, noOperator(op.String(), lt, rt, pos)
}

// timeResult folds and checks that a constant lies in the calendar.
func timeResult(e expr.Expr) (expr.Expr, error) {
	e = fold(e)
	return e, inRange(e)
}

// timestamps converts two dates or timestamps.
func timestamps(l, r expr.Expr) (expr.Expr, expr.Expr, error) {
	l, err := convert(l, timestamp, l.Pos())
	if err == nil {
		r, err = convert(r, timestamp, r.Pos())
	}
	return l, r, err
}

func timeDifference(l, r expr.Expr, pos int) (expr.Expr, error) {
	l, r, err := timestamps(l, r)
	if err != nil {
		return nil, err
	}
	e := fold(&expr.Arith{Op: expr.Sub, L: l, R: r, T: interval, P: pos})
	if c, ok := e.(*expr.Const); ok && !c.V.Null {
		return &span{micros: c.V.I, pos: pos}, nil
	}
	return e, nil
}

// shift is x, a date or timestamp, plus or minus an interval: a timestamp.
func shift(op expr.ArithOp, x, by expr.Expr, pos int) (expr.Expr, error) {
	x, err := convert(x, timestamp, x.Pos())
	if err != nil {
		return nil, err
	}
	if isNull(x) || isNull(by) {
		return &expr.Const{V: table.Null(timestamp), P: pos}, nil
	}
	s, ok := by.(*span)
	if !ok {
		return nil, expr.Errorf(pos, "adding an interval that is not constant is not supported")
	}
	if c, ok := x.(*expr.Const); ok {
		n := int64(1)
		if op == expr.Sub {
			n = -1
		}
		return s.addTo(c.V.I, n, pos)
	}
	if s.months != 0 {
		return nil, expr.Errorf(s.pos, "an interval of months or years beside a column is not supported, for a month has no fixed length (%s); use days, or move it to the constant side", s)
	}
	by, err = s.plain()
	if err != nil {
		return nil, err
	}
	return &expr.Arith{Op: op, L: x, R: by, T: timestamp, P: pos}, nil
}
