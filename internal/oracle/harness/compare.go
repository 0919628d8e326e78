package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Statement writes a query of plain aggregates as SQL.
func Statement(q *plan.Fragment) string {
	var items []string
	for _, a := range q.Aggs {
		items = append(items, a.String())
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + q.Table
	if q.Where != nil {
		text += " WHERE " + q.Where.String()
	}
	return text
}

// ranksWithin takes the kth_largest and kth_smallest out of a query whose k exceeds
// the number of values, and reports whether there were any.
func ranksWithin(tab *table.Table, q *plan.Fragment) (*plan.Fragment, bool) {
	out := *q
	out.Aggs = nil
	for _, a := range q.Aggs {
		if a.Kind == expr.KthLargest || a.Kind == expr.KthSmallest {
			one := *q
			one.Aggs = []expr.Aggregate{a}
			if _, err := cpu.Scalar(context.Background(), tab, &one); err != nil {
				continue
			}
		}
		out.Aggs = append(out.Aggs, a)
	}
	return &out, len(out.Aggs) < len(q.Aggs)
}

// scalar computes the select items of a bound query of aggregates with the scalar oracle.
func scalar(tab *table.Table, tree plan.Node) ([]table.Value, error) {
	values, err := cpu.Scalar(context.Background(), tab, plan.Fragments(tree)[0])
	if err != nil {
		return nil, err
	}
	var out []table.Value
	for _, item := range tree.(*plan.Project).Items {
		v, err := expr.Eval(item.E, &expr.Env{Agg: func(i int) table.Value { return values[i] }})
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Bind binds and plans a statement as the engine does, to tell what it refuses
// from what a record raises.
func Bind(tab *table.Table, text string) (plan.Node, error) {
	list, err := sql.Parse(text)
	if err != nil {
		return nil, err
	}
	tree, err := list[0].Bind(sql.One(tab))
	if err != nil {
		return nil, err
	}
	tree = rules.CutFragments(tree)
	for _, f := range plan.Fragments(tree) {
		if _, err := physical.NewQuery(tab, f); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// Check runs q, written as SQL, everywhere and compares. A query with a k out of
// range must fail; it is compared without.
func (h *Harness) Check(t fataler, tab *table.Table, q *plan.Fragment, p *Peer) {
	h.Queries++
	want, err, ok := h.Engines(t, tab, q)
	if !ok {
		h.Refused++
		return
	}
	if err != nil {
		rest, ranks := ranksWithin(tab, q)
		if !ranks {
			h.Failed++
			return
		}
		q = rest
		if want, err, _ = h.Engines(t, tab, q); err != nil {
			h.Failed++
			return
		}
	}
	h.Selected(want[0].I, tab)
	got, err := p.Answer(q, tab.Rows())
	var cannot *inexpressibleError
	if errors.As(err, &cannot) {
		h.Inexpressible++
		return
	}
	if err != nil && p.Eager && Lazy(q.Where) {
		h.Inexpressible++
		return
	}
	if err != nil {
		t.Fatalf("%s\nthe peer: %v\n%s", Statement(q), err, Dump(tab))
	}
	h.Compared++
	if i := different(got, want); i >= 0 {
		t.Fatalf("%s\nthe peer has %v for %v, everyone else %v\n%s", Statement(q), got[i], q.Aggs[i], want[i], Dump(tab))
	}
}

// Lazy reports an expression of which a part may be left unevaluated.
func Lazy(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		switch e.(type) {
		case *expr.And, *expr.Or, *expr.Between:
			found = true
		}
	})
	return found
}

// Engines runs q on every backend and in the scalar oracle and returns their common answer. ok is false when
// the engine does not support it.
//
// The oracle runs what the text binds to, and what the text was written from. Only
// their errors may differ: binding folds NULL constants (1 / 0 > NULL is NULL).
func (h *Harness) Engines(t fataler, tab *table.Table, q *plan.Fragment) (want []table.Value, err error, ok bool) {
	text := Statement(q)
	bound, err := Bind(tab, text)
	if err != nil {
		h.allRefuse(t, text)
		return nil, nil, false
	}
	want, err = scalar(tab, bound)
	if tab.Rows() < 10_000 { // the oracle takes its time
		if tree, treeErr := cpu.Scalar(context.Background(), tab, q); treeErr == nil && (err != nil || different(tree, want) >= 0) {
			t.Fatalf("%s\nis %v (%v), what it was written from %v\n%s", text, want, err, tree, Dump(tab))
		}
	}
	h.Backends(t, tab, text, want, err)
	return want, err, true
}

// different returns where two answers differ, -1 where they do not.
func different(a, b []table.Value) int {
	for i := range a {
		if !Same(a[i], b[i]) {
			return i
		}
	}
	return -1
}

// allRefuse checks that no backend answers what the engine does not support.
func (h *Harness) allRefuse(t fataler, text string) {
	for _, db := range h.asked(text) {
		if r, err := engine.Collect(db.Query(context.Background(), text)); err == nil {
			t.Fatalf("%s\n%s answers %v what cannot be bound", text, db.name, r.Rows)
		}
	}
}

// unsupported reports an error by which a backend on the GPU leaves a query to
// others.
func unsupported(db DB, err error) bool {
	return errors.Is(err, engine.ErrUnsupported) && !strings.HasPrefix(db.name, "cpu")
}

// Backends checks that every backend gives these values, or an error where there
// is one.
func (h *Harness) Backends(t fataler, tab *table.Table, text string, want []table.Value, wantErr error) {
	for _, db := range h.asked(text) {
		r, err := engine.Collect(db.Query(context.Background(), text))
		if unsupported(db, err) {
			h.Declined++
			continue
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s\n%s: error %v, the scalar oracle has %v\n%s", text, db.name, err, wantErr, Dump(tab))
		}
		if err != nil {
			continue
		}
		if i := different(want, r.Rows[0]); i >= 0 {
			t.Fatalf("%s\n%s has %v in column %d, the scalar oracle %v\n%s\n%s", text, db.name, r.Rows[0][i], i+1, want[i], db.passes(text), Dump(tab))
		}
	}
}

// passes are those of a statement, run once more, for a failure.
func (db DB) passes(text string) string {
	x, err := db.Explain(context.Background(), text, engine.ExplainOptions{Analyze: true})
	if err != nil {
		return err.Error()
	}
	lines := x.Lines()
	return strings.Join(lines[:min(len(lines), 60)], "\n")
}

// Same is equality with NULL equal to NULL and NaN to NaN.
func Same(a, b table.Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return a.Type.Kind == b.Type.Kind && table.Compare(a, b) == 0
}

// Dump prints a small table for a failure.
func Dump(tab *table.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: rows %d, chunks %d\n", tab.Name, tab.Rows(), len(tab.Chunks))
	for _, f := range tab.Fields {
		fmt.Fprintf(&b, "%s %v, ", f.Name, f.Type)
	}
	if tab.Rows() > 50 {
		return b.String()
	}
	for _, c := range tab.Chunks {
		b.WriteString("\n--")
		for row := range c.Rows {
			b.WriteString("\n")
			for _, s := range c.Segments {
				fmt.Fprintf(&b, "%v, ", s.Value(row))
			}
		}
	}
	return b.String()
}
