package sql

import (
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// target is what a cast names.
type target struct {
	t      table.Type
	bare   bool   // NUMERIC without digits
	length int    // VARCHAR(n); 0: any
	unit   string // INTERVAL '3' DAY: what a bare number counts
}

// target resolves the type a cast names.
func (b *binder) target(n *pg.TypeName) (target, error) {
	loc := int(n.Location)
	spelled := lastName(n.Names)
	if n.Setof || n.PctType || len(n.ArrayBounds) > 0 {
		return target{}, b.errorf(loc, "arrays and %%TYPE are not supported")
	}
	if len(n.Names) > 2 || len(n.Names) == 2 && n.Names[0].GetString_().GetSval() != "pg_catalog" {
		return target{}, b.errorf(loc, "a schema before a type's name is not supported")
	}
	kind, ok := table.KindNamed(spelled)
	if !ok {
		return target{}, b.errorf(loc, "type %s is not supported; there are BOOLEAN, SMALLINT, INTEGER, BIGINT, NUMERIC, REAL, DOUBLE PRECISION, DATE, TIMESTAMP, INTERVAL and VARCHAR", spelled)
	}
	to := target{t: table.Type{Kind: kind}}
	mods, err := b.modifiers(n)
	if err != nil {
		return to, err
	}
	switch {
	case kind == table.Decimal:
		return b.numericTarget(mods, loc)
	case kind == table.Interval && len(mods) == 1:
		if to.unit, ok = unitOf(mods[0]); !ok {
			return to, b.errorf(loc, "INTERVAL with a range of fields is not supported; write INTERVAL '1 day 2 hours'")
		}
	case kind == table.Varchar && len(mods) == 1:
		if to.length = mods[0]; mods[0] < 1 {
			return to, b.errorf(loc, "length for type varchar must be at least 1")
		}
	case len(mods) > 0:
		return to, b.errorf(loc, "%s with a precision is not supported", strings.ToUpper(spelled))
	}
	return to, nil
}

func (b *binder) numericTarget(mods []int, loc int) (target, error) {
	to := target{t: numeric, bare: len(mods) == 0}
	if len(mods) == 0 {
		return to, nil
	}
	to.t.Precision, to.t.Scale = mods[0], 0
	if len(mods) > 1 {
		to.t.Scale = mods[1]
	}
	if len(mods) > 2 || mods[0] < 1 || mods[0] > maxDigits {
		return to, b.errorf(loc, "NUMERIC precision must be between 1 and %d", maxDigits)
	}
	if to.t.Scale < 0 || to.t.Scale > to.t.Precision {
		return to, b.errorf(loc, "NUMERIC scale must be between 0 and the precision %d", to.t.Precision)
	}
	return to, nil
}

// modifiers reads the integers in parentheses after a type.
func (b *binder) modifiers(n *pg.TypeName) ([]int, error) {
	var mods []int
	for _, m := range n.Typmods {
		c, err := b.expr(m)
		if err != nil {
			return nil, err
		}
		k, ok := c.(*expr.Const)
		if !ok || k.V.Null || k.V.Type.Kind != table.BigInt {
			return nil, b.errorf(int(n.Location), "type modifiers must be integers")
		}
		mods = append(mods, int(k.V.I))
	}
	return mods, nil
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
func (b *binder) typeCast(n *pg.TypeCast) (expr.Expr, error) {
	loc := int(n.Location)
	if loc < 0 {
		loc = int(n.TypeName.GetLocation())
	}
	to, err := b.target(n.TypeName)
	if err != nil {
		return nil, err
	}
	x, err := b.expr(n.Arg)
	if err != nil {
		return nil, err
	}
	if to.unit != "" {
		return b.unitInterval(x, to.unit, b.pos(loc))
	}
	if isUnknown(x) {
		t := to.t
		if c, ok := x.(*expr.Const); ok && !c.V.Null && t.Kind == table.Interval {
			return readText(c.V.S, t, c.P)
		}
		if c, ok := x.(*expr.Const); ok && !c.V.Null && t.Kind == table.Decimal {
			// Read at its own scale, then brought to the one asked for.
			if x, err = readText(c.V.S, t, c.P); err != nil {
				return nil, err
			}
		} else if x, err = b.coerce(x, t); err != nil {
			return nil, err
		}
	}
	return b.cast(x, to, b.pos(loc))
}

// unitInterval is INTERVAL '3' DAY.
func (b *binder) unitInterval(x expr.Expr, unit string, pos int) (expr.Expr, error) {
	c, ok := x.(*expr.Const)
	if !ok || c.V.Null || c.V.Type.Kind != table.Unknown || strings.Trim(c.V.S, " +-.0123456789") != "" {
		return nil, expr.Errorf(pos, "INTERVAL '...' %s takes a plain number; write INTERVAL '1 day 2 hours'", strings.ToUpper(unit))
	}
	return parseInterval(c.V.S+" "+unit, c.P)
}

// cast converts x, of known type, as CAST does.
func (b *binder) cast(x expr.Expr, to target, pos int) (expr.Expr, error) {
	from := x.Type()
	_, isSpan := x.(*span)
	c, constant := x.(*expr.Const)
	switch {
	case from.Kind == table.Interval || to.t.Kind == table.Interval:
		if from.Kind == to.t.Kind {
			return x, nil
		}
		if constant && from.Kind == table.Varchar && !c.V.Null {
			return readText(c.V.S, to.t, pos)
		}
		if isSpan || !constant {
			return nil, noCast(from, to.t, pos)
		}
	case !castable(from, to.t):
		return nil, noCast(from, to.t, pos)
	case constant:
		return castConstant(c, to, pos)
	case from.Kind == table.Varchar && to.t.Kind == table.Varchar && to.length == 0:
		return x, nil
	case (from.Kind == table.Varchar || to.t.Kind == table.Varchar || from.Kind == table.Boolean != (to.t.Kind == table.Boolean)) &&
		(b.place != inItems || to.length > 0):
		return nil, expr.Errorf(pos, "CAST of a column from %s to %s is not supported", typeName(from), typeName(to.t))
	case to.bare && from.Kind == table.Decimal:
		return x, nil
	case to.bare && from.IsFloat():
		return nil, expr.Errorf(pos, "CAST from %s to NUMERIC needs a precision and a scale: NUMERIC(18, 2)", typeName(from))
	}
	return convert(x, to.t, pos)
}

// castable reports whether PostgreSQL has the cast at all.
func castable(from, to table.Type) bool {
	switch {
	case from.Kind == to.Kind, from.IsNumeric() && to.IsNumeric(), isTime(from) && isTime(to),
		from.Kind == table.Varchar, to.Kind == table.Varchar,
		from.Kind == table.Boolean && to.IsInteger(), from.IsInteger() && to.Kind == table.Boolean:
		return true
	}
	return false
}

func noCast(from, to table.Type, pos int) error {
	return expr.Errorf(pos, "cannot cast type %s to %s", typeName(from), typeName(to))
}

// castConstant folds a cast. One to an integer type that is out of range stays in
// the tree; text that does not read, and a NUMERIC with too many digits, is the
// statement's error.
func castConstant(c *expr.Const, to target, pos int) (expr.Expr, error) {
	from := c.V.Type
	switch {
	case c.V.Null:
		return &expr.Const{V: table.Null(to.t), P: pos}, nil
	case from.Kind == table.Varchar && to.t.Kind == table.Varchar || to.length > 0:
		s := []rune(c.V.String())
		if to.length > 0 && len(s) > to.length {
			s = s[:to.length]
		}
		return &expr.Const{V: table.Str(string(s)), P: pos}, nil
	case from.Kind == table.Varchar && !to.bare:
		e, err := readText(c.V.S, to.t, pos)
		if err != nil || to.t.Kind != table.Decimal {
			return e, err
		}
		c = e.(*expr.Const)
	case from.Kind == table.Varchar:
		return readText(c.V.S, to.t, pos)
	case to.bare && from.Kind == table.Decimal:
		return c, nil
	case to.bare && from.IsFloat():
		return floatToNumeric(c, pos)
	}
	e, err := convert(&expr.Const{V: c.V, P: c.P}, to.t, pos)
	if err != nil {
		return nil, err
	}
	// Package expr takes NUMERIC(18, s) for any 64-bit number; a cast in the
	// text means its 18 digits.
	k, folded := e.(*expr.Const)
	if to.t.Kind == table.Decimal && !to.bare && (!folded || k.V.Unscaled().CmpAbs(table.Pow10(to.t.Precision)) >= 0) {
		return nil, expr.Errorf(pos, "numeric field overflow: %s does not fit %s", c.V, to.t)
	}
	return e, nil
}

// floatToNumeric converts by way of 15 significant digits (REAL: 6), as PostgreSQL
// does.
func floatToNumeric(c *expr.Const, pos int) (expr.Expr, error) {
	digits := 15
	if c.V.Type.Kind == table.Real {
		digits = 6
	}
	n, ok := parseNumber(strconv.FormatFloat(c.V.F, 'g', digits, 64))
	if !ok {
		return nil, expr.Errorf(pos, "cannot convert %s to numeric", c.V)
	}
	u, t := new(big.Int).Set(n.V.Unscaled()), n.V.Type
	t.Kind = table.Decimal
	// 'g' keeps no zeros after the point, and PostgreSQL none either.
	for ten, r := big.NewInt(10), new(big.Int); t.Scale > 0; t.Scale-- {
		q, r := new(big.Int).QuoRem(u, ten, r)
		if r.Sign() != 0 {
			break
		}
		u = q
	}
	return canonical(table.Dec(t, u), pos), nil
}
