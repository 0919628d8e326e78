package sqlite

import (
	"database/sql"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/table"
)

// dialect is SQLite's dialect: booleans are 0 and 1, dates days and timestamps
// microseconds since 1970-01-01 (with iso: text), constants are parameters.
type dialect struct{ iso bool }

// open opens an empty database in memory.
func open(t testing.TB, d dialect) *harness.Peer {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection would be a database of its own
	t.Cleanup(func() { db.Close() })
	p := &harness.Peer{DB: db, Dialect: d}
	if err := p.Exec("PRAGMA case_sensitive_like = ON"); err != nil {
		t.Fatal(err)
	}
	return p
}

func (d dialect) ColumnType(t table.Type) string {
	switch {
	case t.Kind == table.Varchar || d.iso && (t.Kind == table.Date || t.Kind == table.Timestamp):
		return "TEXT"
	case t.IsFloat():
		return "REAL"
	}
	return "INTEGER"
}

func (d dialect) Constant(w *harness.Writer, v table.Value) {
	var arg any = v.I
	switch {
	case v.Null:
		arg = nil
	case v.Type.Kind == table.Decimal:
		w.Refuse("DECIMAL")
	case d.ColumnType(v.Type) == "TEXT":
		arg = v.String()
	case v.Type.IsFloat():
		arg = v.F
	}
	w.Put("?")
	w.Args = append(w.Args, arg)
}

func (dialect) Cast(w *harness.Writer, e *expr.Cast) {
	from, to := e.X.Type(), e.To
	switch {
	case from.Kind == table.Decimal || to.Kind == table.Decimal, to.Kind == table.Real, from.IsFloat() && !to.IsFloat(), to.Kind == table.Varchar:
		w.Refuse("%v", e)
	case to.IsInteger() && from.IsInteger(), from.Kind == table.Real && to.Kind == table.Double, to.Kind == from.Kind:
		w.Put(e.X)
	case to.Kind == table.Double && from.IsInteger():
		w.Put("CAST(", e.X, " AS REAL)")
	case to.IsInteger() && from.Kind == table.Varchar:
		w.Put("CAST(", e.X, " AS INTEGER)")
	case to.Kind == table.Timestamp && from.Kind == table.Date:
		w.Put("(", e.X, " * 86400000000)")
	case to.Kind == table.Date && from.Kind == table.Timestamp:
		w.Put("((", e.X, " - ((", e.X, " % 86400000000) + 86400000000) % 86400000000) / 86400000000)")
	default:
		w.Refuse("%v", e)
	}
}

func (dialect) Arith(w *harness.Writer, e *expr.Arith) {
	if t := e.L.Type(); e.T.Kind == table.Real || t.Kind == table.Decimal {
		w.Refuse("%v", t)
	}
	w.Infix(e.L, e.Op.String(), e.R)
}

func (dialect) Like(w *harness.Writer, e *expr.Like) {
	pattern := table.Str(e.Pattern)
	if e.Fold {
		w.Put("(lower(", e.X, ") ", harness.Not(e.Not), "LIKE lower(", pattern, ")")
	} else {
		w.Put("(", e.X, " ", harness.Not(e.Not), "LIKE ", pattern)
	}
	if e.Escape != 0 {
		w.Put(" ESCAPE ", table.Str(string(e.Escape)))
	}
	w.Put(")")
}

func (dialect) Call(w *harness.Writer, e *expr.Call) { w.Refuse("%s", e.Fn.Name) }

func (dialect) Near(expr.Expr, table.Value, table.Value) bool { return false }

func (dialect) Output(name string, _ table.Type) string { return name }

// Sum adds the upper and lower halves apart: SQLite's sums end at 64 bits.
func (dialect) Sum(name string) []harness.Part {
	return []harness.Part{{Text: "SUM(" + name + " >> 32)", Weight: 1 << 32}, {Text: "SUM(" + name + " & 4294967295)", Weight: 1}}
}
