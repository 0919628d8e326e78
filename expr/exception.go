package expr

import (
	"fmt"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Exception is why a value cannot be computed, in PostgreSQL's words. Nil is none. [Raised] makes the error of it.
type Exception struct {
	Code    sqlstate.Code
	Message string
}

func (x *Exception) String() string { return x.Message }

// The exceptions of several operators and functions.
var (
	DivisionByZero = &Exception{sqlstate.DivisionByZero, "division by zero"}
	Overflow       = &Exception{sqlstate.NumericOutOfRange, "value out of range: overflow"}
	Underflow      = &Exception{sqlstate.NumericOutOfRange, "value out of range: underflow"}
	// DateBeyondTimestamps is of a DATE that no TIMESTAMP has.
	DateBeyondTimestamps = &Exception{sqlstate.DatetimeOverflow, "date out of range for timestamp"}

	noModulo        = &Exception{sqlstate.UndefinedFunction, "operator does not exist: double precision % double precision"}
	inputOutOfRange = &Exception{sqlstate.NumericOutOfRange, "input is out of range"}
	logarithmOfZero = &Exception{sqlstate.InvalidArgumentForLog, "cannot take logarithm of zero"}
	negativeLog     = &Exception{sqlstate.InvalidArgumentForLog, "cannot take logarithm of a negative number"}
	negativeRoot    = &Exception{sqlstate.InvalidArgumentForPower, "cannot take square root of a negative number"}
	negativeFactor  = &Exception{sqlstate.NumericOutOfRange, "factorial of a negative number is undefined"}
	infiniteBounds  = &Exception{sqlstate.InvalidArgumentForWidth, "lower and upper bounds must be finite"}
)

// OutOfRange is the exception of a value that overflows a type.
func OutOfRange(t table.Type) *Exception {
	switch t.Kind {
	case table.SmallInt, table.Integer:
		return &Exception{sqlstate.NumericOutOfRange, t.String() + " out of range"}
	case table.Date, table.Interval:
		return &Exception{sqlstate.DatetimeOverflow, t.String() + " out of range"}
	case table.Timestamp:
		return &Exception{sqlstate.DatetimeOverflow, "timestamp out of range"}
	case table.Decimal:
		return &Exception{sqlstate.NumericOutOfRange, "numeric out of range"}
	case table.Real, table.Double:
		return Overflow
	}
	return &Exception{sqlstate.NumericOutOfRange, "bigint out of range"}
}

// Beyond is the exception of a number that a type of fewer digits has no room for.
func Beyond(t table.Type) *Exception {
	return &Exception{sqlstate.NumericOutOfRange, "numeric field overflow: a value does not fit " + t.String()}
}

// Raised is the error of an exception of an expression at a position of the text.
func Raised(pos int, x *Exception) error { return &Error{Pos: pos, Code: x.Code, Msg: x.Message} }

// Error is an error at a place in the SQL text.
type Error struct {
	Pos  int // byte offset; -1 when unknown
	Code sqlstate.Code
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// SQLState is the error's code.
func (e *Error) SQLState() string { return string(e.Code) }

// Errorf makes an [Error] without a code, which is none of a statement's, at the position of an expression.
func Errorf(pos int, format string, args ...any) error { return Coded("", pos, format, args...) }

// Coded makes an [Error] of a code at the position of an expression.
func Coded(code sqlstate.Code, pos int, format string, args ...any) error {
	return &Error{Pos: pos, Code: code, Msg: fmt.Sprintf(format, args...)}
}

// ErrorAt makes an [Error] of err, with its code, at the position of an expression.
func ErrorAt(pos int, err error) error {
	return &Error{Pos: pos, Code: sqlstate.Of(err), Msg: err.Error()}
}
