package draw

import (
	"cmp"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// RowQuery is a SELECT of rows: items over the columns of a table.
type RowQuery struct {
	Distinct      bool
	Items         []expr.Expr
	Where         expr.Expr
	Keys          []OrderKey
	Limit, Offset int // limit is -1 for none
}

// OrderKey is a key of ORDER BY: a select item by its position or name, or an expression.
type OrderKey struct {
	expr.SortKey
	text string // of the item; "" of an expression
}

// Order is how the key is ordered, with NULLS where ours alone are not PostgreSQL's own.
func (k OrderKey) Order(always bool) string {
	text, nulls := "", ""
	if k.Desc {
		text = " DESC"
	}
	if nulls = " NULLS LAST"; k.NullsFirst {
		nulls = " NULLS FIRST"
	}
	if always || k.NullsFirst != k.Desc {
		text += nulls
	}
	return text
}

func Rows(t *rapid.T, tab *table.Table, knobs plantest.Knobs) *RowQuery {
	q := &RowQuery{Limit: -1, Where: Query(t, tab, knobs).Where, Distinct: rapid.IntRange(0, 4).Draw(t, "distinct") == 0}
	for range rapid.IntRange(1, 4).Draw(t, "items") {
		q.Items = append(q.Items, plantest.Item(t, tab, knobs))
	}
	for range max(0, rapid.IntRange(-3, 3).Draw(t, "keys")) {
		at := rapid.IntRange(0, len(q.Items)-1).Draw(t, "item")
		k := OrderKey{SortKey: expr.SortKey{E: q.Items[at], Desc: rapid.Bool().Draw(t, "desc"), NullsFirst: rapid.Bool().Draw(t, "nulls first")}}
		e := plantest.Item(t, tab, knobs)
		switch _, constant := e.(*expr.Const); {
		case !q.Distinct && rapid.Bool().Draw(t, "hidden") && !constant:
			k.E = e
		case rapid.Bool().Draw(t, "named"):
			k.text = fmt.Sprintf("c%d", at)
		default:
			k.text = fmt.Sprint(at + 1)
		}
		q.Keys = append(q.Keys, k)
	}
	if rapid.Bool().Draw(t, "limited") {
		q.Limit = rapid.IntRange(0, tab.Rows()+1).Draw(t, "limit")
	}
	if rapid.IntRange(0, 2).Draw(t, "late") == 0 {
		q.Offset = rapid.IntRange(0, 5).Draw(t, "offset")
	}
	return q
}

// Tail is LIMIT and OFFSET.
func (q *RowQuery) Tail() string {
	text := ""
	if q.Limit >= 0 {
		text = fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	if q.Offset > 0 {
		text += fmt.Sprintf(" OFFSET %d", q.Offset)
	}
	return text
}

func (q *RowQuery) Text(tab *table.Table) string {
	var items []string
	for i, e := range q.Items {
		items = append(items, fmt.Sprintf("%s AS c%d", e, i))
	}
	text := "SELECT " + []string{"", "DISTINCT "}[Int(q.Distinct)] + strings.Join(items, ", ") + " FROM " + tab.Name
	if q.Where != nil {
		text += " WHERE " + q.Where.String()
	}
	for i, k := range q.Keys {
		text += []string{" ORDER BY ", ", "}[Int(i > 0)] + cmp.Or(k.text, k.E.String()) + k.Order(false)
	}
	return text + q.Tail()
}
