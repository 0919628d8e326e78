package engine

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

func TestQueryRow(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "classic"} {
		db := open(t, Options{Backend: backend})
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		s, err := db.Prepare(ctx, "SELECT d FROM small WHERE i = $1")
		if err != nil {
			t.Fatal(err)
		}
		session := db.Session()
		tx, err := db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var n int
		var d float64
		if err := errors.Join(db.QueryRow(ctx, "SELECT COUNT(*) FROM small WHERE i > $1", 1).Scan(&n), s.QueryRow(ctx, 3).Scan(&d)); err != nil || n != 2 || d != 1.5 {
			t.Errorf("%s: %d, %v, %v", backend, n, d, err)
		}
		if err := errors.Join(session.QueryRow(ctx, "SELECT i FROM small ORDER BY i").Scan(&n), tx.QueryRow(ctx, "SELECT MAX(d) FROM small").Scan(&d)); err != nil || n != 1 || d != 2 {
			t.Errorf("%s: %d, %v, %v", backend, n, d, err)
		}
		if err := db.QueryRow(ctx, "SELECT i FROM small WHERE i > 9").Scan(&n); !errors.Is(err, ErrNoRows) {
			t.Errorf("%s: no rows are %v", backend, err)
		}
		for text, want := range map[string]string{
			"SELECT j FROM small":                     `column "j" does not exist`,
			"SELECT i, d FROM small":                  "1 destination",
			"SELECT i FROM small WHERE i IS NULL":     "NULL does not fit",
			"SELECT 6 / (3 - i) FROM small":           "division by zero",
			"SELECT i FROM small WHERE 1 / (i-2) = 7": "division by zero",
		} {
			if err := db.QueryRow(ctx, text).Scan(&n); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v", backend, text, err)
			}
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

func TestCollectRows(t *testing.T) {
	ctx := context.Background()
	db := openSmall(t)
	type base struct{ I *int }
	type row struct {
		base
		Half   float64 `db:"d"`
		OnDay  time.Time
		Absent string
		hidden int
	}
	got, err := CollectRows[row](db.Query(ctx, "SELECT d, i, DATE '2024-02-29' AS on_day FROM small WHERE d > 1 ORDER BY d"))
	three, day := 3, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	if want := []row{{Half: 1.5, base: base{&three}, OnDay: day}, {Half: 2, OnDay: day}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if list, err := CollectRows[int64](db.Query(ctx, "SELECT i FROM small WHERE i IS NOT NULL ORDER BY i DESC")); err != nil || !reflect.DeepEqual(list, []int64{3, 2, 1}) {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := CollectRows[time.Time](db.Query(ctx, "SELECT DATE '2024-02-29'")); err != nil || !reflect.DeepEqual(list, []time.Time{day}) {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := CollectRows[table.Value](db.Query(ctx, "SELECT i FROM small WHERE i = 2")); err != nil || len(list) != 1 || list[0].I != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := CollectRows[string](db.Query(ctx, "SELECT 'a' WHERE false")); err != nil || list == nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	for text, want := range map[string]string{
		"SELECT i, 1 AS x FROM small":        `no exported field for column "x"`,
		"SELECT 1 AS hidden":                 `no exported field for column "hidden"`,
		"SELECT i, 1 AS \"I\" FROM small":    "two columns are for the field",
		"SELECT d / (i - 3) AS d FROM small": "division by zero",
		"SELECT nothing":                     `column "nothing" does not exist`,
	} {
		if _, err := CollectRows[row](db.Query(ctx, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := CollectRows[int](db.Query(ctx, "SELECT i, d FROM small")); err == nil || !strings.Contains(err.Error(), "1 destination") {
		t.Error(err)
	}
}

func TestTxPrepare(t *testing.T) {
	ctx := context.Background()
	for _, backend := range Backends() {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE p (i integer)")
		tx, err := db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		put, err := tx.Prepare(ctx, "INSERT INTO p VALUES ($1)")
		if err != nil {
			t.Fatal(err)
		}
		sum, err := tx.Prepare(ctx, "SELECT SUM(i) FROM p")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			var got int
			if _, err := Collect(put.Query(ctx, i+1)); err != nil {
				t.Fatal(err)
			}
			if err := sum.QueryRow(ctx).Scan(&got); err != nil || got != []int{1, 3, 6}[i] {
				t.Errorf("%s: %d, %v", backend, got, err)
			}
		}
		var outside int
		if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM p").Scan(&outside); err != nil || outside != 0 {
			t.Errorf("%s: others see %d rows, %v", backend, outside, err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := sum.Query(ctx); !errors.Is(err, errTxOver) {
			t.Errorf("%s: %v", backend, err)
		}
		if _, err := tx.Prepare(ctx, "SELECT 1"); !errors.Is(err, errTxOver) {
			t.Errorf("%s: %v", backend, err)
		}
		tx, err = db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Prepare(ctx, "SELECT nothing FROM p"); err == nil || tx.Commit(ctx) == nil {
			t.Errorf("%s: a statement that cannot be prepared fails no transaction: %v", backend, err)
		}
	}
}

// Each call on a DB that is closed, and on what it has given, says that it is closed.
func TestClosedDB(t *testing.T) {
	ctx := context.Background()
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	do(t, db, "CREATE TABLE c (i bigint)")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	prepared, err := db.Prepare(ctx, "SELECT 1")
	must(err)
	session, held := db.Session(), db.Session()
	must(held.Begin(ctx, TxOptions{}))
	tx, err := db.Begin(ctx, TxOptions{})
	must(err)
	inTx, err := tx.Prepare(ctx, "SELECT $1")
	must(err)
	must(tx.Savepoint(ctx, "a"))
	appender, err := db.Appender(ctx, "c")
	must(err)
	appender.Int64(1)
	must(appender.EndRow(ctx))
	must(errors.Join(db.Close(), db.Close()))
	texts := []string{"SELECT COUNT(*) FROM small", "SELECT 1", "SHOW TABLES", "SHOW backend", "SET backend = 'cpu'", "RESET ALL", "DISCARD ALL", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a",
		"EXPLAIN SELECT 1", "DESCRIBE small", "CREATE TABLE d (i bigint)", "INSERT INTO c VALUES (1)", "DROP TABLE c", "CREATE INDEX x ON c (i)", "VACUUM", "CHECKPOINT",
		"PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p", "SELECT nothing", "no statement", ""}
	type querier interface {
		Query(context.Context, string, ...any) (*Rows, error)
		Exec(context.Context, string, ...any) (Stats, error)
		QueryRow(context.Context, string, ...any) *Row
	}
	for name, q := range map[string]querier{"DB": db, "Session": session, "Session in a transaction": held, "Tx": tx} {
		for _, text := range texts {
			_, query := q.Query(ctx, text)
			_, exec := q.Exec(ctx, text)
			for _, err := range []error{query, exec, q.QueryRow(ctx, text).Scan(new(any))} {
				if !errors.Is(err, ErrClosed) {
					t.Errorf("%s: %q: %v", name, text, err)
				}
			}
		}
	}
	for _, text := range texts {
		n := 0
		for _, err := range db.Each(ctx, text) {
			if n++; !errors.Is(err, ErrClosed) {
				t.Errorf("Each: %q: %v", text, err)
			}
		}
		if n != 1 {
			t.Errorf("Each: %q: %d errors", text, n)
		}
	}
	calls := map[string]func() error{
		"Prepare":            func() error { _, err := db.Prepare(ctx, "SELECT 1"); return err },
		"Explain":            func() error { _, err := db.Explain(ctx, "SELECT 1", ExplainOptions{}); return err },
		"Begin":              func() error { _, err := db.Begin(ctx, TxOptions{}); return err },
		"Appender":           func() error { _, err := db.Appender(ctx, "c"); return err },
		"Definitions":        func() error { _, err := db.Definitions(ctx, ""); return err },
		"Add":                func() error { return db.Add(small(t)) },
		"Attach":             func() error { return db.Attach("x", ingest.Source{Path: "x.csv"}) },
		"Load":               func() error { return db.Load(ctx, "x", ingest.Source{Path: "x.csv"}) },
		"OpenFile":           func() error { return db.OpenFile(ctx, "x", ingest.Source{Path: "x.csv"}) },
		"SetBackend":         func() error { return db.SetBackend("cpu") },
		"Statement.Query":    func() error { _, err := prepared.Query(ctx); return err },
		"Statement.QueryRow": func() error { return prepared.QueryRow(ctx).Scan(new(any)) },
		"Statement of a Tx":  func() error { _, err := inTx.Query(ctx, 1); return err },
		"Session.Begin":      func() error { return session.Begin(ctx, TxOptions{}) },
		"Session.Commit":     func() error { return held.Commit(ctx) },
		"Session.SetBackend": func() error { return session.SetBackend("cpu") },
		"Tx.Prepare":         func() error { _, err := tx.Prepare(ctx, "SELECT 1"); return err },
		"Tx.Appender":        func() error { _, err := tx.Appender(ctx, "c"); return err },
		"Tx.Savepoint":       func() error { return tx.Savepoint(ctx, "b") },
		"Tx.RollbackTo":      func() error { return tx.RollbackTo(ctx, "a") },
		"Tx.Release":         func() error { return tx.Release(ctx, "a") },
		"Tx.Commit":          func() error { return tx.Commit(ctx) },
		"Appender.Flush":     func() error { return appender.Flush(ctx) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(tx.Rollback(), session.Rollback(), session.Close(), held.Close(), db.Close()); err != nil {
		t.Error(err)
	}
}
