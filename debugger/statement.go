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
	for i < len(rest) && (isDigit(rest[i]) || rest[i] == '.' ||
		strings.IndexByte("eE", rest[i]) >= 0 && i > digits ||
		strings.IndexByte("+-", rest[i]) >= 0 && strings.IndexByte("eE", rest[i-1]) >= 0 && i > digits) {
		i++
	}
	return from + i, i > digits && (isDigit(rest[digits]) || rest[digits] == '.')
}

// typeName reports whether what stands before a quote is nothing, or the name of a
// type of dates; a prefix such as E'...' has a syntax of its own.
func typeName(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.EqualFold(s, "date") || strings.EqualFold(s, "timestamp")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// replaced returns the statement with another value in the place of a constant.
func (c *Constant) replaced(text string, v table.Value) string {
	s := v.String()
	switch v.Type.Kind {
	case table.Varchar, table.Date, table.Timestamp:
		s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	if strings.HasPrefix(s, "-") && c.from > 0 && strings.IndexByte("-+*/<>=", text[c.from-1]) >= 0 {
		s = " " + s // "<-5" and "--5" are something else
	}
	return text[:c.from] + s + text[c.to:]
}

// axis is the number line of an attribute: its values from the smallest to the
// largest, in proportion, or by rank for text.
type axis struct {
	typ    table.Type
	space  *plan.Space
	lo, hi float64
	step   float64 // of floating point: a round number
}

// newAxis returns the number line of an attribute of a table.
func newAxis(t *table.Table, col int) *axis {
	a := &axis{typ: t.Fields[col].Type, space: plan.NewSpace(t, col)}
	a.lo, a.hi = 0, float64(a.space.Max())
	if !a.typ.IsFloat() {
		return a
	}
	lo, hi := a.space.Value(0).F, a.space.Value(a.space.Max()).F
	if math.IsInf(lo, 0) || math.IsNaN(hi) || math.IsInf(hi, 0) || hi <= lo || math.IsInf(hi-lo, 0) {
		return a
	}
	a.lo, a.hi = lo, hi
	a.step = math.Pow(10, math.Floor(math.Log10((hi-lo)/200)))
	return a
}

// at returns the value at a place from 0 to 1.
func (a *axis) at(place float64) table.Value {
	x := a.lo + min(max(place, 0), 1)*(a.hi-a.lo)
	if a.step == 0 {
		return a.space.Value(min(uint64(math.Round(x)), a.space.Max()))
	}
	digits := max(0, -int(math.Floor(math.Log10(a.step)+0.5)))
	scale := math.Pow(10, float64(digits))
	return table.Float(math.Round(math.Round(x/a.step)*a.step*scale) / scale)
}

// place returns where a value lies, from 0 to 1.
func (a *axis) place(v table.Value) float64 {
	if a.hi <= a.lo {
		return 0
	}
	if a.step != 0 {
		return min(max((number(v)-a.lo)/(a.hi-a.lo), 0), 1)
	}
	top := a.space.Max()
	below := sort.Search(int(min(top, 1<<62)), func(code int) bool { return a.compare(a.space.Value(uint64(code)), v) >= 0 })
	return float64(below) / float64(top)
}

// compare orders a value of the attribute and a constant, which may have another
// numeric type.
func (a *axis) compare(x, v table.Value) int {
	if a.typ.Kind == v.Type.Kind || a.typ.IsInteger() && v.Type.IsInteger() {
		return table.Compare(x, v)
	}
	return table.CompareFloat(number(x), number(v))
}

// next is the place of the constant's value moved by so many steps of the attribute.
func (a *axis) next(v table.Value, steps float64) float64 {
	unit := 1.0
	if a.step != 0 {
		unit = a.step
	}
	return a.place(v) + steps*unit/max(a.hi-a.lo, unit)
}

// number is a value as a number.
func number(v table.Value) float64 {
	switch {
	case v.Type.IsFloat():
		return v.F
	case v.Type.Kind == table.Decimal:
		f, _ := v.Unscaled().Float64()
		return f / math.Pow(10, float64(v.Type.Scale))
	}
	return float64(v.I)
}
