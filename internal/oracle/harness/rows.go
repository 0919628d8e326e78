package harness

import (
	"context"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/reference"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// CheckRows runs a drawn query of rows and compares it with the reference, and, where it
// raises no error, item by item with the peer.
func (h *Harness) CheckRows(t *rapid.T, tab *table.Table, k plantest.Knobs, p *Peer) {
	q := draw.Rows(t, tab, k)
	text := q.Text(tab)
	h.Queries++
	tree, err := Bind(tab, text)
	if err != nil {
		h.allRefuse(t, text)
		h.Refused++
		return
	}
	want, wantErr := reference.Rows(tab, tree)
	if !h.RowsAgree(t, tab, text, want, wantErr) || q.Distinct { // the peer is asked for one item at a time
		return
	}
	for i, e := range q.Items {
		h.CheckItem(t, tab, q, i, e, want, p)
	}
}

// RowsAgree checks that every backend gives these rows, then an error where there is one. It
// reports whether there is none.
func (h *Harness) RowsAgree(t fataler, tab *table.Table, text string, want [][]table.Value, wantErr error) bool {
	for _, db := range h.asked(text) {
		got, err := RowsOf(db.Query(context.Background(), text))
		if unsupported(db, err) {
			h.Declined++
			continue
		}
		if (err == nil) != (wantErr == nil) || !sameRows(got, want) {
			t.Fatalf("%s\n%s: %v (%v)\nwant %v (%v)\n%s", text, db.name, got, err, want, wantErr, Dump(tab))
		}
		h.planned(t, db, text)
	}
	if wantErr != nil {
		h.Failed++
	}
	return wantErr == nil
}

// planned checks that a statement has a physical plan, which is a valid DAG of pipelines: of what cpu is asked, so once a statement.
func (h *Harness) planned(t fataler, db DB, text string) {
	if db.Backend() != "cpu" {
		return
	}
	if _, err := db.Explain(context.Background(), text, engine.ExplainOptions{Pipelines: true}); err != nil {
		t.Fatalf("%s\nhas no pipelines: %v", text, err)
	}
}

// CheckItem compares one item with the peer.
func (h *Harness) CheckItem(t *rapid.T, tab *table.Table, q *draw.RowQuery, i int, e expr.Expr, want [][]table.Value, p *Peer) {
	w := &Writer{Dialect: p.Dialect}
	w.Put(e)
	item := p.Output(w.Text.String(), e.Type())
	w.Text.Reset()
	w.Put("SELECT ", item, " FROM ", tab.Name, " WHERE ")
	if q.Where == nil {
		w.Put("1 = 1")
	} else {
		w.Put(q.Where)
	}
	comparable := true
	for i, k := range q.Keys {
		w.Put([]any{" ORDER BY ", ", "}[draw.Int(i > 0)], k.E, k.Order(true))
		comparable = comparable && k.E.Type().Kind != table.Decimal && k.E.Type().Kind != table.Interval
	}
	if len(q.Keys) > 0 {
		w.Put(", rowid") // ours keep the order of the table
	}
	tail := q.Tail()
	if q.Limit < 0 && q.Offset > 0 {
		tail = " LIMIT 1000000" + tail // SQLite has no OFFSET alone
	}
	if k := e.Type().Kind; w.Refused != "" || !comparable || k == table.Decimal || k == table.Interval {
		h.Inexpressible++
		return
	}
	got, err := (&selection{p: p, args: w.Args}).query(strings.TrimPrefix(w.Text.String(), "SELECT "), tail)
	if err != nil && p.Eager {
		h.Inexpressible++
		return
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s\nthe peer: %v: %d rows, want %d\n%s", q.Text(tab), err, len(got), len(want), Dump(tab))
	}
	h.Compared++
	for r, g := range got {
		if v, err := FromPeer(g, e.Type()); err != nil || !Same(v, want[r][i]) && !p.Near(e, v, want[r][i]) {
			t.Fatalf("%s\nthe peer has %v (%v) for %v in row %d, everyone else %v\n%s", q.Text(tab), v, err, e, r, want[r][i], Dump(tab))
		}
	}
}

// RowsOf reads the rows that come, and the error that ends them.
func RowsOf(rows *engine.Rows, err error) (out [][]table.Value, _ error) {
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
