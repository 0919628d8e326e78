package oracle

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// dialect writes what differs between databases. Every method writes a whole
// operand, in parentheses where it needs them.
type dialect interface {
	columnType(table.Type) string
	constant(*writer, table.Value)
	cast(*writer, *expr.Cast)
	arith(*writer, *expr.Arith)
	like(*writer, *expr.Like)
	call(*writer, *expr.Call)
	// near says that an answer is right, too, that is not the same.
	near(e expr.Expr, a, b table.Value) bool
	// output is the text of a column as [peer] reads values of that type.
	output(name string, t table.Type) string
	// sum lists what to select to add up a column of an exact type: integers in
	// text or scaled decimals, each to be multiplied by its weight.
	sum(name string) []part
}

// part is one summand of a sum.
type part struct {
	text   string
	weight int64
}

// writer writes a condition for another database.
type writer struct {
	dialect
	text strings.Builder
	args []any
	refs []string // what aggregate references stand for
	// refused says what the database cannot express.
	refused string
}

func (w *writer) put(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			w.text.WriteString(p)
		case expr.Expr:
			w.expr(p)
		case table.Value:
			w.constant(w, p)
		}
	}
}

func (w *writer) refuse(format string, args ...any) {
	if w.refused == "" {
		w.refused = fmt.Sprintf(format, args...)
	}
}

func not(n bool) string {
	if n {
		return "NOT "
	}
	return ""
}

// expr writes e in parentheses, unless it is a column or a constant.
func (w *writer) expr(e expr.Expr) {
	switch e := e.(type) {
	case *expr.Column:
		w.put(e.Name)
	case *expr.Const:
		w.put(e.V)
	case *expr.Cast:
		w.cast(w, e)
	case *expr.Arith:
		w.arith(w, e)
	case *expr.Neg:
		w.put("(-", e.X, ")")
	case *expr.Compare:
		w.put("(", e.L, " ", e.Op.String(), " ", e.R, ")")
	case *expr.And:
		w.junction(e.Kids, " AND ")
	case *expr.Or:
		w.junction(e.Kids, " OR ")
	case *expr.Not:
		w.put("(NOT ", e.X, ")")
	case *expr.Between:
		w.put("(", e.X, " ", not(e.Not), "BETWEEN ", e.Lo, " AND ", e.Hi, ")")
	case *expr.IsNull:
		w.put("(", e.X, " IS ", not(e.Not), "NULL)")
	case *expr.IsTruth:
		w.put("(", e.X, " IS ", not(e.Not), [...]string{"TRUE", "FALSE", "NULL"}[e.Want], ")")
	case *expr.In:
		w.put("(", e.X, " ", not(e.Not), "IN (")
		for i, c := range e.List {
			if i > 0 {
				w.put(", ")
			}
			w.put(c)
		}
		w.put("))")
	case *expr.Like:
		w.like(w, e)
	case *expr.Call:
		w.call(w, e)
	case *expr.AggRef:
		w.put(w.refs[e.Index])
	default:
		w.refuse("%T", e)
	}
}

func (w *writer) junction(kids []expr.Expr, op string) {
	w.put("(")
	for i, k := range kids {
		if i > 0 {
			w.put(op)
		}
		w.put(k)
	}
	w.put(")")
}

// infix writes an operation.
func (w *writer) infix(l expr.Expr, op string, r expr.Expr) { w.put("(", l, " ", op, " ", r, ")") }
