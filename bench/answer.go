package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Answer is the rows that a statement gave.
type Answer [][]table.Value

// first is the first row as text.
func (a Answer) first() []string {
	list := []string{}
	if len(a) > 0 {
		for _, v := range a[0] {
			list = append(list, v.String())
		}
	}
	return list
}

// oneText is an answer of one row of text.
func oneText(cells ...string) Answer {
	var row []table.Value
	for _, c := range cells {
		row = append(row, table.Str(c))
	}
	return Answer{row}
}

// Shape says how the rows of two right answers of a statement may differ. The zero value is
// that of rows in any order.
type Shape struct {
	Keys  []int // the columns by which the rows are ordered, as far as they are among the answer's
	Skips bool  // OFFSET: of the rows alike in Keys that come first any may be missing
	Most  int64 // LIMIT: of those that come last too, where there are so many; 0 for none
	Picks bool  // DISTINCT ON: the other columns are of any row of several
}

// readBy are the columns of each table that a statement reads, and the shape of its answer.
func readBy(text string, tables []*table.Table) (columns map[string][]int, s Shape, err error) {
	list, err := sql.Parse(text)
	if err != nil {
		return nil, s, err
	}
	c := sql.Catalog{Table: func(i int) (*table.Table, error) { return tables[i], nil }}
	for _, t := range tables {
		c.Names = append(c.Names, t.Name)
	}
	tree, err := list[0].Bind(c)
	if err != nil {
		return nil, s, err
	}
	_, columns = readsOf(tree)
	return columns, shapeOf(tree), nil
}

// readsOf lists the tables that a tree reads, in the order of FROM, and the columns that it reads of each; those of its
// subqueries, too.
func readsOf(tree plan.Node) (names []string, columns map[string][]int) {
	columns = map[string][]int{}
	add := func(name string, reads []int) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		list := columns[name]
		for _, col := range reads {
			if !slices.Contains(list, col) {
				list = append(list, col)
			}
		}
		columns[name] = list // of none, too
	}
	seen := map[*plan.Subplan]bool{}
	var visit func(tree plan.Node)
	visit = func(tree plan.Node) {
		switch n := tree.(type) {
		case *plan.Concat, *plan.Recursion, *plan.Window:
			for _, in := range n.Inputs() {
				visit(in)
			}
			return
		}
		for _, f := range plan.Fragments(rules.CutFragments(plan.DerivedAsScans(tree))) {
			for i, s := range plan.Scans(f.Tree) {
				if s.Of == nil {
					add(s.Table, f.Scanned()[i])
				}
			}
		}
		for _, s := range plan.Subplans(tree) {
			if !seen[s] {
				seen[s] = true
				visit(s.Tree)
			}
		}
	}
	visit(tree)
	return names, columns
}

// shapeOf is the shape of what a tree gives.
func shapeOf(n plan.Node) (s Shape) {
	if l, ok := n.(*plan.Limit); ok {
		s.Skips, s.Most, n = l.Offset > 0, max(0, l.Count), l.Input
	}
	var sort *plan.Sort
	var column func(e expr.Expr) int
	switch top := n.(type) {
	case *plan.Project:
		sort, _ = top.Input.(*plan.Sort)
		column = func(e expr.Expr) int {
			return slices.IndexFunc(top.Items, func(i plan.Item) bool { return i.E.String() == e.String() && i.E.Type() == e.Type() })
		}
	case *plan.Sort: // of a DISTINCT, by its columns
		sort = top
		column = func(e expr.Expr) int { return e.(*expr.Column).Index }
	}
	if sort == nil {
		return s
	}
	s.Picks = sort.Unique > 0
	for _, k := range sort.Keys {
		i := column(k.E)
		if i < 0 {
			break
		}
		s.Keys = append(s.Keys, i)
	}
	return s
}

// difference is what two answers have, where they differ first.
type difference struct{ got, want string }

// compare finds where an answer differs from the right one; nil for nowhere. Unless exact,
// floating-point numbers that differ in their last digits are equal.
func (s Shape) compare(want, got Answer, exact bool) *difference {
	rows := func(a Answer) string { return numbers.Count(len(a), "row", "rows") }
	if len(want) != len(got) {
		return &difference{rows(got), rows(want)}
	}
	if len(want) == 0 {
		return nil
	}
	if len(want[0]) != len(got[0]) {
		return &difference{shown(got[0]), shown(want[0])}
	}
	c := newComparison(want, got, exact)
	for from, to := 0, 0; from < len(c.want); from = to {
		for to = from + 1; to < len(c.want) && c.alike(c.want[from], c.want[to], s.Keys); to++ {
		}
		for i := from; i < to; i++ {
			if !c.alike(c.want[i], c.got[i], s.Keys) {
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
			if !c.alike(c.want[i], c.got[i], c.columns) {
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
		kinds := map[kind]bool{}
		near := 1e-9
		for _, a := range []Answer{want, got} {
			for _, row := range a {
				if v := row[col]; !v.Null {
					kinds[kindOf(v.Type)] = true
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
			as = func(v table.Value) table.Value { return table.Float(floatOf(v)) }
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

// kind is of types whose values [table.Compare] compares.
type kind int

const (
	ofNumbers kind = iota // and BOOLEAN, which is 0 or 1 elsewhere
	ofFloats
	ofDates
	ofTimes
	ofText
	ofIntervals
)

func kindOf(t table.Type) kind {
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

// floatOf is a number as a DOUBLE.
func floatOf(v table.Value) float64 {
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

// alike reports whether two rows are the same in some columns.
func (c *comparison) alike(a, b []table.Value, columns []int) bool {
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
func (c *comparison) difference(i int) *difference {
	return &difference{shown(c.got[i]), shown(c.want[i])}
}

// shown is the start of a row as text.
func shown(row []table.Value) string {
	const most = 100
	var cells []string
	for _, v := range row {
		cells = append(cells, v.String())
	}
	text := []rune(strings.Join(cells, ", "))
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return cmp.Or(string(text), "''")
}

// DifferError is the error of contenders that give different answers.
type DifferError struct {
	Trial *Trial
	// System gives Got where Other gives Want: rows, or how many there are.
	System, Other, Got, Want string
}

// reason is the difference as the reason of a [Skip].
func (e *DifferError) reason() string {
	return fmt.Sprintf("another answer: it gives %s, %s gives %s", e.Got, e.Other, e.Want)
}

func (e *DifferError) Error() string {
	text := fmt.Sprintf("%s over %s: %s gives %s, %s gives %s: %s", e.Trial.Operation, numbers.Count(e.Trial.Rows, "row", "rows"), e.System, e.Got, e.Other, e.Want, e.Trial.SQL)
	if _, peer := peers[e.System]; peer {
		text += "; where the two mean different things by it, write it otherwise, or leave " + e.System + " out with --peers"
	}
	return text
}
