package harness

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Dialect writes what differs between databases. Every method writes a whole
// operand, in parentheses where it needs them.
type Dialect interface {
	ColumnType(table.Type) string
	Constant(*Writer, table.Value)
	Cast(*Writer, *expr.Cast)
	Arith(*Writer, *expr.Arith)
	Like(*Writer, *expr.Like)
	Call(*Writer, *expr.Call)
	// Near says that an answer is right, too, that is not the same.
	Near(e expr.Expr, a, b table.Value) bool
	// Output is the text of a column as [Peer] reads values of that type.
	Output(name string, t table.Type) string
	// Sum lists what to select to add up a column of an exact type. These are integers in text or scaled
	// decimals, each to be multiplied by its weight.
	Sum(name string) []Part
}

// Part is one summand of a sum.
type Part struct {
	Text   string
	Weight int64
}

// Writer writes a condition for another database.
type Writer struct {
	Dialect
	Text strings.Builder
	Args []any
	Refs []string // what aggregate references stand for
	// Refused says what the database cannot express.
	Refused string
}

// Put writes texts, expressions and constants.
func (w *Writer) Put(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			w.Text.WriteString(p)
		case expr.Expr:
			w.expr(p)
		case table.Value:
			w.Constant(w, p)
		}
	}
}

// Refuse says what the database cannot express; the first is kept.
func (w *Writer) Refuse(format string, args ...any) {
	if w.Refused == "" {
		w.Refused = fmt.Sprintf(format, args...)
	}
}

// Not is NOT where n holds.
func Not(n bool) string {
	if n {
		return "NOT "
	}
	return ""
}

// expr writes e in parentheses, unless it is a column or a constant.
func (w *Writer) expr(e expr.Expr) {
	switch e := e.(type) {
	case *expr.Column:
		w.Put(e.Name)
	case *expr.Const:
		w.Put(e.V)
	case *expr.Cast:
		w.Cast(w, e)
	case *expr.Arith:
		w.Arith(w, e)
	case *expr.Neg:
		w.Put("(-", e.X, ")")
	case *expr.Compare:
		w.Put("(", e.L, " ", e.Op.String(), " ", e.R, ")")
	case *expr.And:
		w.junction(e.Kids, " AND ")
	case *expr.Or:
		w.junction(e.Kids, " OR ")
	case *expr.Not:
		w.Put("(NOT ", e.X, ")")
	case *expr.Between:
		w.Put("(", e.X, " ", Not(e.Not), "BETWEEN ", e.Lo, " AND ", e.Hi, ")")
	case *expr.IsNull:
		w.Put("(", e.X, " IS ", Not(e.Not), "NULL)")
	case *expr.IsTruth:
		w.Put("(", e.X, " IS ", Not(e.Not), [...]string{"TRUE", "FALSE", "NULL"}[e.Want], ")")
	case *expr.In:
		w.Put("(", e.X, " ", Not(e.Not), "IN (")
		for i, c := range e.List {
			if i > 0 {
				w.Put(", ")
			}
			w.Put(c)
		}
		w.Put("))")
	case *expr.Like:
		w.Like(w, e)
	case *expr.Call:
		w.Call(w, e)
	case *expr.AggRef:
		w.Put(w.Refs[e.Index])
	default:
		w.Refuse("%T", e)
	}
}

func (w *Writer) junction(kids []expr.Expr, op string) {
	w.Put("(")
	for i, k := range kids {
		if i > 0 {
			w.Put(op)
		}
		w.Put(k)
	}
	w.Put(")")
}

// Infix writes an operation.
func (w *Writer) Infix(l expr.Expr, op string, r expr.Expr) { w.Put("(", l, " ", op, " ", r, ")") }
