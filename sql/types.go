package sql

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

var (
	boolean   = table.Type{Kind: table.Boolean}
	integer   = table.Type{Kind: table.Integer}
	bigint    = table.Type{Kind: table.BigInt}
	double    = table.Type{Kind: table.Double}
	varchar   = table.Type{Kind: table.Varchar}
	date      = table.Type{Kind: table.Date}
	timestamp = table.Type{Kind: table.Timestamp}
	interval  = table.Type{Kind: table.Interval}
	// numeric is what an integer is cast to beside a DECIMAL; see package expr.
	numeric = table.Type{Kind: table.Decimal, Precision: 18}
)

func isTime(t table.Type) bool { return t.Kind == table.Date || t.Kind == table.Timestamp }

func isUnknown(e expr.Expr) bool { return e.Type().Kind == table.Unknown }

// isConstant reports a constant, typed or not yet.
func isConstant(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}

func isNull(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.V.Null
}

// typeName is the name of a type in an error: PostgreSQL's, without digits.
func typeName(t table.Type) string {
	if t.Kind == table.Decimal {
		return "numeric"
	}
	return t.String()
}

func noOperator(op string, l, r table.Type, pos int) error {
	hint := ""
	_, compares := compareOps[op]
	if op == "LIKE" || op == "ILIKE" {
		hint = castHint
	} else if compares && (l.Kind == table.Varchar && r.IsNumeric() || r.Kind == table.Varchar && l.IsNumeric()) {
		hint = "; a text is not compared with a number"
	}
	return expr.Coded(sqlstate.UndefinedFunction, pos, "operator does not exist: %s %s %s%s", typeName(l), op, typeName(r), hint)
}

// commonNumber is the type in which an operator takes two numbers: the wider one for
// two integers, which need no cast.
func commonNumber(l, r table.Type) table.Type {
	switch {
	case l.IsInteger() && r.IsInteger():
		return table.Wider(l, r)
	case l.IsExact() && r.IsExact():
		return numeric
	case l.Kind == table.Real && r.Kind == table.Real:
		return l
	}
	return double
}

// widerNumber is the common type of two elements of a list: the one that the
// other converts to.
func widerNumber(l, r table.Type) table.Type {
	switch {
	case l.Kind == table.Double || r.Kind == table.Double:
		return double
	case l.Kind == table.Real || r.Kind == table.Real:
		return table.Type{Kind: table.Real}
	}
	return commonNumber(l, r)
}

// widen casts a number to a type of [commonNumber] or [widerNumber].
func widen(e expr.Expr, t table.Type) expr.Expr {
	if t.IsInteger() || e.Type().Kind == t.Kind {
		return e
	}
	return convert(e, t, e.Pos())
}

func convert(e expr.Expr, t table.Type, pos int) expr.Expr {
	if e.Type() == t {
		return e
	}
	out := fold(&expr.Cast{X: e, To: t, P: pos})
	from, ok1 := e.(*expr.Const)
	to, ok2 := out.(*expr.Const)
	if ok1 && ok2 && t.IsFloat() && from.V.Type.IsExact() && !to.V.Null &&
		(math.IsInf(to.V.F, 0) || to.V.F == 0 && from.V.Unscaled().Sign() != 0) {
		text := from.V.String()
		if len(text) > 40 {
			text = text[:20] + "..."
		}
		panic(expr.Coded(sqlstate.NumericOutOfRange, pos, "%s is out of range for type %s", text, t))
	}
	return inRange(out)
}

// coerce gives e type t if it is a string literal or NULL of unknown type. It also does so for a parameter that is a number of
// another kind.
func coerce(e expr.Expr, t table.Type) expr.Expr {
	c, ok := e.(*expr.Const)
	switch {
	case isOpen(e) && !(t.IsInteger() && e.Type().IsInteger()):
		inferParameter(e, t)
		return e
	case !isUnknown(e):
		return e
	case !ok:
		panic(expr.Coded(sqlstate.SyntaxError, e.Pos(), "the type of this value is not known"))
	case t.Kind == table.Varchar && c.V.Null:
		return &expr.Const{V: table.Null(t), P: c.P, Of: c}
	case t.Kind == table.Varchar:
		return &expr.Const{V: table.Str(c.V.S), P: c.P, Of: c}
	case c.V.Null:
		return &expr.Const{V: table.Null(t), P: c.P}
	}
	return readText(c.V.S, t, c.P)
}

// asText makes text of what is still of unknown type.
func asText(e expr.Expr) expr.Expr { return coerce(e, varchar) }

// readText reads the string of a literal as type t. The literal then has no other type, so that an error is
// the statement's and not a record's.
func readText(s string, t table.Type, pos int) expr.Expr {
	switch t.Kind {
	case table.Decimal:
		c, ok := parseNumber(s)
		if !ok {
			panic(expr.Coded(sqlstate.InvalidText, pos, "invalid input syntax for type numeric: %q", s))
		}
		c.P = pos
		return convert(c, table.Type{Kind: table.Decimal, Precision: maxDigits, Scale: c.V.Type.Scale}, pos)
	}
	x := &expr.Const{V: table.Str(s), P: pos}
	if t.Kind == table.Varchar {
		return x
	}
	v, err := expr.Eval(&expr.Cast{X: x, To: t, P: pos}, constants)
	if how := map[table.Kind]string{table.Date: "write YYYY-MM-DD", table.Timestamp: "write YYYY-MM-DD HH:MM:SS"}[t.Kind]; err != nil && how != "" {
		if instead := momentWords[strings.ToLower(strings.Trim(s, " +-"))]; instead != "" {
			how = instead
		}
		panic(expr.Coded(sqlstate.Of(err), pos, "%s; %s", err, how))
	}
	return canonical(must(v, err), pos)
}

