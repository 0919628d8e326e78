package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	distinct      bool
	items         []expr.Expr
	where         expr.Expr
	keys          []orderKey
	limit, offset int // limit is -1 for none
}

// orderKey is a key of ORDER BY: a select item by its position or name, or an expression.
type orderKey struct {
	expr.SortKey
	text string // of the item; "" of an expression
}

// order is how the key is ordered, with NULLS where ours alone are not PostgreSQL's own.
func (k orderKey) order(always bool) string {
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

func drawRows(t *rapid.T, tab *table.Table, knobs plantest.Knobs) *rowQuery {
	q := &rowQuery{limit: -1, where: drawQuery(t, tab, knobs).Where, distinct: rapid.IntRange(0, 4).Draw(t, "distinct") == 0}
	for range rapid.IntRange(1, 4).Draw(t, "items") {
		q.items = append(q.items, plantest.Item(t, tab, knobs))
	}
	for range max(0, rapid.IntRange(-3, 3).Draw(t, "keys")) {
		at := rapid.IntRange(0, len(q.items)-1).Draw(t, "item")
		k := orderKey{SortKey: expr.SortKey{E: q.items[at], Desc: rapid.Bool().Draw(t, "desc"), NullsFirst: rapid.Bool().Draw(t, "nulls first")}}
		e := plantest.Item(t, tab, knobs)
		switch _, constant := e.(*expr.Const); {
		case !q.distinct && rapid.Bool().Draw(t, "hidden") && !constant:
			k.E = e
		case rapid.Bool().Draw(t, "named"):
			k.text = fmt.Sprintf("c%d", at)
		default:
			k.text = fmt.Sprint(at + 1)
		}
		q.keys = append(q.keys, k)
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
	text := "SELECT " + []string{"", "DISTINCT "}[b2i(q.distinct)] + strings.Join(items, ", ") + " FROM " + tab.Name
	if q.where != nil {
		text += " WHERE " + q.where.String()
	}
	for i, k := range q.keys {
		text += []string{" ORDER BY ", ", "}[b2i(i > 0)] + cmp.Or(k.text, k.E.String()) + k.order(false)
	}
	return text + q.tail()
}

// reference computes the rows of a bound query one by one: WHERE for all of them, then the
// keys of ORDER BY, by which a plain sort of values orders them, then the items in order
// until as many are computed as are asked for. Rows before an error of an item are returned
// with it. The items of DISTINCT are computed of all rows, and those that remain are ordered.
func reference(tab *table.Table, tree plan.Node) (out [][]table.Value, err error) {
	limit, offset := int64(-1), int64(0)
	if l, ok := tree.(*plan.Limit); ok {
		limit, offset, tree = l.Count, l.Offset, l.Input
	}
	if limit == 0 {
		return nil, nil // nothing is evaluated
	}
	var keys []expr.SortKey
	sorted := func() {
		if s, ok := tree.(*plan.Sort); ok {
			keys, tree = s.Keys, s.Input
		}
	}
	sorted()
	d, distinct := tree.(*plan.Distinct)
	if distinct {
		tree = d.Input
	}
	p := tree.(*plan.Project)
	tree = p.Input
	sorted()
	selected, err := selectedRows(tab, tree.(*plan.Fragment).Where)
	if err == nil && distinct {
		selected, err = distinctRows(selected, p)
	}
	if err == nil {
		err = inOrder(selected, keys)
	}
	if err != nil {
		return nil, err
	}
	for i, env := range selected {
		if limit >= 0 && int64(i) >= offset+limit {
			break
		}
		row, err := itemsOf(p, env)
		if err != nil {
			return out, err
		}
		if int64(i) >= offset {
			out = append(out, row)
		}
	}
	return out, nil
}

// selectedRows are the rows of a table for which a condition, unless it is nil, is TRUE.
func selectedRows(tab *table.Table, where expr.Expr) (selected []*expr.Env, err error) {
	for _, c := range tab.Chunks {
		for row := range c.Rows {
			if !c.IsLive(row) {
				continue
			}
			env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
			if where != nil {
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
	return selected, nil
}

// itemsOf computes the select list of a row, which it is itself behind DISTINCT. DECIMALs
// have up to 38 digits.
func itemsOf(p *plan.Project, env *expr.Env) (row []table.Value, err error) {
	for i, item := range p.Items {
		e := item.E
		if env.Agg != nil {
			e = &expr.AggRef{Index: i}
		}
		v, err := narrow(expr.Eval(e, wide(env)))
		if err != nil {
			return nil, err
		}
		row = append(row, v)
	}
	return row, nil
}

// wide lets DECIMALs have as many digits as they take.
func wide(env *expr.Env) *expr.Env {
	if env.Agg != nil {
		return env
	}
	return &expr.Env{Column: env.Column, Agg: env.Column}
}

// distinctRows are the select lists of rows, of those that are alike the first.
func distinctRows(rows []*expr.Env, p *plan.Project) (out []*expr.Env, err error) {
	seen := map[string]bool{}
	for _, env := range rows {
		row, err := itemsOf(p, env)
		if err != nil {
			return nil, err
		}
		text := ""
		for _, v := range row {
			if v.F == 0 {
				v.F = 0 // not -0
			}
			text += fmt.Sprintf("%v %q,", v.Null, v)
		}
		if seen[text] {
			continue
		}
		seen[text] = true
		at := func(i int) table.Value { return row[i] }
		out = append(out, &expr.Env{Column: at, Agg: at})
	}
	return out, nil
}

// inOrder sorts rows by keys; those that are alike keep their order.
func inOrder(rows []*expr.Env, keys []expr.SortKey) error {
	values := map[*expr.Env][]table.Value{}
	for _, env := range rows {
		for _, k := range keys {
			v, err := narrow(expr.Eval(k.E, wide(env)))
			if err != nil {
				return err
			}
			values[env] = append(values[env], v)
		}
	}
	slices.SortStableFunc(rows, func(a, b *expr.Env) int {
		for i, k := range keys {
			x, y := values[a][i], values[b][i]
			c := 0
			switch {
			case x.Null && y.Null:
			case x.Null != y.Null:
				if c = 1; x.Null == k.NullsFirst {
					c = -1
				}
			case k.Desc:
				c = table.Compare(y, x)
			default:
				c = table.Compare(x, y)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return nil
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
	if !h.rowsAgree(t, tab, text, want, wantErr) || q.distinct { // the peer is asked for one item at a time
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
	comparable := true
	for i, k := range q.keys {
		w.put([]any{" ORDER BY ", ", "}[b2i(i > 0)], k.E, k.order(true))
		comparable = comparable && k.E.Type().Kind != table.Decimal && k.E.Type().Kind != table.Interval
	}
	if len(q.keys) > 0 {
		w.put(", rowid") // ours keep the order of the table
	}
	tail := q.tail()
	if q.limit < 0 && q.offset > 0 {
		tail = " LIMIT 1000000" + tail // SQLite has no OFFSET alone
	}
	if k := e.Type().Kind; w.refused != "" || !comparable || k == table.Decimal || k == table.Interval {
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
		if v, err := fromPeer(g, e.Type()); err != nil || !same(v, want[r][i]) && !p.near(e, v, want[r][i]) {
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
