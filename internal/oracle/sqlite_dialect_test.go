package oracle

import (
	"database/sql"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// sqlite is SQLite's dialect: booleans are 0 and 1, dates days and timestamps
// microseconds since 1970-01-01 (with iso: text), constants are parameters.
type sqlite struct{ iso bool }

// openSQLite opens an empty database in memory.
func openSQLite(t testing.TB, d sqlite) *peer {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection would be a database of its own
	t.Cleanup(func() { db.Close() })
	p := &peer{db: db, dialect: d}
	if err := p.exec("PRAGMA case_sensitive_like = ON"); err != nil {
		t.Fatal(err)
	}
	return p
}

func (d sqlite) columnType(t table.Type) string {
	switch {
	case t.Kind == table.Varchar || d.iso && (t.Kind == table.Date || t.Kind == table.Timestamp):
		return "TEXT"
	case t.IsFloat():
		return "REAL"
	}
	return "INTEGER"
}

func (d sqlite) constant(w *writer, v table.Value) {
	var arg any = v.I
	switch {
	case v.Null:
		arg = nil
	case v.Type.Kind == table.Decimal:
		w.refuse("DECIMAL")
	case d.columnType(v.Type) == "TEXT":
		arg = v.String()
	case v.Type.IsFloat():
		arg = v.F
	}
	w.put("?")
	w.args = append(w.args, arg)
}

func (sqlite) cast(w *writer, e *expr.Cast) {
	from, to := e.X.Type(), e.To
	switch {
	case from.Kind == table.Decimal || to.Kind == table.Decimal, to.Kind == table.Real, from.IsFloat() && !to.IsFloat(), to.Kind == table.Varchar:
		w.refuse("%v", e)
	case to.IsInteger() && from.IsInteger(), from.Kind == table.Real && to.Kind == table.Double, to.Kind == from.Kind:
		w.put(e.X)
	case to.Kind == table.Double && from.IsInteger():
		w.put("CAST(", e.X, " AS REAL)")
	case to.IsInteger() && from.Kind == table.Varchar:
		w.put("CAST(", e.X, " AS INTEGER)")
	case to.Kind == table.Timestamp && from.Kind == table.Date:
		w.put("(", e.X, " * 86400000000)")
	case to.Kind == table.Date && from.Kind == table.Timestamp:
		w.put("((", e.X, " - ((", e.X, " % 86400000000) + 86400000000) % 86400000000) / 86400000000)")
	default:
		w.refuse("%v", e)
	}
}

func (sqlite) arith(w *writer, e *expr.Arith) {
	if t := e.L.Type(); e.T.Kind == table.Real || t.Kind == table.Decimal {
		w.refuse("%v", t)
	}
	w.infix(e.L, e.Op.String(), e.R)
}

func (sqlite) like(w *writer, e *expr.Like) {
	pattern := table.Str(e.Pattern)
	if e.Fold {
		w.put("(lower(", e.X, ") ", not(e.Not), "LIKE lower(", pattern, ")")
	} else {
		w.put("(", e.X, " ", not(e.Not), "LIKE ", pattern)
	}
	if e.Escape != 0 {
		w.put(" ESCAPE ", table.Str(string(e.Escape)))
	}
	w.put(")")
}

func (sqlite) call(w *writer, e *expr.Call) { w.refuse("%s", e.Fn.Name) }

func (sqlite) near(expr.Expr, table.Value, table.Value) bool { return false }

func (sqlite) output(name string, _ table.Type) string { return name }

// sum adds the upper and lower halves apart: SQLite's sums end at 64 bits.
func (sqlite) sum(name string) []part {
	return []part{{"SUM(" + name + " >> 32)", 1 << 32}, {"SUM(" + name + " & 4294967295)", 1}}
}
