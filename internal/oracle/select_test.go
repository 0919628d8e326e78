package oracle

import (
	"context"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// rowQuery is a SELECT of rows: items over the columns of a table.
type rowQuery struct {
	items         []expr.Expr
	where         expr.Expr
	limit, offset int // limit is -1 for none
}

func drawRows(t *rapid.T, tab *table.Table, k plantest.Knobs) *rowQuery {
	q := &rowQuery{limit: -1, where: drawQuery(t, tab, k).Where}
	for range rapid.IntRange(1, 4).Draw(t, "items") {
		q.items = append(q.items, plantest.Item(t, tab, k))
	}
	if rapid.Bool().Draw(t, "limited") {
		q.limit = rapid.IntRange(0, tab.Rows()+1).Draw(t, "limit")
	}
	if rapid.IntRange(0, 2).Draw(t, "late") == 0 {
		q.offset = rapid.IntRange(0, 5).Draw(t, "offset")
	}
	return q
}

// tail is LIMIT and OFFSET.
func (q *rowQuery) tail() string {
	text := ""
	if q.limit >= 0 {
		text = fmt.Sprintf(" LIMIT %d", q.limit)
	}
	if q.offset > 0 {
		text += fmt.Sprintf(" OFFSET %d", q.offset)
	}
	return text
}

func (q *rowQuery) text(tab *table.Table) string {
	var items []string
	for i, e := range q.items {
		items = append(items, fmt.Sprintf("%s AS c%d", e, i))
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + tab.Name
	if q.where != nil {
		text += " WHERE " + q.where.String()
	}
	return text + q.tail()
}

// reference computes the rows of a bound query one by one: WHERE for all of them, then
// the items in order until as many are computed as are asked for. Rows before an error
// of an item are returned with it.
func reference(tab *table.Table, tree plan.Node) (out [][]table.Value, err error) {
	limit, offset := int64(-1), int64(0)
	if l, ok := tree.(*plan.Limit); ok {
		limit, offset, tree = l.Count, l.Offset, l.Input
	}
	if limit == 0 {
		return nil, nil // nothing is evaluated
	}
	p := tree.(*plan.Project)
	var selected []*expr.Env
	for _, c := range tab.Chunks {
		for row := range c.Rows {
			env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
			if !c.IsLive(row) {
				continue
			}
			if where := p.Input.(*plan.Fragment).Where; where != nil {
				v, err := expr.Eval(where, env)
				if err != nil {
					return nil, err
				}
				if v.Null || v.I == 0 {
					continue
				}
			}
			selected = append(selected, env)
		}
	}
	for i, env := range selected {
		if limit >= 0 && int64(i) >= offset+limit {
			break
		}
		var row []table.Value
		for _, item := range p.Items {
			v, err := expr.Eval(item.E, env)
			if err != nil {
				return out, err
			}
			row = append(row, v)
		}
		if int64(i) >= offset {
			out = append(out, row)
		}
	}
	return out, nil
}

// checkRows runs a drawn query of rows and compares it with the reference, and, where it
// raises no error, item by item with the peer.
func (h *harness) checkRows(t *rapid.T, tab *table.Table, k plantest.Knobs, p *peer) {
	q := drawRows(t, tab, k)
	text := q.text(tab)
	h.queries++
	tree, err := bind(tab, text)
	if err != nil {
		h.allRefuse(t, text)
		h.refused++
		return
	}
	want, wantErr := reference(tab, tree)
	if !h.rowsAgree(t, tab, text, want, wantErr) {
		return
	}
	for i, e := range q.items {
		h.checkItem(t, tab, q, i, e, want, p)
	}
}

// rowsAgree checks that every backend gives these rows, then an error where there is one. It
// reports whether there is none.
func (h *harness) rowsAgree(t fataler, tab *table.Table, text string, want [][]table.Value, wantErr error) bool {
	for _, db := range h.asked(text) {
		got, err := rowsOf(db.Query(context.Background(), text))
		if unsupported(db, err) {
			h.declined++
			continue
		}
		if (err == nil) != (wantErr == nil) || !sameRows(got, want) {
			t.Fatalf("%s\n%s: %v (%v)\nwant %v (%v)\n%s", text, db.name, got, err, want, wantErr, dump(tab))
		}
	}
	if wantErr != nil {
		h.failed++
	}
	return wantErr == nil
}

// checkItem compares one item with the peer.
func (h *harness) checkItem(t *rapid.T, tab *table.Table, q *rowQuery, i int, e expr.Expr, want [][]table.Value, p *peer) {
	w := &writer{dialect: p.dialect}
	w.put(e)
	item := p.output(w.text.String(), e.Type())
	w.text.Reset()
	w.put("SELECT ", item, " FROM ", tab.Name, " WHERE ")
	if q.where == nil {
		w.put("1 = 1")
	} else {
		w.put(q.where)
	}
	tail := q.tail()
	if q.limit < 0 && q.offset > 0 {
		tail = " LIMIT 1000000" + tail // SQLite has no OFFSET alone
	}
	if k := e.Type().Kind; w.refused != "" || k == table.Decimal || k == table.Interval {
		h.inexpressible++
		return
	}
	got, err := (&selection{p: p, args: w.args}).query(strings.TrimPrefix(w.text.String(), "SELECT "), tail)
	if err != nil && p.eager {
		h.inexpressible++
		return
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s\nthe peer: %v: %d rows, want %d\n%s", q.text(tab), err, len(got), len(want), dump(tab))
	}
	h.compared++
	for r, g := range got {
		if v, err := fromPeer(g, e.Type()); err != nil || !same(v, want[r][i]) {
			t.Fatalf("%s\nthe peer has %v (%v) for %v in row %d, everyone else %v\n%s", q.text(tab), v, err, e, r, want[r][i], dump(tab))
		}
	}
}

// rowsOf reads the rows that come, and the error that ends them.
func rowsOf(rows *engine.Rows, err error) (out [][]table.Value, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		out = append(out, rows.Values())
	}
	return out, rows.Err()
}

func sameRows(a, b [][]table.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if different(a[i], b[i]) >= 0 {
			return false
		}
	}
	return true
}