// momentWords are words for moments that PostgreSQL has, and what there is instead.
var momentWords = map[string]string{
	"now": "write now()", "today": "write current_date", "tomorrow": "write current_date + 1", "yesterday": "write current_date - 1",
	"infinity": "there is no infinite time; NULL may stand for it",
}

// must is a value, or fails with the error beside it.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// constants is the environment of constant expressions: NUMERICs are as wide as
// they need to be.
var constants = &expr.Env{Agg: func(int) table.Value { return table.Value{Null: true} }}

// maxBits bounds folded NUMERICs, which a chain of products would make huge.
const maxBits = 8192

// fold computes e if its operands are constants, and makes it NULL if it is an
// operator with a NULL constant. Where computing fails, e stays: it fails if it is
// evaluated.
func fold(e expr.Expr) expr.Expr {
	switch {
	case strict(e) && slices.ContainsFunc(expr.Kids(e), isNull):
		return &expr.Const{V: table.Null(e.Type()), P: e.Pos()}
	case !ofConstants(e):
		return e
	}
	v, err := expr.Eval(e, constants)
	if err != nil || v.Big != nil && v.Big.BitLen() > maxBits {
		return spelled(e)
	}
	if v.Null {
		v.Type = e.Type()
	}
	return canonical(v, e.Pos())
}

// ofConstants reports an operation that has constants only.
func ofConstants(e expr.Expr) bool {
	return !slices.ContainsFunc(expr.Kids(e), func(k expr.Expr) bool { _, ok := k.(*expr.Const); return !ok })
}

// strict reports an operator that is NULL when an operand is.
func strict(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Call:
		return e.Strict()
	case *expr.Arith, *expr.Neg, *expr.Cast, *expr.Compare, *expr.Not, *expr.Like, *expr.In:
		return true
	}
	return false
}

// canonical makes the constant of a value: a NUMERIC has as many digits as it
// needs at its scale.
func canonical(v table.Value, pos int) *expr.Const {
	if v.Type.Kind == table.Decimal && !v.Null {
		digits := len(new(big.Int).Abs(v.Unscaled()).String())
		v.Type.Precision = max(digits, v.Type.Scale, 1)
	}
	return &expr.Const{V: v, P: pos}
}

// spelled returns e, an operation of constants that fails, with the type of its first operand in its text. A
// DOUBLE or NUMERIC that prints as an integer would be read back as one.
func spelled(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Arith:
		out := *e
		out.L = spelledOperand(e.L)
		return &out
	case *expr.Cast:
		out := *e
		out.X = spelledOperand(e.X)
		return &out
	}
	return e
}

func spelledOperand(e expr.Expr) expr.Expr {
	c, ok := e.(*expr.Const)
	if !ok || c.V.Type.Kind != table.Double && c.V.Type.Kind != table.Decimal {
		return e
	}
	text, ok := parseNumber(c.V.String())
	if !ok || text.V.Type == c.V.Type {
		return e
	}
	text.P = c.P
	return &expr.Cast{X: text, To: c.V.Type, P: c.P}
}

// mayFail reports whether evaluating e may raise an error.
func mayFail(e expr.Expr) (fails bool) {
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Arith, *expr.Neg:
			fails = true
		case *expr.Cast:
			safe := e.X.Type().IsInteger() && (e.To.Kind == table.Double || e.To == numeric || e.To.IsInteger() && table.Wider(e.X.Type(), e.To) == e.To) ||
				e.X.Type().Kind == table.Real && e.To.Kind == table.Double
			fails = fails || !safe
		case *expr.Call:
			fails = fails || e.Fn.Raises
		}
	})
	return fails
}

// inRange is e; it fails for an operation on constants that gives no date or timestamp of
// the calendar.
func inRange(e expr.Expr) expr.Expr {
	if isTime(e.Type()) && ofConstants(e) {
		must(expr.Eval(e, constants))
	}
	return e
}

// junction is AND of all kids, or OR. It flattens operands of its own kind. It leaves out the constant TRUE
// of an AND (FALSE of an OR). The other constant ends the list, and removes the operands before it unless one
// of them may fail.
func junction(kids []expr.Expr, all bool, pos int) expr.Expr {
	var flat, out []expr.Expr
	for _, k := range kids {
		if a, ok := k.(*expr.And); ok && all {
			flat = append(flat, a.Kids...)
		} else if o, ok := k.(*expr.Or); ok && !all {
			flat = append(flat, o.Kids...)
		} else {
			flat = append(flat, k)
		}
	}
	for _, k := range flat {
		if c, ok := k.(*expr.Const); !ok || c.V.Null {
			out = append(out, k)
		} else if c.V.I != 0 != all { // it decides
			if !slices.ContainsFunc(out, mayFail) {
				out = nil
			}
			out = append(out, k)
			break
		}
	}
	switch {
	case len(out) == 0:
		return &expr.Const{V: table.Bool(all), P: pos}
	case len(out) == 1:
		return out[0]
	case all:
		return fold(&expr.And{Kids: out, P: pos})
	}
	return fold(&expr.Or{Kids: out, P: pos})
}
