// Package expr holds typed expressions over the columns of one table: what SQL
// text becomes, and what every backend starts from. It knows neither SQL text nor
// GL.
//
// All coercions are explicit: the two sides of a [Compare] have the same kind
// (DECIMALs may differ in scale, integers in width). Where PostgreSQL would convert one of
// them a [Cast] stands there. Semantics are PostgreSQL's: three-valued logic,
// integer division truncating towards zero, NaN equal to itself and largest.
//
// Result types of [Arith]:
//
//   - two integers: the wider of their types, overflow of which is an error;
//   - DECIMAL with DECIMAL (integers are cast to DECIMAL(18,0) by whoever builds the tree):
//   - - % have the larger scale, * the sum of the scales, / is DOUBLE, the quotient rounded once;
//   - REAL with REAL: REAL; all other mixes are cast to DOUBLE first;
//   - DATE +- an integer: DATE; DATE - DATE: INTEGER;
//   - TIMESTAMP +- INTERVAL: TIMESTAMP; TIMESTAMP - TIMESTAMP: INTERVAL (a DATE
//     with an INTERVAL is cast to TIMESTAMP first).
//
// [Eval] says what an expression is in a record; [Compute] computes it of many at once, in vectors.
//
// A [Call] is of a [Function], an entry of a table: the files math.go, text.go, time.go, regexp.go
// and conditional.go have them. An integer parameter takes an integer of any width; abs, mod, gcd, lcm and
// the operators of bits give the widest of them. Those that are not exact take and
// give DOUBLE, also where PostgreSQL has a form for NUMERIC. ROUND and TRUNC of a DOUBLE to
// some digits, which PostgreSQL does not have, go by the shortest decimal that it is.
//
// # Where what is
//
//   - The tree: expr.go, arith.go, truth.go, cast.go, conditional.go, aggregate.go, window.go, subquery.go, walk.go.
//   - Evaluation of one record: eval.go. Of vectors: vectors.go and truth.go by vector.go, kernel.go, cast_kernel.go, number_kernel.go,
//     time_kernel.go, arena.go, source.go.
//   - call.go has calls of functions. Each other file is one family of functions, as PostgreSQL's manual groups them.
//   - Package match matches texts with patterns of LIKE and regular expressions; package format has the patterns of to_char and its like.
//   - Package calendar computes with days, times and zones, package interval with intervals, package power powers of doubles.
package expr

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Expr is a node of a typed expression tree.
type Expr interface {
	// Type is the type of the node's value.
	Type() table.Type
	// Pos is the byte offset in the SQL text, for errors; -1 when unknown.
	Pos() int
	// String writes the node as SQL, fully parenthesised where needed.
	String() string
}

// Column is an attribute of the table.
type Column struct {
	Index int // in table.Table.Fields
	Name  string
	Table string // what FROM calls its table, where there are several; else ""
	T     table.Type
	P     int
}

// Const is a constant.
type Const struct {
	V table.Value
	P int
	// Of is the string or NULL of unknown type that became this text; nil for others.
	Of *Const
	// Valueless says that it is a column in which no record has a value, so that it has no type of its own either.
	Valueless bool
	// Param is, of a parameter whose type is inferred, the type that its first place has given it, which all its places share: unknown before. It is nil for others.
	Param *table.Type
}

// ArithOp is an arithmetic operator.
type ArithOp uint8

// The arithmetic operators.
const (
	Add ArithOp = iota
	Sub
	Mul
	Div
	Mod
)

func (o ArithOp) String() string { return [...]string{"+", "-", "*", "/", "%"}[o] }

// Arith is L Op R.
type Arith struct {
	Op   ArithOp
	L, R Expr
	T    table.Type
	P    int
}

// Neg is -X.
type Neg struct {
	X Expr
	P int
}

// Cast converts X to type To.
type Cast struct {
	X  Expr
	To table.Type
	P  int
}

// CmpOp is a comparison operator.
type CmpOp uint8

// The comparison operators.
const (
	LT CmpOp = iota
	LE
	EQ
	NE
	GE
	GT
)

func (o CmpOp) String() string { return [...]string{"<", "<=", "=", "<>", ">=", ">"}[o] }

// Not returns the operator of the negated comparison: NOT (a < b) is a >= b.
func (o CmpOp) Not() CmpOp { return [...]CmpOp{GE, GT, NE, EQ, LT, LE}[o] }

// Swap returns the operator with its sides exchanged: a < b is b > a.
func (o CmpOp) Swap() CmpOp { return [...]CmpOp{GT, GE, EQ, NE, LE, LT}[o] }

