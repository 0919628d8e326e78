package answer

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Answer is the rows that a statement gave.
type Answer [][]table.Value

// FirstRow is the first row as text.
func (a Answer) FirstRow() []string {
	list := []string{}
	if len(a) > 0 {
		for _, v := range a[0] {
			list = append(list, v.String())
		}
	}
	return list
}

// OfText is an answer of one row of text.
func OfText(cells ...string) Answer {
	row := xslices.Map(cells, table.Str)
	return Answer{row}
}

// difference is what two answers have, where they differ first.
type Difference struct{ Got, Want string }

// Compare finds where an answer differs from the right one; nil for nowhere. Unless exact,
// floating-point numbers that differ in their last digits are equal.
func (s Shape) Compare(want, got Answer, exact bool) *Difference {
	rows := func(a Answer) string { return numbers.Count(len(a), "row", "rows") }
	if len(want) != len(got) {
		return &Difference{rows(got), rows(want)}
	}
	if len(want) == 0 {
		return nil
	}
	if len(want[0]) != len(got[0]) {
		return &Difference{shown(got[0]), shown(want[0])}
	}
	c := newComparison(want, got, exact)
	for from, to := 0, 0; from < len(c.want); from = to {
		for to = from + 1; to < len(c.want) && c.equalRows(c.want[from], c.want[to], s.Keys); to++ {
		}
		for i := from; i < to; i++ {
			if !c.equalRows(c.want[i], c.got[i], s.Keys) {
				return c.difference(i)
			}
		}
		open := s.Picks || from == 0 && s.Skips || to == len(c.want) && int64(to) == s.Most
		if open {
			continue
		}
		slices.SortFunc(c.want[from:to], c.order)
		slices.SortFunc(c.got[from:to], c.order)
		for i := from; i < to; i++ {
			if !c.equalRows(c.want[i], c.got[i], c.columns) {
				return c.difference(i)
			}
		}
	}
	return nil
}

// comparison is two answers, of as many rows, whose columns have the same types.
type comparison struct {
	want, got Answer
	columns   []int // by which rows are sorted: those of floating-point numbers last
	exact     bool
	near      []float64 // how far numbers of a column may lie apart, as a share of them
}

// newComparison brings the values of each column to one type: to text where nothing else does.
func newComparison(want, got Answer, exact bool) *comparison {
	c := &comparison{want: rowsOf(want), got: rowsOf(got), exact: exact}
	var floats []int
	for col := range want[0] {
		kinds := map[valueKind]bool{}
		near := 1e-9
		for _, a := range []Answer{want, got} {
			for _, row := range a {
				if v := row[col]; !v.Null {
					kinds[valueKindOf(v.Type)] = true
					if v.Type.Kind == table.Real {
						near = 1e-5
					}
				}
			}
		}
		c.near = append(c.near, near)
		as := func(v table.Value) table.Value { return v }
		switch {
		case len(kinds) == 1:
		case len(kinds) == 2 && kinds[ofNumbers] && kinds[ofFloats]:
			as = func(v table.Value) table.Value { return table.Float(FloatOf(v)) }
		case len(kinds) == 2 && kinds[ofDates] && kinds[ofTimes]:
			as = timeOf
		default:
			as = func(v table.Value) table.Value { return table.Str(v.String()) }
		}
		if kinds[ofFloats] {
			floats = append(floats, col)
		} else {
			c.columns = append(c.columns, col)
		}
		for _, a := range []Answer{c.want, c.got} {
			for _, row := range a {
				if !row[col].Null {
					row[col] = as(row[col])
				}
			}
		}
	}
	c.columns = append(c.columns, floats...)
	return c
}

// rowsOf is a copy of an answer.
func rowsOf(a Answer) Answer {
	out := make(Answer, len(a))
	for i, row := range a {
		out[i] = slices.Clone(row)
	}
	return out
}

// valueKind is of types whose values [table.Compare] compares.
type valueKind int

const (
	ofNumbers valueKind = iota // and BOOLEAN, which is 0 or 1 elsewhere
	ofFloats
	ofDates
	ofTimes
	ofText
	ofIntervals
)

func valueKindOf(t table.Type) valueKind {
	switch {
	case t.IsFloat():
		return ofFloats
	case t.Kind == table.Date:
		return ofDates
	case t.Kind == table.Timestamp:
		return ofTimes
	case t.Kind == table.Varchar:
		return ofText
	case t.Kind == table.Interval:
		return ofIntervals
	}
	return ofNumbers
}

// FloatOf is a number as a DOUBLE.
func FloatOf(v table.Value) float64 {
	if v.Type.IsFloat() {
		return v.F
	}
	f, _ := new(big.Rat).SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale)).Float64() // the nearest
	return f
}

// timeOf is a date as the timestamp of its midnight.
func timeOf(v table.Value) table.Value {
	if v.Type.Kind == table.Date {
		return table.Value{Type: table.Type{Kind: table.Timestamp}, I: v.I * table.MicrosPerDay}
	}
	return v
}

// equalRows reports whether two rows are the same in some columns.
func (c *comparison) equalRows(a, b []table.Value, columns []int) bool {
	for _, col := range columns {
		x, y := a[col], b[col]
		switch {
		case x.Null || y.Null:
			if x.Null != y.Null {
				return false
			}
		case table.Compare(x, y) == 0:
		case c.exact || !x.Type.IsFloat() || !(math.Abs(x.F-y.F) <= c.near[col]*min(math.Abs(x.F), math.MaxFloat64)):
			return false
		}
	}
	return true
}

// order sorts rows, NULLs first.
func (c *comparison) order(a, b []table.Value) int {
	key := expr.SortKey{NullsFirst: true}
	for _, col := range c.columns {
		if o := key.Compare(a[col], b[col]); o != 0 {
			return o
		}
	}
	return 0
}

// difference shows the rows at i.
func (c *comparison) difference(i int) *Difference {
	return &Difference{shown(c.got[i]), shown(c.want[i])}
}

// shown is the start of a row as text.
func shown(row []table.Value) string {
	const most = 100
	cells := xslices.Map(row, table.Value.String)
	text := []rune(strings.Join(cells, ", "))
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return cmp.Or(string(text), "''")
}
