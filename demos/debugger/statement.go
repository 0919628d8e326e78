package debugger

import (
	"cmp"
	"math"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Constant is a literal of the statement that one attribute is compared with.
type Constant struct {
	Col   int
	Text  string // the comparison's left side and operator: "delay >"
	Value table.Value

	from, to int // bytes of the literal in the statement
	axis     *axis
}

// constants finds the literals of a statement that can be changed: those compared
// with an attribute, or between which it lies.
func constants(text string, q *physical.Query, axes func(col int) *axis) []*Constant {
	var list []*Constant
	add := func(x, e expr.Expr, op string) {
		column, ok := bare(x).(*expr.Column)
		c, literal := e.(*expr.Const)
		if !ok || !literal || c.V.Null || !comparable(column.T, c.V.Type) {
			return
		}
		to, ok := literalEnd(text, c.P)
		if !ok {
			return
		}
		list = append(list, &Constant{Col: column.Index, Text: column.Name + " " + op, Value: c.V, from: c.P, to: to, axis: axes(column.Index)})
	}
	if q.Where == nil {
		return nil
	}
	expr.Walk(q.Where, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Compare:
			add(e.L, e.R, e.Op.String())
			add(e.R, e.L, e.Op.Swap().String())
		case *expr.Between:
			low, high := ">=", "<="
			if e.Not {
				low, high = "<", ">"
			}
			add(e.X, e.Lo, low)
			add(e.X, e.Hi, high)
		}
	})
	slices.SortStableFunc(list, func(a, b *Constant) int { return cmp.Compare(a.from, b.from) })
	return list
}

// bare takes the casts off an expression.
func bare(e expr.Expr) expr.Expr {
	for {
		c, ok := e.(*expr.Cast)
		if !ok {
			return e
		}
		e = c.X
	}
}

// comparable reports whether a literal's value has a place among an attribute's.
func comparable(column, literal table.Type) bool {
	for _, k := range []table.Kind{table.Varchar, table.Date, table.Timestamp} {
		if column.Kind == k || literal.Kind == k {
			return column.Kind == literal.Kind
		}
	}
	return column.Kind != table.Boolean && literal.Kind != table.Interval
}

// tokens are those of a statement, without comments; none where it has an error.
func tokens(text string) []*pg.ScanToken {
	r, err := pg.Scan(text)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(r.Tokens, func(t *pg.ScanToken) bool {
		return t.Token == pg.Token_SQL_COMMENT || t.Token == pg.Token_C_COMMENT
	})
}

// literalEnd finds the end of the number or the quoted text that begins at a place. A sign or the name of its
// type may stand before it. What is only a part of a constant is none: 2 of "2 * 3", or what looks like a
// signed one, "+ 3" of "2 + 3".
func literalEnd(text string, from int) (to int, ok bool) {
	list := tokens(text)
	word := func(i int) string {
		if i < 0 || i >= len(list) {
			return ""
		}
		return text[list[i].Start:list[i].End]
	}
	isValue := func(i int) bool {
		if i < 0 || i >= len(list) {
			return false
		}
		k := list[i].Token
		return k == pg.Token_ICONST || k == pg.Token_FCONST || k == pg.Token_SCONST
	}
	i := slices.IndexFunc(list, func(t *pg.ScanToken) bool { return int(t.Start) == from })
	if i < 0 || isValue(i-1) || word(i-1) == ")" {
		return 0, false
	}
	for word(i) == "+" || word(i) == "-" {
		i++
	}
	if w := word(i); strings.EqualFold(w, "date") || strings.EqualFold(w, "timestamp") {
		i++
	}
	next := word(i + 1)
	if !isValue(i) || strings.ContainsAny(word(i)[:1], "eEbBxXnNuU$") || next != "" && strings.ContainsAny(next[:1], "+-*/%^|&") {
		return 0, false // a prefix such as E'...' has a syntax of its own
	}
	return int(list[i].End), true
}

// replaced returns the statement with another value in the place of a constant.
func (c *Constant) replaced(text string, v table.Value) string {
	s := v.String()
	quoted := v.Type.Kind == table.Varchar || v.Type.Kind == table.Date || v.Type.Kind == table.Timestamp
	if quoted || v.Type.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)) {
		s = expr.Quote(s)
	}
	if strings.HasPrefix(s, "-") && c.from > 0 && strings.IndexByte("-+*/<>=", text[c.from-1]) >= 0 {
		s = " " + s // "<-5" and "--5" are something else
	}
	return text[:c.from] + s + text[c.to:]
}