// Holds reports whether c, the sign of a comparison a with b, satisfies a o b.
func (o CmpOp) Holds(c int) bool {
	switch o {
	case LT:
		return c < 0
	case LE:
		return c <= 0
	case EQ:
		return c == 0
	case NE:
		return c != 0
	case GE:
		return c >= 0
	}
	return c > 0
}

// Compare is L Op R.
type Compare struct {
	Op   CmpOp
	L, R Expr
	P    int
}

// And is the conjunction of two or more operands, evaluated left to right.
type And struct {
	Kids []Expr
	P    int
}

// Or is the disjunction of two or more operands, evaluated left to right.
type Or struct {
	Kids []Expr
	P    int
}

// Not is NOT X.
type Not struct {
	X Expr
	P int
}

// Between is X BETWEEN Lo AND Hi (Not: NOT BETWEEN).
type Between struct {
	X, Lo, Hi Expr
	Not       bool
	P         int
}

// Parts are X >= Lo and X <= Hi, of which BETWEEN is the conjunction.
func (e *Between) Parts() []Expr {
	return []Expr{&Compare{Op: GE, L: e.X, R: e.Lo, P: e.P}, &Compare{Op: LE, L: e.X, R: e.Hi, P: e.P}}
}

// IsNull is X IS NULL (Not: IS NOT NULL).
type IsNull struct {
	X   Expr
	Not bool
	P   int
}

// Truth names what [IsTruth] tests for.
type Truth uint8

// The truth values.
const (
	IsTrue Truth = iota
	IsFalse
	IsUnknown
)

// IsTruth is X IS [NOT] TRUE, FALSE or UNKNOWN, of a boolean X.
type IsTruth struct {
	X    Expr
	Want Truth
	Not  bool
	P    int
}

// In is X [NOT] IN (List): constants of X's kind, NULLs among them allowed.
type In struct {
	X    Expr
	List []*Const
	Not  bool
	P    int
}

// Like is X [NOT] LIKE or ILIKE Pattern. Escape is 0 when there is none.
type Like struct {
	X       Expr
	Pattern string
	Escape  rune
	Fold    bool // ILIKE
	Not     bool
	P       int
}

// AggRef stands for a column of what an aggregation gives: of its keys, then the results
// of its aggregates, the one at Index. It occurs above the aggregation only.
type AggRef struct {
	Index int
	Name  string // the aggregate as SQL
	Key   Expr   // the key; nil for an aggregate
	T     table.Type
	P     int
}

var (
	boolean = table.Type{Kind: table.Boolean}
	integer = table.Type{Kind: table.Integer}
)

// Type implements Expr.
func (e *Column) Type() table.Type  { return e.T }
func (e *Const) Type() table.Type   { return e.V.Type }
func (e *Arith) Type() table.Type   { return e.T }
func (e *Neg) Type() table.Type     { return e.X.Type() }
func (e *Cast) Type() table.Type    { return e.To }
func (e *Compare) Type() table.Type { return boolean }
func (e *And) Type() table.Type     { return boolean }
func (e *Or) Type() table.Type      { return boolean }
func (e *Not) Type() table.Type     { return boolean }
func (e *Between) Type() table.Type { return boolean }
func (e *IsNull) Type() table.Type  { return boolean }
func (e *IsTruth) Type() table.Type { return boolean }
func (e *In) Type() table.Type      { return boolean }
func (e *Like) Type() table.Type    { return boolean }
func (e *AggRef) Type() table.Type  { return e.T }

// Pos implements Expr.
func (e *Column) Pos() int  { return e.P }
func (e *Const) Pos() int   { return e.P }
func (e *Arith) Pos() int   { return e.P }
func (e *Neg) Pos() int     { return e.P }
func (e *Cast) Pos() int    { return e.P }
func (e *Compare) Pos() int { return e.P }
func (e *And) Pos() int     { return e.P }
func (e *Or) Pos() int      { return e.P }
func (e *Not) Pos() int     { return e.P }
func (e *Between) Pos() int { return e.P }
func (e *IsNull) Pos() int  { return e.P }
func (e *IsTruth) Pos() int { return e.P }
func (e *In) Pos() int      { return e.P }
func (e *Like) Pos() int    { return e.P }
func (e *AggRef) Pos() int  { return e.P }

func (e *Column) String() string {
	if e.Table != "" {
		return Ident(e.Table) + "." + Ident(e.Name)
	}
	return Ident(e.Name)
}

