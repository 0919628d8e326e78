//go:build duckdb

package oracle

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// duckdb is DuckDB's dialect. DECIMALs are computed with 38 digits.
type duckdb struct{}

// openDuckDB opens an empty database in memory. Without its optimizer, which moves
// constants to the other side of a comparison, arithmetic overflows where it is
// written.
func openDuckDB(t testing.TB) *peer {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	p := &peer{db: db, dialect: duckdb{}, eager: true}
	for _, text := range []string{"PRAGMA disable_optimizer", "SET threads = 1"} {
		if err := p.exec(text); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (duckdb) columnType(t table.Type) string {
	switch t.Kind {
	case table.Boolean:
		return "BOOLEAN"
	case table.SmallInt:
		return "SMALLINT"
	case table.Integer:
		return "INTEGER"
	case table.Decimal:
		return fmt.Sprintf("DECIMAL(38,%d)", t.Scale)
	case table.Real:
		return "REAL"
	case table.Double:
		return "DOUBLE"
	case table.Date:
		return "DATE"
	case table.Timestamp:
		return "TIMESTAMP"
	case table.Varchar:
		return "VARCHAR"
	case table.Interval:
		return "INTERVAL"
	}
	return "BIGINT"
}

func (d duckdb) constant(w *writer, v table.Value) {
	switch {
	case v.Null:
		w.put("CAST(NULL AS ", d.columnType(v.Type), ")")
	case v.Type.Kind == table.Date:
		w.put("(DATE '1970-01-01' + CAST(", strconv.FormatInt(v.I, 10), " AS INTEGER))")
	case v.Type.Kind == table.Timestamp:
		w.put("make_timestamp(", strconv.FormatInt(v.I, 10), ")")
	case v.Type.Kind == table.Interval:
		w.put("(to_months(", strconv.Itoa(int(v.Months)), ") + to_days(", strconv.FormatInt(v.Days(), 10), ") + to_microseconds(", strconv.FormatInt(v.Clock(), 10), "))")
	default:
		w.put("CAST(", expr.Quote(v.String()), " AS ", d.columnType(v.Type), ")")
	}
}

func (d duckdb) cast(w *writer, e *expr.Cast) {
	from, to := e.X.Type(), e.To
	switch {
	case from.IsFloat() && to.Kind == table.Decimal, from.Kind == table.Decimal && to.IsFloat(), from.Kind == table.Varchar, to.Kind == table.Varchar:
		w.refuse("%v", e) // rounds otherwise, or writes and reads otherwise
	default:
		w.put("CAST(", e.X, " AS ", d.columnType(to), ")")
	}
}

func (duckdb) arith(w *writer, e *expr.Arith) {
	lt, rt := e.L.Type(), e.R.Type()
	switch {
	case e.T.Kind == table.Date && rt.IsInteger():
		w.put("(", e.L, " ", e.Op.String(), " CAST(", e.R, " AS INTEGER))")
	case lt.IsInteger() && rt.IsInteger() && e.Op == expr.Div:
		w.infix(e.L, "//", e.R)
	case lt.Kind == table.Decimal && (e.Op == expr.Mod || e.Op == expr.Div):
		w.refuse("DECIMAL %v", e.Op) // % is a DOUBLE, the operands of / are rounded
	default:
		w.infix(e.L, e.Op.String(), e.R)
	}
}

func (duckdb) like(w *writer, e *expr.Like) {
	op := "LIKE "
	if e.Fold {
		op = "ILIKE "
	}
	w.put("(", e.X, " ", not(e.Not), op, table.Str(e.Pattern))
	if e.Escape != 0 {
		w.put(" ESCAPE ", table.Str(string(e.Escape)))
	}
	w.put(")")
}

func (duckdb) output(name string, t table.Type) string {
	switch {
	case t.Kind == table.Boolean || t.IsInteger():
		return "CAST(" + name + " AS BIGINT)"
	case t.Kind == table.Date:
		return "CAST(" + name + " - DATE '1970-01-01' AS BIGINT)"
	case t.Kind == table.Timestamp:
		return "epoch_us(" + name + ")"
	case t.Kind == table.Decimal:
		return "CAST(" + name + " AS VARCHAR)"
	case t.Kind == table.Real:
		return "CAST(" + name + " AS DOUBLE)"
	}
	return name
}

func (duckdb) sum(name string) []part {
	return []part{{"CAST(SUM(" + name + ") AS VARCHAR)", 1}}
}

// Random statements have one answer: classic, cpu, the scalar oracle and DuckDB
// agree.
func TestDuckDBAgrees(t *testing.T) {
	knobs := plantest.Default()
	knobs.SQL = true
	knobs.Shapes = plantest.Shapes{N: 48, Seed: 2}
	h := open(t)
	p := openDuckDB(t)
	rapid.Check(t, func(t *rapid.T) {
		k := knobs
		k.Narrow = rapid.IntRange(0, 2).Draw(t, "narrow") > 0
		k.Special = rapid.Bool().Draw(t, "special")
		tab := drawTable(t, h.name(), everyField, k, 200)
		h.register(t, tab)
		if err := p.load(tab); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			h.check(t, tab, drawQuery(t, tab, k), p)
			h.checkRows(t, tab, k, p)
		}
		if err := p.drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.tally)
}

// Where arithmetic overflows the type of its integers in DuckDB it overflows here, and nowhere else.
func TestDuckDBOverflowsWhereTheEngineDoes(t *testing.T) {
	var integers []table.Field
	for i, kind := range []table.Kind{table.SmallInt, table.Integer, table.Integer, table.BigInt, table.BigInt} {
		integers = append(integers, table.Field{Name: "hijkl"[i : i+1], Type: table.Type{Kind: kind}})
	}
	knobs := plantest.Default()
	knobs.SQL, knobs.Casts, knobs.Depth = true, false, 0
	knobs.Shapes = plantest.Shapes{N: 24, Seed: 3, Only: func(e expr.Expr) bool { return !lazy(e) && !divides(e) }}
	h := open(t)
	p := openDuckDB(t)
	overflows := 0
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t, h.name(), integers, knobs, 100)
		h.register(t, tab)
		if err := p.load(tab); err != nil {
			t.Fatal(err)
		}
		k := knobs
		k.Nulls = false // an operation with a NULL constant is NULL here, without being computed
		for range 8 {
			where := plantest.Where(t, tab, k)
			for try := 0; try < 4 && !strings.ContainsAny(where.String(), "+*"); try++ {
				where = plantest.Where(t, tab, k) // another one: this does not compute
			}
			q := countFirst(&plan.Fragment{Table: tab.Name, Where: where})
			h.queries++
			want, err, ok := h.engines(t, tab, q)
			if !ok {
				h.refused++
				continue
			}
			got, peerErr := p.answer(q, tab.Rows())
			if lazy(q.Where) && peerErr != nil {
				h.inexpressible++
				continue
			}
			h.compared++
			if (err == nil) != (peerErr == nil) || err == nil && !same(got[0], want[0]) {
				t.Fatalf("%s\nis %v (%v), in DuckDB %v (%v)\n%s", statement(q), want, err, got, peerErr, dump(tab))
			}
			if err != nil {
				overflows++
				h.failed++
				continue
			}
			h.selected(want[0].I, tab)
		}
		if err := p.drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v; %d overflow", &h.tally, overflows)
}

// divides reports a division or remainder, which are NULL by 0 in DuckDB.
func divides(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		if a, ok := e.(*expr.Arith); ok {
			found = found || a.Op == expr.Div || a.Op == expr.Mod
		}
	})
	return found
}
