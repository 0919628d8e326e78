package sql

import (
	"math/bits"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

type target struct {
	t      table.Type
	bare   bool   // NUMERIC without digits
	length int    // VARCHAR(n) and CHAR(n); 0: any
	padded bool   // CHAR
	unit   string // INTERVAL '3' DAY: what a bare number counts
}

func (b *binder) target(n *pg.TypeName) target {
	loc := int(n.Location)
	spelled := lastName(n.Names)
	if n.Setof || n.PctType || len(n.ArrayBounds) > 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "arrays and %%TYPE are not supported"))
	}
	if len(n.Names) > 2 || len(n.Names) == 2 && n.Names[0].GetString_().GetSval() != "pg_catalog" {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "a schema before a type's name is not supported"))
	}
	kind, ok := table.KindNamed(spelled)
	padded := spelled == "bpchar"
	if padded {
		kind, ok = table.Varchar, true
	}
	if !ok {
		panic(b.coded(sqlstate.UndefinedObject, loc, "type %s is not supported; there are BOOLEAN, SMALLINT, INTEGER, BIGINT, NUMERIC, REAL, DOUBLE PRECISION, DATE, TIMESTAMP, INTERVAL and VARCHAR%s", spelled,
			map[string]string{"time": "; the time of a timestamp is to_char(x, 'HH24:MI:SS')"}[spelled]))
	}
	to := target{t: table.Type{Kind: kind}, padded: padded}
	mods := b.modifiers(n)
	switch {
	case kind == table.Decimal:
		return b.numericTarget(mods, loc)
	case kind == table.Interval && len(mods) == 1:
		if to.unit, ok = unitOf(mods[0]); !ok {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "INTERVAL with a range of fields is not supported; write INTERVAL '1 day 2 hours'"))
		}
	case kind == table.Varchar && len(mods) == 1:
		if to.length = mods[0]; mods[0] < 1 {
			panic(b.coded(sqlstate.InvalidParameterValue, loc, "length for type %s must be at least 1", map[bool]string{true: "char", false: "varchar"}[padded]))
		}
	case len(mods) > 0:
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "%s with a precision is not supported", strings.ToUpper(spelled)))
	}
	return to
}

func (b *binder) numericTarget(mods []int, loc int) target {
	to := target{t: numeric, bare: len(mods) == 0}
	if len(mods) == 0 {
		return to
	}
	to.t.Precision, to.t.Scale = mods[0], 0
	if len(mods) > 1 {
		to.t.Scale = mods[1]
	}
	if len(mods) > 2 || mods[0] < 1 || mods[0] > maxDigits {
		panic(b.coded(sqlstate.InvalidParameterValue, loc, "NUMERIC precision must be between 1 and %d", maxDigits))
	}
	if to.t.Scale < 0 || to.t.Scale > to.t.Precision {
		panic(b.coded(sqlstate.InvalidParameterValue, loc, "NUMERIC scale must be between 0 and the precision %d", to.t.Precision))
	}
	return to
}

// modifiers reads the integers in parentheses after a type.
func (b *binder) modifiers(n *pg.TypeName) []int {
	var mods []int
	for _, m := range n.Typmods {
		k, ok := b.expr(m).(*expr.Const)
		if !ok || k.V.Null || !k.V.Type.IsInteger() {
			panic(b.errorf(int(n.Location), "type modifiers must be integers"))
		}
		mods = append(mods, int(k.V.I))
	}
	return mods
}

// unitOf reads an interval's field mask: bits 2 year, 1 month, 3 day, 10 hour, 11 minute,
// 12 second.
func unitOf(mask int) (string, bool) {
	if mask <= 0 || bits.OnesCount(uint(mask)) != 1 {
		return "", false
	}
	unit, ok := map[int]string{2: "year", 1: "month", 3: "day", 10: "hour", 11: "minute", 12: "second"}[bits.TrailingZeros(uint(mask))]
	return unit, ok
}

// typeCast is CAST(x AS type), x::type or type 'x'.
func (b *binder) typeCast(n *pg.TypeCast) expr.Expr {
	if n == b.argument {
		return b.assignedArgument(n)
	}
	loc := int(n.Location)
	if loc < 0 {
		loc = int(n.TypeName.GetLocation())
	}
	to := b.target(n.TypeName)
	x := b.expr(n.Arg)
	if to.unit != "" {
		return unitInterval(x, to.unit, b.pos(loc))
	}
	return b.cast(coerce(x, to.t), to, b.pos(loc))
}