func (e *Const) String() string {
	if e.V.Null {
		return "NULL"
	}
	switch e.V.Type.Kind {
	case table.SmallInt, table.BigInt:
		if e.V.Type != table.Literal(e.V.I).Type { // as which the digits are read back
			return "CAST(" + e.V.String() + " AS " + e.V.Type.String() + ")"
		}
	case table.Real:
		return "CAST(" + floatText(e.V) + " AS real)"
	case table.Double:
		if text := floatText(e.V); text[0] == '\'' {
			return "CAST(" + text + " AS double precision)"
		}
	case table.Varchar:
		return Quote(e.V.S)
	case table.Date:
		return "DATE '" + e.V.String() + "'"
	case table.Timestamp:
		return "TIMESTAMP '" + e.V.String() + "'"
	case table.Interval:
		return "INTERVAL '" + e.V.String() + "'"
	}
	return e.V.String()
}

// floatText writes a float's digits, quoted where they are none (NaN, infinities).
func floatText(v table.Value) string {
	s := v.String()
	if strings.ContainsAny(s, "Ny") || s == "-0" { // which digits alone are not
		return "'" + s + "'"
	}
	return s
}

// paren writes an operand, in parentheses when it is itself an operation.
func paren(e Expr) string {
	switch e := e.(type) {
	case *Column, *Const, *Cast:
		return e.String()
	case *AggRef:
		if e.Key != nil {
			return paren(e.Key)
		}
		return e.Name
	case *Call:
		if !e.Fn.isOperator() {
			return e.String()
		}
	}
	return "(" + e.String() + ")"
}

// OperandText writes a value as a constant is written beside a column of its type: a number as its digits.
func OperandText(v table.Value) string {
	if v.Type.Kind == table.Real || v.Type.IsInteger() {
		return v.String()
	}
	return (&Const{V: v}).String()
}

// operandText writes an operand that stands beside another one. An integer constant is written as its digits if it means the same
// without its type. It does where it is compared with anything but a constant, or in arithmetic with a BIGINT.
func operandText(e, other Expr, compared bool) string {
	c, ok := e.(*Const)
	if !ok || c.V.Null || !c.V.Type.IsInteger() || !other.Type().IsInteger() {
		return paren(e)
	}
	if _, constant := other.(*Const); constant || !compared && other.Type().Kind != table.BigInt {
		return paren(e)
	}
	return c.V.String()
}

func (e *Arith) String() string {
	return operandText(e.L, e.R, false) + " " + e.Op.String() + " " + operandText(e.R, e.L, false)
}
func (e *Neg) String() string {
	if _, ok := e.X.(*Const); ok {
		return "-(" + e.X.String() + ")" // not --1, a comment
	}
	return "-" + paren(e.X)
}
func (e *Cast) String() string { return "CAST(" + e.X.String() + " AS " + e.To.String() + ")" }
func (e *Compare) String() string {
	return operandText(e.L, e.R, true) + " " + e.Op.String() + " " + operandText(e.R, e.L, true)
}

func join(kids []Expr, sep string) string {
	parts := xslices.Map(kids, paren)
	return strings.Join(parts, sep)
}

func (e *And) String() string { return join(e.Kids, " AND ") }
func (e *Or) String() string  { return join(e.Kids, " OR ") }
func (e *Not) String() string { return "NOT " + paren(e.X) }

func not(n bool) string {
	if n {
		return "NOT "
	}
	return ""
}

func (e *Between) String() string {
	return fmt.Sprintf("%s %sBETWEEN %s AND %s", paren(e.X), not(e.Not), operandText(e.Lo, e.X, true), operandText(e.Hi, e.X, true))
}
func (e *IsNull) String() string { return paren(e.X) + " IS " + not(e.Not) + "NULL" }
func (e *IsTruth) String() string {
	return paren(e.X) + " IS " + not(e.Not) + [...]string{"TRUE", "FALSE", "UNKNOWN"}[e.Want]
}

func (e *In) String() string {
	parts := xslices.Map(e.List, func(c *Const) string { return operandText(c, e.X, true) })
	return paren(e.X) + " " + not(e.Not) + "IN (" + strings.Join(parts, ", ") + ")"
}

func (e *Like) String() string {
	op := "LIKE"
	if e.Fold {
		op = "ILIKE"
	}
	s := paren(e.X) + " " + not(e.Not) + op + " " + Quote(e.Pattern)
	switch e.Escape {
	case '\\': // what LIKE has without ESCAPE
	case 0:
		s += " ESCAPE ''"
	default:
		s += " ESCAPE " + Quote(string(e.Escape))
	}
	return s
}

func (e *AggRef) String() string {
	if e.Key != nil {
		return e.Key.String()
	}
	return e.Name
}

var intervalType = table.Type{Kind: table.Interval}
