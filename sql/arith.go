package sql

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

func arith(op expr.ArithOp, l, r expr.Expr, pos int) expr.Expr {
	besideNumbers(commonNumber, l, r)
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
	switch free := isValueless(l) || isValueless(r); {
	case !isUnknown(l) && !isUnknown(r):
		return l, r
	case t.Kind == table.Unknown && free:
		t = double
	case t.Kind == table.Date && op == expr.Add && free:
		t = bigint
	case t.Kind == table.Unknown:
		panic(expr.Coded(sqlstate.AmbiguousFunction, pos, "operator is not unique: unknown %s unknown; add a cast", op))
	case t.Kind == table.Date && op == expr.Add:
		panic(expr.Coded(sqlstate.AmbiguousFunction, pos, "operator is not unique: date + unknown; write INTERVAL '...' or a number of days"))
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

// isValueless reports a column without a value, which is of any type.
func isValueless(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.Valueless
}

// sign is a + or - before x.
func sign(op string, x expr.Expr, pos int) expr.Expr {
	if isValueless(x) {
		x = coerce(x, double)
	}
	t := x.Type()
	switch {
	case t.Kind == table.Unknown:
		panic(expr.Coded(sqlstate.AmbiguousFunction, pos, "operator is not unique: %s unknown; add a cast", op))
	case t.IsNumeric() && op == "+":
		return x
	case !t.IsNumeric() && (t.Kind != table.Interval || op == "+"):
		panic(expr.Coded(sqlstate.UndefinedFunction, pos, "operator does not exist: %s %s", op, typeName(t)))
	}
	if c, ok := x.(*expr.Const); ok && t.IsInteger() && (c.V.I == math.MinInt64 || !t.Holds(-c.V.I)) {
		// Overflows, and reads back as it prints: --9223372036854775808 does not.
		zero := table.Literal(0)
		if t.Kind == table.SmallInt {
			zero.Type = t
		}
		return &expr.Arith{Op: expr.Sub, L: &expr.Const{V: zero, P: pos}, R: x, T: t, P: pos}
	}
	return fold(&expr.Neg{X: x, P: pos})
}

// ofTimes is arithmetic in which a date, a timestamp or an interval takes part.
func ofTimes(op expr.ArithOp, l, r expr.Expr, pos int) expr.Expr {
	lt, rt := l.Type(), r.Type()
	x, y := l, r
	if op == expr.Add && isTime(rt) && !isTime(lt) || op == expr.Mul && rt.Kind == table.Interval { // either order will do
		x, y = r, l
	}
	xt, yt := x.Type(), y.Type()
	plus := op == expr.Add || op == expr.Sub
	switch {
	case isTime(xt) && yt.Kind == table.Interval && plus:
		return shift(op, x, y, pos)
	case xt.Kind == table.Date && yt.IsInteger() && plus:
		return inRange(fold(&expr.Arith{Op: op, L: x, R: y, T: date, P: pos}))
	case xt.Kind == table.Date && yt.Kind == table.Date && op == expr.Sub:
		return fold(&expr.Arith{Op: op, L: x, R: y, T: integer, P: pos})
	case isTime(xt) && isTime(yt) && op == expr.Sub:
		return fold(&expr.Arith{Op: op, L: toTimestamp(x), R: toTimestamp(y), T: interval, P: pos})
	case xt.Kind == table.Interval && (yt.Kind == table.Interval && plus || yt.IsNumeric() && (op == expr.Mul || op == expr.Div)):
		return function(op.String(), []expr.Expr{x, y}, pos)
	}
	panic(noOperator(op.String(), lt, rt, pos))
}

// toTimestamp converts a date or a timestamp.
func toTimestamp(e expr.Expr) expr.Expr { return convert(e, timestamp, e.Pos()) }

// shift is x, a date or timestamp, plus or minus an interval: a timestamp.
func shift(op expr.ArithOp, x, by expr.Expr, pos int) expr.Expr {
	if monthless(by) {
		return inRange(fold(&expr.Arith{Op: op, L: toTimestamp(x), R: by, T: timestamp, P: pos}))
	}
	return inRange(function(op.String(), []expr.Expr{x, by}, pos))
}

// monthless reports an interval that has no months: programs add it as microseconds.
func monthless(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Const:
		return e.V.Months == 0
	case *expr.Neg:
		return monthless(e.X)
	case *expr.Arith:
		return true
	}
	return false
}
