package debugger

import (
	"math"
	"sort"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
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
func constants(text string, q *plan.Query, axes func(col int) *axis) []*Constant {
	var list []*Constant
	add := func(x, e expr.Expr, op string) {
		column, ok := bare(x).(*expr.Column)
		c, literal := e.(*expr.Const)
		if !ok || !literal || c.V.Null || !comparable(column.T, c.V.Type) {
			return
		}
		to, ok := literalEnd(text, c.P)
		if !ok || calculated(text, c.P, to) {
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
	sort.SliceStable(list, func(i, j int) bool { return list[i].from < list[j].from })
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

// literalEnd finds the end of the number or the quoted text that begins at a place,
// a sign or the name of its type before it.
func literalEnd(text string, from int) (to int, ok bool) {
	if from < 0 || from >= len(text) {
		return 0, false
	}
	rest := text[from:]
	if i := strings.IndexByte(rest, '\''); i >= 0 && typeName(rest[:i]) {
		for i++; i < len(rest); i++ {
			if rest[i] != '\'' {
				continue
			}
			if i+1 == len(rest) || rest[i+1] != '\'' {
				return from + i + 1, true
			}
			i++
		}
		return 0, false
	}
	i := len(rest) - len(strings.TrimLeft(rest, "+- "))
	digits := i
	sign := func(i int) bool { // of an exponent; 0x1e+1 is a sum
		return strings.IndexByte("+-", rest[i]) >= 0 && i > digits && strings.IndexByte("eE", rest[i-1]) >= 0 &&
			!strings.ContainsAny(rest[digits:i], "xX")
	}
	for i < len(rest) && (isDigit(rest[i]) || isLetter(rest[i]) || rest[i] == '.' || rest[i] == '_' || sign(i)) {
		i++ // a lexer takes letters behind digits for the number's, too
	}
	return from + i, i > digits && (isDigit(rest[digits]) || rest[digits] == '.')
}

// calculated reports whether a literal is only a part of the constant: 2 of "2 * 3", or
// what looks like a signed one, "+ 3" of "2 + 3".
func calculated(text string, from, to int) bool {
	if next := strings.TrimSpace(text[to:]); next != "" && strings.IndexByte("+-*/%^|&", next[0]) >= 0 {
		return true
	}
	before := strings.TrimSpace(text[:from])
	word := before[strings.LastIndexFunc(before, func(r rune) bool {
		return r > 127 || !isDigit(byte(r)) && !isLetter(byte(r)) && r != '_' && r != '.'
	})+1:]
	return word != "" && isDigit(word[0]) || strings.HasSuffix(before, ")") || strings.HasSuffix(before, "'")
}

// typeName reports whether what stands before a quote is nothing, or the name of a
// type of dates; a prefix such as E'...' has a syntax of its own.
func typeName(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.EqualFold(s, "date") || strings.EqualFold(s, "timestamp")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// replaced returns the statement with another value in the place of a constant.
func (c *Constant) replaced(text string, v table.Value) string {
	s := v.String()
	quoted := v.Type.Kind == table.Varchar || v.Type.Kind == table.Date || v.Type.Kind == table.Timestamp
	if quoted || v.Type.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)) {
		s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	if strings.HasPrefix(s, "-") && c.from > 0 && strings.IndexByte("-+*/<>=", text[c.from-1]) >= 0 {
		s = " " + s // "<-5" and "--5" are something else
	}
	return text[:c.from] + s + text[c.to:]
}
