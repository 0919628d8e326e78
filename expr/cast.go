package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/expr/interval"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// cast converts x, not NULL, to type to.
func cast(x table.Value, to table.Type, wide bool, pos int) (table.Value, error) {
	from := x.Type
	if from.Kind == table.Varchar && to.Kind != table.Varchar {
		return castText(x.S, to, wide, pos)
	}
	out := table.Value{Type: to}
	switch {
	case to.Kind == table.Varchar:
		return table.Str(x.String()), nil
	case to.Kind == table.Boolean && (from.IsInteger() || from.Kind == table.Boolean):
		return table.Bool(x.I != 0), nil
	case to.IsInteger() && (from.IsExact() || from.Kind == table.Boolean):
		return castInt(table.RoundedQuotient(x.Unscaled(), table.Pow10(from.Scale)), to, pos)
	case to.IsInteger() && from.IsFloat():
		f := math.RoundToEven(x.F)
		if !(f >= -0x1p63 && f < 0x1p63) {
			return out, Raised(pos, OutOfRange(to))
		}
		return castInt(big.NewInt(int64(f)), to, pos)
	case to.Kind == table.Decimal && from.IsExact():
		return castDecimal(x.Unscaled(), from.Scale, to, wide, pos)
	case to.Kind == table.Decimal && from.IsFloat():
		return floatToDecimal(x, to, wide, pos)
	case to.IsFloat() && from.IsExact():
		out.F = exactToFloat(x, to.Kind == table.Real)
		return out, nil
	case to.Kind == table.Double && from.IsFloat():
		out.F = x.F
		return out, nil
	case to.Kind == table.Real && from.IsFloat():
		var wrong *Exception
		if out.F, wrong = Round32(x.F); wrong != nil {
			return out, Raised(pos, wrong)
		}
		return out, nil
	case to.Kind == table.Timestamp && from.Kind == table.Date:
		us, ok, _ := IntOp(Mul, x.I, table.MicrosPerDay)
		if !ok || !to.Holds(us) {
			return out, Raised(pos, DateBeyondTimestamps)
		}
		out.I = us
		return out, nil
	case to.Kind == table.Date && from.Kind == table.Timestamp:
		out.I = table.FloorDiv(x.I, table.MicrosPerDay)
		return out, nil
	case to.Kind == from.Kind:
		return x, nil
	}
	return out, Coded(sqlstate.CannotCoerce, pos, "cannot cast type %s to %s", from, to)
}

// Blanks may stand around a value in a text.
const Blanks = " \t\n\r\v\f"

// NumericOf is the NUMERIC that a text says, of the constant scale beside it. One with more decimals is an error.
var NumericOf *Function

func init() {
	NumericOf = define("numeric_of(text,integer) numeric!", func(a args) (table.Value, error) {
		u, scale, ok := table.ParseNumber(strings.Trim(a.v[0].S, Blanks))
		if !ok {
			return a.failAs(sqlstate.InvalidText, "invalid input syntax for type numeric: %q", a.v[0].S)
		}
		if d := scale - a.T.Scale; d > 0 && new(big.Int).Rem(u, table.Pow10(d)).Sign() != 0 {
			return a.failAs(sqlstate.InvalidParameterValue, "%q has more than the %d decimals that were seen in these texts; write NUMERIC(18, %d)", a.v[0].S, a.T.Scale, min(scale, 18))
		}
		return castDecimal(u, scale, a.T, a.wide, a.P)
	}).as(hidden)
	NumericOf.typed = func(args []Expr) table.Type {
		return table.Type{Kind: table.Decimal, Precision: 18, Scale: int(args[1].(*Const).V.I)}
	}
}

