//go:build duckdb

package duckdb

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// dialect is DuckDB's dialect. DECIMALs are computed with 38 digits.
type dialect struct{}

// open opens an empty database in memory. Without its optimizer, which moves
// constants to the other side of a comparison, arithmetic overflows where it is
// written.
func open(t testing.TB) *harness.Peer {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	p := &harness.Peer{DB: db, Dialect: dialect{}, Eager: true}
	for _, text := range []string{"PRAGMA disable_optimizer", "SET threads = 1"} {
		if err := p.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (dialect) ColumnType(t table.Type) string {
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

func (d dialect) Constant(w *harness.Writer, v table.Value) {
	switch {
	case v.Null:
		w.Put("CAST(NULL AS ", d.ColumnType(v.Type), ")")
	case v.Type.Kind == table.Date:
		w.Put("(DATE '1970-01-01' + CAST(", strconv.FormatInt(v.I, 10), " AS INTEGER))")
	case v.Type.Kind == table.Timestamp:
		w.Put("make_timestamp(", strconv.FormatInt(v.I, 10), ")")
	case v.Type.Kind == table.Interval:
		w.Put("(to_months(", strconv.Itoa(int(v.Months)), ") + to_days(", strconv.FormatInt(v.Days(), 10), ") + to_microseconds(", strconv.FormatInt(v.Clock(), 10), "))")
	default:
		w.Put("CAST(", expr.Quote(v.String()), " AS ", d.ColumnType(v.Type), ")")
	}
}

func (d dialect) Cast(w *harness.Writer, e *expr.Cast) {
	from, to := e.X.Type(), e.To
	switch {
	case from.IsFloat() && to.Kind == table.Decimal, from.Kind == table.Decimal && to.IsFloat(), from.Kind == table.Varchar, to.Kind == table.Varchar:
		w.Refuse("%v", e) // rounds otherwise, or writes and reads otherwise
	default:
		w.Put("CAST(", e.X, " AS ", d.ColumnType(to), ")")
	}
}

func (dialect) Arith(w *harness.Writer, e *expr.Arith) {
	lt, rt := e.L.Type(), e.R.Type()
	switch {
	case e.T.Kind == table.Date && rt.IsInteger():
		w.Put("(", e.L, " ", e.Op.String(), " CAST(", e.R, " AS INTEGER))")
	case lt.IsInteger() && rt.IsInteger() && e.Op == expr.Div:
		w.Infix(e.L, "//", e.R)
	case lt.Kind == table.Decimal && (e.Op == expr.Mod || e.Op == expr.Div):
		w.Refuse("DECIMAL %v", e.Op) // % is a DOUBLE, the operands of / are rounded
	default:
		w.Infix(e.L, e.Op.String(), e.R)
	}
}

func (dialect) Like(w *harness.Writer, e *expr.Like) {
	op := "LIKE "
	if e.Fold {
		op = "ILIKE "
	}
	w.Put("(", e.X, " ", harness.Not(e.Not), op, table.Str(e.Pattern))
	if e.Escape != 0 {
		w.Put(" ESCAPE ", table.Str(string(e.Escape)))
	}
	w.Put(")")
}

func (dialect) Output(name string, t table.Type) string {
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

func (dialect) Sum(name string) []harness.Part {
	return []harness.Part{{Text: "CAST(SUM(" + name + ") AS VARCHAR)", Weight: 1}}
}

// Random statements have one answer: classic, cpu, the scalar oracle and DuckDB
// agree.
func TestDuckDBAgrees(t *testing.T) {
	knobs := plantest.Default()
	knobs.SQL = true
	knobs.Shapes = plantest.Shapes{N: 48, Seed: 2}
	h := harness.Open(t)
	p := open(t)
	rapid.Check(t, func(t *rapid.T) {
		k := knobs
		k.Narrow = rapid.IntRange(0, 2).Draw(t, "narrow") > 0
		k.Special = rapid.Bool().Draw(t, "special")
		tab := draw.Table(t, h.NewName(), draw.EveryField, k, 200)
		h.Register(t, tab)
		if err := p.Load(tab); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			h.Check(t, tab, draw.Query(t, tab, k), p)
			h.CheckRows(t, tab, k, p)
		}
		if err := p.Drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.Tally)
}

// Where arithmetic overflows the type of its integers in DuckDB it overflows here, and nowhere else.
func TestDuckDBOverflowsWhereTheEngineDoes(t *testing.T) {
	var integers []table.Field
	for i, kind := range []table.Kind{table.SmallInt, table.Integer, table.Integer, table.BigInt, table.BigInt} {
		integers = append(integers, table.Field{Name: "hijkl"[i : i+1], Type: table.Type{Kind: kind}})
	}
	knobs := plantest.Default()
	knobs.SQL, knobs.Casts, knobs.Depth = true, false, 0
	knobs.Shapes = plantest.Shapes{N: 24, Seed: 3, Only: func(e expr.Expr) bool { return !harness.Lazy(e) && !divides(e) }}
	h := harness.Open(t)
	p := open(t)
	overflows := 0
	rapid.Check(t, func(t *rapid.T) {
		tab := draw.Table(t, h.NewName(), integers, knobs, 100)
		h.Register(t, tab)
		if err := p.Load(tab); err != nil {
			t.Fatal(err)
		}
		k := knobs
		k.Nulls = false // an operation with a NULL constant is NULL here, without being computed
		for range 8 {
			where := plantest.Where(t, tab, k)
			for try := 0; try < 4 && !strings.ContainsAny(where.String(), "+*"); try++ {
				where = plantest.Where(t, tab, k) // another one: this does not compute
			}
			q := draw.CountFirst(&plan.Fragment{Table: tab.Name, Where: where})
			h.Queries++
			want, err, ok := h.Engines(t, tab, q)
			if !ok {
				h.Refused++
				continue
			}
			got, peerErr := p.Answer(q, tab.Rows())
			if harness.Lazy(q.Where) && peerErr != nil {
				h.Inexpressible++
				continue
			}
			h.Compared++
			if (err == nil) != (peerErr == nil) || err == nil && !harness.Same(got[0], want[0]) {
				t.Fatalf("%s\nis %v (%v), in DuckDB %v (%v)\n%s", harness.Statement(q), want, err, got, peerErr, harness.Dump(tab))
			}
			if err != nil {
				overflows++
				h.Failed++
				continue
			}
			h.Selected(want[0].I, tab)
		}
		if err := p.Drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v; %d overflow", &h.Tally, overflows)
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