// unitInterval is INTERVAL '3' DAY.
func unitInterval(x expr.Expr, unit string, pos int) expr.Expr {
	c, ok := x.(*expr.Const)
	if !ok || c.V.Null || c.V.Type.Kind != table.Unknown || strings.Trim(c.V.S, " +-.0123456789") != "" {
		panic(expr.Coded(sqlstate.SyntaxError, pos, "INTERVAL '...' %s takes a plain number; write INTERVAL '1 day 2 hours'", strings.ToUpper(unit)))
	}
	return readText(c.V.S+" "+unit, interval, c.P)
}

// cast converts x, of known type, as CAST does.
func (b *binder) cast(x expr.Expr, to target, pos int) expr.Expr {
	from := x.Type()
	c, constant := x.(*expr.Const)
	switch {
	case !castable(from, to.t):
		panic(expr.Coded(sqlstate.CannotCoerce, pos, "cannot cast type %s to %s", typeName(from), typeName(to.t)))
	case constant:
		return castConstant(c, to, pos)
	case from.Kind == table.Varchar && to.t.Kind == table.Varchar && to.length == 0 && !to.padded:
		return x
	case to.length > 0 || to.padded:
		x = convert(x, varchar, pos)
		if to.length > 0 {
			x = function("left", []expr.Expr{x, &expr.Const{V: table.Literal(int64(to.length)), P: pos}}, pos)
		}
		if to.padded {
			x = function("rtrim", []expr.Expr{x}, pos)
		}
		return x
	case to.bare && from.Kind == table.Decimal:
		return x
	case to.bare && from.Kind == table.Varchar:
		return b.bareNumeric(x, pos)
	case to.bare && from.IsFloat():
		panic(bareFails(x, pos))
	}
	return convert(x, to.t, pos)
}

// castable reports whether PostgreSQL has the cast at all.
func castable(from, to table.Type) bool {
	return from.Kind == to.Kind || from.IsNumeric() && to.IsNumeric() || isTime(from) && isTime(to) ||
		from.Kind == table.Varchar || to.Kind == table.Varchar ||
		from.Kind == table.Boolean && to.IsInteger() || from.IsInteger() && to.Kind == table.Boolean
}

// castConstant folds a cast. A cast to an integer type that is out of range stays in the tree. Text that
// cannot be read, and a NUMERIC with too many digits, are errors of the statement.
func castConstant(c *expr.Const, to target, pos int) expr.Expr {
	from := c.V.Type
	switch {
	case c.V.Null:
		return &expr.Const{V: table.Null(to.t), P: pos}
	case from.Kind == table.Varchar && to.t.Kind == table.Varchar || to.length > 0 || to.padded:
		s := []rune(c.V.String())
		if to.length > 0 && len(s) > to.length {
			s = s[:to.length]
		}
		text := string(s)
		if to.padded {
			text = strings.TrimRight(text, " ")
		}
		return &expr.Const{V: table.Str(text), P: pos}
	case from.Kind == table.Varchar:
		e := readText(c.V.S, to.t, pos)
		if to.bare || to.t.Kind != table.Decimal {
			return e
		}
		c = e.(*expr.Const)
	case to.bare && from.Kind == table.Decimal:
		return c
	case to.bare && from.IsFloat():
		return floatToNumeric(c, pos)
	}
	e := convert(&expr.Const{V: c.V, P: c.P}, to.t, pos)
	// Package expr takes NUMERIC(18, s) for any 64-bit number; a cast in the
	// text means its 18 digits.
	k, folded := e.(*expr.Const)
	if to.t.Kind == table.Decimal && !to.bare && (!folded || k.V.Unscaled().CmpAbs(table.Pow10(to.t.Precision)) >= 0) {
		panic(expr.Coded(sqlstate.NumericOutOfRange, pos, "numeric field overflow: %s does not fit %s", c.V, to.t))
	}
	if to.t.Kind == table.Decimal && !to.bare {
		k = &expr.Const{V: k.V, P: k.P}
		k.V.Type = to.t // and not of the digits that it has
		return k
	}
	return e
}

// floatToNumeric converts by way of 15 significant digits (REAL: 6), as PostgreSQL
// does. Neither 'g' nor PostgreSQL keeps zeros at the end of a fraction.
func floatToNumeric(c *expr.Const, pos int) expr.Expr {
	v, ok := numericOf(c.V)
	if !ok {
		panic(expr.Coded(sqlstate.NumericOutOfRange, pos, "cannot convert %s to numeric", c.V))
	}
	return canonical(v, pos)
}

// numericOf is a floating-point number so; ok is false of NaN and the infinities.
func numericOf(f table.Value) (v table.Value, ok bool) {
	digits := 15
	if f.Type.Kind == table.Real {
		digits = 6
	}
	n, ok := parseNumber(strconv.FormatFloat(f.F, 'g', digits, 64))
	if !ok {
		return f, false
	}
	t := n.V.Type
	t.Kind = table.Decimal
	return table.Dec(t, n.V.Unscaled()), true
}