// castText parses s as a value of type to, blanks around it allowed.
func castText(s string, to table.Type, wide bool, pos int) (table.Value, error) {
	in := strings.Trim(s, Blanks)
	code := sqlstate.InvalidText
	if to.Kind == table.Date || to.Kind == table.Timestamp {
		code = sqlstate.InvalidDatetimeFormat
	}
	syntax := func() error { return Coded(code, pos, "invalid input syntax for type %s: %q", to, s) }
	if to.Kind == table.Decimal {
		u, scale, ok := table.ParseNumber(in)
		if !ok {
			return table.Null(to), syntax()
		}
		return castDecimal(u, scale, to, wide, pos)
	}
	if to.Kind == table.Interval {
		sum, ok := interval.Parse(s)
		if !ok {
			return table.Null(to), Coded(sqlstate.InvalidDatetimeFormat, pos, "invalid input syntax for type interval: %q; write for example '2 days 3 hours'", s)
		}
		v, ok := sum.Value()
		if !ok {
			return table.Null(to), Raised(pos, OutOfRange(to))
		}
		return v, nil
	}
	i, f, err := table.Parse(to, in, true)
	switch {
	case err == nil:
		return table.Value{Type: to, I: i, F: f}, nil
	case err == table.ErrSyntax:
		return table.Null(to), syntax()
	case to.IsInteger():
		return table.Null(to), Raised(pos, OutOfRange(to))
	case to.IsFloat():
		return table.Null(to), Coded(sqlstate.NumericOutOfRange, pos, "%q is out of range for type %s", s, to)
	}
	return table.Null(to), Coded(OutOfRange(to).Code, pos, "%s: %q", OutOfRange(to), s)
}

func castInt(i *big.Int, to table.Type, pos int) (table.Value, error) {
	if !i.IsInt64() || !to.Holds(i.Int64()) {
		return table.Null(to), Raised(pos, OutOfRange(to))
	}
	return table.Value{Type: to, I: i.Int64()}, nil
}

// castDecimal brings an integer of one scale to type to, halves away from zero.
//
// The precision is checked, except that of DECIMAL(18, s). Integers are cast to that type where PostgreSQL
// has an unconstrained numeric, so its limit is 64 bits.
func castDecimal(u *big.Int, scale int, to table.Type, wide bool, pos int) (table.Value, error) {
	if d := to.Scale - scale; d >= 0 {
		u = new(big.Int).Mul(u, table.Pow10(d))
	} else {
		u = table.RoundedQuotient(u, table.Pow10(-d))
	}
	if to.Precision > 0 && to.Precision != 18 && u.CmpAbs(table.Pow10(to.Precision)) >= 0 {
		return table.Null(to), Raised(pos, Beyond(to))
	}
	return decimal(to, u, wide, pos)
}

// floatToDecimal converts as PostgreSQL does: through 15 significant digits of a
// DOUBLE, 6 of a REAL.
func floatToDecimal(x table.Value, to table.Type, wide bool, pos int) (table.Value, error) {
	if math.IsNaN(x.F) || math.IsInf(x.F, 0) {
		return table.Null(to), Coded(sqlstate.NumericOutOfRange, pos, "cannot convert %s to numeric", x)
	}
	digits := 15
	if x.Type.Kind == table.Real {
		digits = 6
	}
	// Far outside 64 bits at any scale: do not write out hundreds of digits.
	if math.Abs(x.F) >= 1e60 {
		return table.Null(to), Raised(pos, OutOfRange(to))
	}
	u, scale, _ := table.ParseNumber(strconv.FormatFloat(x.F, 'e', digits-1, 64))
	return castDecimal(u, scale, to, wide, pos)
}

// exactToFloat is the double (or float) nearest to an integer or DECIMAL.
func exactToFloat(x table.Value, single bool) float64 {
	if x.Type.Scale == 0 && x.Big == nil {
		if single {
			return float64(float32(x.I))
		}
		return float64(x.I)
	}
	r := new(big.Rat).SetFrac(x.Unscaled(), table.Pow10(x.Type.Scale))
	if single {
		f, _ := r.Float32()
		return float64(f)
	}
	f, _ := r.Float64()
	return f
}
