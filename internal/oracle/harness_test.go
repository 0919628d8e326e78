package oracle

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// TestMain makes STENCILDB_SOAK multiply the number of tables drawn, unless
// -rapid.checks says it.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	checks := 25 // tables: make test has twenty minutes in all
	if n, err := strconv.Atoi(os.Getenv("STENCILDB_SOAK")); err == nil && n > 0 {
		checks = 100 * n
	}
	if !given {
		if err := flag.Set("rapid.checks", strconv.Itoa(checks)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// harness is the engine on every backend, and what the statements came to.
type harness struct {
	dbs    []namedDB // cpu is the last
	every  bool      // whether a statement runs on all of them, not only on cpu and one other
	tables int
	tally
}

type namedDB struct {
	name string
	*engine.DB
}

// tally counts statements.
type tally struct {
	queries                int // drawn
	none                   int // selecting no record
	some                   int
	all                    int
	failed                 int // that raise an error
	refused                int // that the engine does not support
	declined               int // that a backend on the GPU leaves to others
	inexpressible          int // that the peer cannot say, or fails at where the engine need not look
	compared               int // with the peer
	pushed                 int // that group rows before they are joined
	several, made, chained int // joins by several keys, by keys that are computed, and of the rows of a join, whose pairs compute has found
}

func (n *tally) String() string {
	return fmt.Sprintf("%d queries, %d of them compared with the peer (%d it cannot say); selecting none %d, some %d, all %d; "+
		"errors %d; refused by the engine %d; declined by a backend %d",
		n.queries, n.compared, n.inexpressible, n.none, n.some, n.all, n.failed, n.refused, n.declined)
}

// open opens the backends; those that draw a second time without the depth bounds
// test where the device has it. A statement runs on all of them in a soak and on
// hardware, which is fast enough.
func open(t *testing.T) *harness {
	t.Helper()
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bounds := ctx.Caps().DepthBounds
	h := &harness{every: !ctx.Caps().Software || os.Getenv("STENCILDB_SOAK") != ""}
	if err := ctx.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range engine.Backends() {
		if name != "auto" && name != "cpu" {
			h.add(t, name)
		}
	}
	if bounds {
		t.Setenv("STENCILDB_DISABLE", "GL_EXT_depth_bounds_test")
		h.add(t, "classic")
		h.add(t, "fused")
	}
	h.add(t, "cpu")
	return h
}

// asked are the backends that a statement runs on: cpu, and one drawn from the
// others by its text, so that a failure repeats. Devices go over the table in windows for a statement in three, as they do
// where they have no room for it, and on backend both operators are cpu's, the device's or shared.
func (h *harness) asked(text string) []namedDB {
	f := fnv.New32a()
	f.Write([]byte(text))
	window := 0
	if n := int(f.Sum32() >> 16); n%3 == 0 {
		window = 64 << (n / 3 % 4)
	}
	assignment := []string{"both", "device, cpu", "cpu, both", "device, both"}[f.Sum32()>>8%4]
	for _, db := range h.dbs {
		engine.Inspect(db.DB).Stream(window)
		if _, err := db.Exec(context.Background(), "SET assignment = '"+assignment+"'"); err != nil {
			panic(err)
		}
	}
	if h.every {
		return h.dbs
	}
	last := len(h.dbs) - 1
	return []namedDB{h.dbs[f.Sum32()%uint32(last)], h.dbs[last]}
}

// add opens a backend and prepares it: its device is read from the environment now.
func (h *harness) add(t *testing.T, backend string) {
	t.Helper()
	db, err := engine.Open(engine.Options{Backend: backend})
	if err == nil {
		err = engine.Inspect(db).Ready()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	h.dbs = append(h.dbs, namedDB{fmt.Sprintf("%s (%d)", backend, len(h.dbs)), db})
}

// name returns the next table's name.
func (h *harness) name() string {
	h.tables++
	return fmt.Sprintf("t%d", h.tables)
}

// register makes a table known to every backend, with indexes of two columns of three.
func (h *harness) register(t fataler, tab *table.Table) {
	for _, db := range h.dbs {
		if err := db.Add(tab); err != nil {
			t.Fatalf("%v", err)
		}
		for i, f := range tab.Fields {
			kind := i % 3
			if kind == len(index.Kinds) || f.Unsupported != "" {
				continue
			}
			if _, err := db.Exec(context.Background(), "CREATE INDEX ON "+expr.Ident(tab.Name)+" USING "+index.Kinds[kind]+" ("+expr.Ident(f.Name)+")"); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
}

// fataler is the part of testing.TB that rapid.T has too.
type fataler interface {
	Fatalf(format string, args ...any)
}

// statement writes a query of plain aggregates as SQL.
func statement(q *plan.Fragment) string {
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

// bind binds and plans a statement as the engine does, to tell what it refuses
// from what a record raises.
func bind(tab *table.Table, text string) (plan.Node, error) {
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

// check runs q, written as SQL, everywhere and compares. A query with a k out of
// range must fail; it is compared without.
func (h *harness) check(t fataler, tab *table.Table, q *plan.Fragment, p *peer) {
	h.queries++
	want, err, ok := h.engines(t, tab, q)
	if !ok {
		h.refused++
		return
	}
	if err != nil {
		rest, ranks := ranksWithin(tab, q)
		if !ranks {
			h.failed++
			return
		}
		q = rest
		if want, err, _ = h.engines(t, tab, q); err != nil {
			h.failed++
			return
		}
	}
	h.selected(want[0].I, tab)
	got, err := p.answer(q, tab.Rows())
	var cannot *inexpressibleError
	if errors.As(err, &cannot) {
		h.inexpressible++
		return
	}
	if err != nil && p.eager && lazy(q.Where) {
		h.inexpressible++
		return
	}
	if err != nil {
		t.Fatalf("%s\nthe peer: %v\n%s", statement(q), err, dump(tab))
	}
	h.compared++
	if i := different(got, want); i >= 0 {
		t.Fatalf("%s\nthe peer has %v for %v, everyone else %v\n%s", statement(q), got[i], q.Aggs[i], want[i], dump(tab))
	}
}

// lazy reports an expression of which a part may be left unevaluated.
func lazy(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		switch e.(type) {
		case *expr.And, *expr.Or, *expr.Between:
			found = true
		}
	})
	return found
}

// engines runs q on every backend and in the scalar oracle and returns their
// common answer; ok is false when the engine does not support it.
//
// The oracle runs what the text binds to, and what the text was written from. Only
// their errors may differ: binding folds NULL constants (1 / 0 > NULL is NULL).
func (h *harness) engines(t fataler, tab *table.Table, q *plan.Fragment) (want []table.Value, err error, ok bool) {
	text := statement(q)
	bound, err := bind(tab, text)
	if err != nil {
		h.allRefuse(t, text)
		return nil, nil, false
	}
	want, err = scalar(tab, bound)
	if tab.Rows() < 10_000 { // the oracle takes its time
		if tree, treeErr := cpu.Scalar(context.Background(), tab, q); treeErr == nil && (err != nil || different(tree, want) >= 0) {
			t.Fatalf("%s\nis %v (%v), what it was written from %v\n%s", text, want, err, tree, dump(tab))
		}
	}
	h.backends(t, tab, text, want, err)
	return want, err, true
}

// different returns where two answers differ, -1 where they do not.
func different(a, b []table.Value) int {
	for i := range a {
		if !same(a[i], b[i]) {
			return i
		}
	}
	return -1
}

func (h *harness) selected(n int64, tab *table.Table) {
	switch n {
	case 0:
		h.none++
	case int64(tab.Rows()):
		h.all++
	default:
		h.some++
	}
}

// allRefuse checks that no backend answers what the engine does not support.
func (h *harness) allRefuse(t fataler, text string) {
	for _, db := range h.asked(text) {
		if r, err := engine.Collect(db.Query(context.Background(), text)); err == nil {
			t.Fatalf("%s\n%s answers %v what cannot be bound", text, db.name, r.Rows)
		}
	}
}

// unsupported reports an error by which a backend on the GPU leaves a query to
// others.
func unsupported(db namedDB, err error) bool {
	return errors.Is(err, engine.ErrUnsupported) && !strings.HasPrefix(db.name, "cpu")
}

// backends checks that every backend gives these values, or an error where there
// is one.
func (h *harness) backends(t fataler, tab *table.Table, text string, want []table.Value, wantErr error) {
	for _, db := range h.asked(text) {
		r, err := engine.Collect(db.Query(context.Background(), text))
		if unsupported(db, err) {
			h.declined++
			continue
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s\n%s: error %v, the scalar oracle has %v\n%s", text, db.name, err, wantErr, dump(tab))
		}
		if err != nil {
			continue
		}
		if i := different(want, r.Rows[0]); i >= 0 {
			t.Fatalf("%s\n%s has %v in column %d, the scalar oracle %v\n%s\n%s", text, db.name, r.Rows[0][i], i+1, want[i], db.passes(text), dump(tab))
		}
	}
}

// passes are those of a statement, run once more, for a failure.
func (db namedDB) passes(text string) string {
	x, err := db.Explain(context.Background(), text, engine.ExplainOptions{Analyze: true})
	if err != nil {
		return err.Error()
	}
	lines := x.Lines()
	return strings.Join(lines[:min(len(lines), 60)], "\n")
}

// same is equality with NULL equal to NULL and NaN to NaN.
func same(a, b table.Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return a.Type.Kind == b.Type.Kind && table.Compare(a, b) == 0
}

// dump prints a small table for a failure.
func dump(tab *table.Table) string {
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
