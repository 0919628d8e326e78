package driver_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	stencildb "github.com/stencildb/stencildb/driver"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

var ctx = context.Background()

func open(t testing.TB, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open("stencildb", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// executer is a DB, a connection, or a transaction.
type executer interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

func exec(t testing.TB, db executer, text string, args ...any) int64 {
	t.Helper()
	r, err := db.ExecContext(ctx, text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func number(t testing.TB, db executer, text string, args ...any) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(ctx, text, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// wants fails where err does not say what is wanted.
func wants(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want an error with %q", err, want)
	}
}

func TestDataSourceNames(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "trips.csv")
	if err := os.WriteFile(csv, []byte("a;b\n1;x\n2;y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	db := open(t, fmt.Sprintf("?backend=cpu&gpu_memory=64MiB&host_memory=1G&statement_timeout=1m&load=%s&load=t=%s%%3Fdelim%%3D%%3B", csv, csv))
	if n := number(t, db, "SELECT COUNT(*) FROM trips JOIN t ON trips.a = t.a"); n != 2 {
		t.Errorf("%d rows", n)
	}
	if n := number(t, db, "SELECT 1 WHERE 1 = (SELECT COUNT(*) FROM t WHERE b = $1)", "x"); n != 1 {
		t.Error(n)
	}
	for name, want := range map[string]string{
		"?backned=cpu":              "there is no option backned",
		"?gpu_memory=lots":          "lots",
		"?backend=cpu&backend=auto": "given 2 times",
		"?statement_timeout=5":      "missing unit",
		"?a=%zz":                    "invalid URL escape",
		":memory:?backend=cpu":      `take "" for tables in memory`,
	} {
		_, err := sql.Open("stencildb", name)
		wants(t, err, want)
	}
	for name, want := range map[string]string{
		"?backend=gpu":                  `no backend "gpu"`,
		"?backend=cpu&load=no.csv":      "no.csv",
		filepath.Join(csv, "in a file"): "not a directory",
	} {
		wants(t, open(t, name).Ping(), want)
	}
}

// A folder's tables are there when it is opened again; a second one that opens it reads.
func TestFolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "db") + "?backend=cpu"
	db, err := sql.Open("stencildb", name)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "CREATE TABLE t (id bigint PRIMARY KEY, s text); INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b')")
	reader := open(t, name)
	_, err = reader.Exec("INSERT INTO t VALUES (3, 'c')")
	wants(t, err, "read only")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wants(t, db.Ping(), "closed")
	if n := number(t, open(t, name), "SELECT COUNT(*) FROM t"); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// stringer is a Valuer.
type stringer struct{ s string }

func (s stringer) Value() (driver.Value, error) { return s.s, nil }

// A parameter of each type is the value that comes back.
func TestParameters(t *testing.T) {
	db := open(t, "?backend=cpu")
	at := time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)
	seven := 7
	type myInt int16
	for _, c := range []struct {
		sql  string
		in   any
		want any
	}{
		{"SELECT $1::bigint", int64(-1 << 63), int64(-1 << 63)},
		{"SELECT $1 + 1", myInt(41), int64(42)},
		{"SELECT $1 + 1", uint8(255), int64(256)},
		{"SELECT $1 + 1", &seven, int64(8)},
		{"SELECT $1::bigint IS NULL", (*int)(nil), true},
		{"SELECT $1::text IS NULL", nil, true},
		{"SELECT $1 * 2", 0.25, 0.5},
		{"SELECT $1 * 2", float32(0.25), 0.5},
		{"SELECT NOT $1", true, false},
		{"SELECT $1 || '!'", "it's", "it's!"},
		{"SELECT upper($1)", []byte("é"), "É"},
		{"SELECT $1 IS NULL", []byte(nil), true},
		{"SELECT $1::text || '.'", []byte{}, "."},
		{"SELECT $1 || ''", stringer{"valued"}, "valued"},
		{"SELECT $1::timestamp", time.Date(294246, 6, 1, 1, 2, 3, 4000, time.UTC), time.Date(294246, 6, 1, 1, 2, 3, 4000, time.UTC)},
		{"SELECT $1::date", time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC), time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC)},
		{"SELECT $1::timestamp", at, at},
		{"SELECT $1::date", at, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"SELECT DATE '2024-03-01' > $1", "2024-02-29", true},
		{"SELECT TIMESTAMP '2024-02-29 00:00:00' + $1", 90 * time.Minute, time.Date(2024, 2, 29, 1, 30, 0, 0, time.UTC)},
		{"SELECT $1 + 1", big.NewInt(1 << 40), "1099511627777"},
		{"SELECT $1::numeric(9,2)", "12.5", "12.50"},
		{"SELECT $1::numeric(9,2) * 2", table.Value{S: "12.5"}, "25.00"},
		{"SELECT $1 || ''", sql.NullString{String: "n", Valid: true}, "n"},
		{"SELECT $1::text IS NULL", sql.NullString{}, true},
		{"SELECT $1 + 1", sql.Null[int32]{V: 5, Valid: true}, int64(6)},
	} {
		for _, prepared := range []bool{false, true} {
			var got any
			var err error
			if prepared {
				var s *sql.Stmt
				if s, err = db.Prepare(c.sql); err == nil {
					err = s.QueryRow(c.in).Scan(&got)
					s.Close()
				}
			} else {
				err = db.QueryRow(c.sql, c.in).Scan(&got)
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s with %T %v: %T %v, %v, want %T %v", c.sql, c.in, c.in, got, got, err, c.want, c.want)
			}
		}
	}
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{sql.Named("x", 1)}, "no named parameters"},
		{[]any{make(chan int)}, "no SQL type"},
		{[]any{[]byte{0x89, 0xff}}, "not valid UTF-8"},
		{[]any{"a\x00b"}, "NUL byte"},
		{[]any{stringer{"\xff"}}, "not valid UTF-8"},
		{[]any{table.Str("\xff")}, "not valid UTF-8"},
		{[]any{time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)}, "timestamp out of range"},
		{[]any{time.Date(294247, 1, 11, 0, 0, 0, 0, time.UTC)}, "timestamp out of range"},
		{[]any{time.Date(-4713, 11, 23, 0, 0, 0, 0, time.UTC)}, "timestamp out of range"},
		{[]any{time.Date(-300000, 1, 1, 0, 0, 0, 0, time.UTC)}, "timestamp out of range"},
		{[]any{}, "1 parameter"},
		{[]any{1, 2}, "1 parameter"},
	} {
		_, err := db.Query("SELECT $1 + 1", c.args...)
		wants(t, err, c.want)
	}
	s, err := db.Prepare("SELECT $1 + $2")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Query(1)
	wants(t, err, "expected 2 arguments, got 1")
	_, err = db.Prepare("SELEC 1")
	wants(t, err, "syntax error")
	_, err = db.Prepare("SELECT 1; SELECT 2")
	wants(t, err, "2 statements where one is expected")
}

func TestColumnTypes(t *testing.T) {
	db := open(t, "?backend=cpu")
	exec(t, db, `CREATE TABLE t (i bigint NOT NULL, n integer, s smallint, f real, d double precision, b boolean NOT NULL, m numeric(9,2), v varchar(5), at date, ts timestamp NOT NULL)`)
	exec(t, db, "INSERT INTO t VALUES (1, 2, 3, 1.5, 2.5, true, 3.25, 'x', '2024-01-02', '2024-01-02 03:04:05'), (1, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, '2024-01-02')")
	rows, err := db.Query("SELECT *, i + 1 AS e, INTERVAL '1 hour' AS w FROM t ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range types {
		null, ok := c.Nullable()
		p, s, sized := c.DecimalSize()
		got = append(got, fmt.Sprint(c.Name(), " ", c.DatabaseTypeName(), " ", c.ScanType(), " ", null, ok, p, s, sized))
	}
	want := []string{"i BIGINT int64 false true 0 0 false", "n INTEGER sql.NullInt64 true true 0 0 false", "s SMALLINT sql.NullInt64 true true 0 0 false",
		"f REAL sql.NullFloat64 true true 0 0 false", "d DOUBLE PRECISION sql.NullFloat64 true true 0 0 false", "b BOOLEAN bool false true 0 0 false",
		"m NUMERIC sql.NullString true true 9 2 true", "v CHARACTER VARYING sql.NullString true true 0 0 false", "at DATE sql.NullTime true true 0 0 false",
		"ts TIMESTAMP WITHOUT TIME ZONE time.Time false true 0 0 false", "e BIGINT sql.NullInt64 true true 0 0 false", "w INTERVAL sql.NullString true true 0 0 false"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	n := 0
	for rows.Next() { // into what ScanType says
		var dest []any
		for _, c := range types {
			dest = append(dest, reflect.New(c.ScanType()).Interface())
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 && *dest[0].(*int64) != 1 || dest[6].(*sql.NullString).Valid != (n == 1) {
			t.Errorf("row %d: %v", n, dest)
		}
	}
	if err := rows.Err(); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// An array is a column, and what comes behind it is not moved.
func TestArrays(t *testing.T) {
	db := open(t, "?backend=cpu")
	var list string
	var n int
	row := db.QueryRow("SELECT percentile_disc(ARRAY[0, 1]) WITHIN GROUP (ORDER BY x), COUNT(*) FROM generate_series(2, 9) AS s(x)")
	if err := row.Scan(&list, &n); err != nil || list != "{2,9}" || n != 8 {
		t.Errorf("%s and %d, %v", list, n, err)
	}
}

// ANY takes slices, as parameters of statements that are prepared, too.
func TestSlices(t *testing.T) {
	db, err := sql.Open("stencildb", "?backend=cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	st, err := db.Prepare("SELECT COUNT(*) FROM generate_series(1, 9) AS s (g) WHERE g = ANY ($1) AND 'x' || g <> ALL ($2)")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for want, ids := range [][]int64{{}, {7, 12}, {1, 7, 9, 7}} {
		var n int
		if err := st.QueryRow(ids, []string{"x9", "y"}).Scan(&n); err != nil || n != want {
			t.Errorf("%v: %d, %v, want %d", ids, n, err, want)
		}
	}
}

func TestRowsAffected(t *testing.T) {
	db := open(t, "?backend=cpu")
	for _, c := range []struct {
		text string
		want int64
	}{
		{"CREATE TABLE t AS SELECT g AS id, 0 AS v FROM generate_series(1, 10) AS q(g)", 10},
		{"UPDATE t SET v = 1 WHERE id > 7", 3},
		{"DELETE FROM t WHERE id = 1; DELETE FROM t WHERE id IN (2, 3)", 3},
		{"INSERT INTO t VALUES (20, 0), (21, 0)", 2},
		{"SELECT * FROM t", 0},
		{"", 0},
	} {
		if got := exec(t, db, c.text); got != c.want {
			t.Errorf("%s: %d rows, want %d", c.text, got, c.want)
		}
	}
	r, err := db.Exec("UPDATE t SET v = 2 WHERE id = $1", 5)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := r.LastInsertId(); err == nil {
		t.Error("there is a last id")
	}
	var v int64 // RETURNING is a query
	if err := db.QueryRow("INSERT INTO t VALUES (30, 5) RETURNING v + 1").Scan(&v); err != nil || v != 6 {
		t.Error(v, err)
	}
	if err := db.QueryRow("SELECT v FROM t WHERE id = 99").Scan(&v); !errors.Is(err, sql.ErrNoRows) {
		t.Error(err)
	}
	_, err = db.Exec("INSERT INTO t VALUES (1, 1); INSERT INTO nothing VALUES (1)")
	wants(t, err, `"nothing" does not exist`)
}

// Of several statements those before an error stay, but in a transaction that they begin.
func TestSeveralStatements(t *testing.T) {
	db := open(t, "?backend=cpu")
	exec(t, db, "CREATE TABLE t (id bigint PRIMARY KEY)")
	for _, text := range []string{"BEGIN; INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); COMMIT", "INSERT INTO t VALUES (2); INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)"} {
		if _, err := db.Exec(text); !errors.Is(err, engine.ErrDuplicateKey) {
			t.Errorf("%s: %v", text, err)
		}
	}
	exec(t, db, "BEGIN; INSERT INTO t VALUES (4); INSERT INTO t VALUES (5); COMMIT")
	for _, none := range []string{"", " ; ", "-- nothing to undo\n", "/* nothing; */"} { // as a migration may have it
		exec(t, db, none)
	}
	var list string
	if err := db.QueryRow("SELECT string_agg(id::text, ' ' ORDER BY id) FROM t").Scan(&list); err != nil || list != "2 4 5" {
		t.Errorf("there are %s, %v", list, err)
	}
}

// Errors of rows that break a rule of the table are of its kind, and of no other one.
func TestRulesOfTables(t *testing.T) {
	kinds := []error{engine.ErrDuplicateKey, engine.ErrNotNull, engine.ErrCheck}
	for _, name := range []string{"?backend=cpu", filepath.Join(t.TempDir(), "db") + "?backend=cpu"} {
		db := open(t, name)
		exec(t, db, "CREATE TABLE t (id bigint PRIMARY KEY, v bigint NOT NULL CHECK (v > 0)); CREATE TABLE u (x bigint, y bigint); INSERT INTO u VALUES (1, NULL), (1, 2)")
		exec(t, db, "INSERT INTO t VALUES (1, 1), (2, 1)")
		for text, want := range map[string]error{
			"INSERT INTO t VALUES (1, 1)":               engine.ErrDuplicateKey,
			"INSERT INTO t VALUES (3, 1), (3, 1)":       engine.ErrDuplicateKey,
			"UPDATE t SET id = 2 WHERE id = 1":          engine.ErrDuplicateKey,
			"CREATE UNIQUE INDEX i ON u (x)":            engine.ErrDuplicateKey,
			"INSERT INTO t VALUES (NULL, 1)":            engine.ErrNotNull,
			"UPDATE t SET v = NULL":                     engine.ErrNotNull,
			"ALTER TABLE u ALTER COLUMN y SET NOT NULL": engine.ErrNotNull,
			"INSERT INTO t VALUES (3, 0)":               engine.ErrCheck,
			"ALTER TABLE u ADD CHECK (x > 1)":           engine.ErrCheck,
			"INSERT INTO t VALUES (3, 1 / 0)":           nil,
		} {
			_, err := db.Exec(text)
			if err == nil {
				t.Errorf("%s is taken", text)
			}
			for _, kind := range kinds {
				if errors.Is(err, kind) != (kind == want) {
					t.Errorf("%s: %v is not only %v", text, err, want)
				}
			}
		}
	}
}

// Each way to run a statement gives its error as an engine.StatementError, with its SQLSTATE and its place.
func TestErrorsOfStatements(t *testing.T) {
	db := open(t, "?backend=cpu")
	if _, err := db.Exec("CREATE TABLE t (i integer PRIMARY KEY); INSERT INTO t VALUES (0)"); err != nil {
		t.Fatal(err)
	}
	drained := func(rows *sql.Rows, err error) error {
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	ways := map[string]func(text string) error{
		"Exec":     func(text string) error { _, err := db.Exec(text); return err },
		"Query":    func(text string) error { return drained(db.Query(text)) },
		"QueryRow": func(text string) error { var n any; return db.QueryRow(text).Scan(&n) },
		"Prepare": func(text string) error {
			s, err := db.Prepare(text)
			if err != nil {
				return err
			}
			defer s.Close()
			return drained(s.Query())
		},
		"Tx": func(text string) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			return drained(tx.Query(text))
		},
	}
	for name, run := range ways {
		for _, c := range []struct {
			text, code   string
			line, column int
		}{
			{"SELECT i\nFRM t\nWHERE", "42601", 2, 5},
			{"SELECT i\nFROM t\n  WHERE j = 1", "42703", 3, 9},
			{"SELECT 'ü',\n 1 / i FROM t", "22012", 2, 4},
			{"SELECT 1 FROM nothing", "42P01", 1, 15},
			{"INSERT INTO t VALUES (0)", "23505", 0, 0},
			{"", "42601", 0, 0},
		} {
			if name == "Exec" && c.text == "" {
				continue // it takes none
			}
			err := run(c.text)
			var of *engine.StatementError
			if !errors.As(err, &of) {
				t.Errorf("%s: %q: %T %v", name, c.text, err, err)
				continue
			}
			if line, column := of.Position(); of.SQLState() != c.code || line != c.line || column != c.column {
				t.Errorf("%s: %q: %s at line %d, column %d, want %s at %d, %d: %v", name, c.text, of.SQLState(), line, column, c.code, c.line, c.column, err)
			}
		}
	}
}

func TestTransactions(t *testing.T) {
	db := open(t, "?backend=cpu")
	exec(t, db, "CREATE TABLE t (id bigint PRIMARY KEY, v bigint)")
	exec(t, db, "INSERT INTO t VALUES (1, 0), (2, 0)")
	begin := func(o *sql.TxOptions) *sql.Tx {
		t.Helper()
		tx, err := db.BeginTx(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	a, b := begin(nil), begin(&sql.TxOptions{Isolation: sql.LevelSnapshot})
	exec(t, a, "UPDATE t SET v = 1 WHERE id = 1")
	exec(t, b, "UPDATE t SET v = 2 WHERE id = 1")
	if n := number(t, db, "SELECT SUM(v) FROM t"); n != 0 {
		t.Errorf("what is not committed is seen: %d", n)
	}
	rows, err := a.Query("SELECT id FROM t") // two answers at a time in a transaction
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	if n := number(t, a, "SELECT SUM(v) FROM t"); n != 1 {
		t.Errorf("own changes: %d", n)
	}
	rows.Close()
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	if err := a.Commit(); !errors.Is(err, sql.ErrTxDone) {
		t.Error(err)
	}
	c := begin(nil)
	exec(t, c, "DELETE FROM t")
	if err := c.Rollback(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"BEGIN", "COMMIT", "end", "ROLLBACK", "SAVEPOINT s; DELETE FROM t; COMMIT"} { // not as text
		c := begin(nil)
		exec(t, c, "SAVEPOINT s; DELETE FROM t WHERE id = 1; ROLLBACK TO s; RELEASE s; DELETE FROM t")
		_, err := c.Exec(text)
		wants(t, err, "the program has begun")
		_, err = c.Exec("SELECT 1")
		wants(t, err, "aborted")
		wants(t, c.Commit(), "rolled back")
		if n := number(t, db, "SELECT COUNT(*) FROM t"); n != 2 {
			t.Fatalf("%s: %d rows are left", text, n)
		}
	}
	r := begin(&sql.TxOptions{ReadOnly: true, Isolation: sql.LevelReadCommitted})
	_, err = r.Exec("DELETE FROM t")
	wants(t, err, "read-only")
	_, err = r.Query("SELECT 1")
	wants(t, err, "aborted")
	wants(t, r.Commit(), "rolled back")
	_, err = db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	wants(t, err, "Serializable is not supported")

	s, err := db.Prepare("UPDATE t SET v = v + $1 WHERE id = 2") // of the DB, in a transaction
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := begin(nil)
	if _, err := d.Stmt(s).Exec(5); err != nil {
		t.Fatal(err)
	}
	if n := number(t, db, "SELECT v FROM t WHERE id = 2"); n != 0 {
		t.Errorf("v is %d before the commit", n)
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := number(t, db, "SELECT v FROM t WHERE id = 2"); n != 5 {
		t.Errorf("v is %d after the commit", n)
	}
	canceled, cancel := context.WithCancel(ctx)
	e, err := db.BeginTx(canceled, nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, e, "DELETE FROM t")
	cancel() // rolls back
	if err := e.Commit(); err == nil {
		t.Error("a canceled transaction is committed")
	}
	if n := number(t, db, "SELECT COUNT(*) FROM t"); n != 2 {
		t.Errorf("%d rows are left", n)
	}
}

// What a connection leaves open is rolled back before another one has it.
func TestSessionsAreReset(t *testing.T) {
	db := open(t, "?backend=cpu")
	db.SetMaxOpenConns(1)
	exec(t, db, "CREATE TABLE t (id bigint)")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "BEGIN; INSERT INTO t VALUES (1)")
	if n := number(t, conn, "SELECT COUNT(*) FROM t"); n != 1 {
		t.Errorf("%d rows in the transaction", n)
	}
	_, err = conn.BeginTx(ctx, nil)
	wants(t, err, "the connection has a transaction")
	err = conn.Raw(func(c any) error {
		if !c.(*stencildb.Conn).Session().Begun() {
			return errors.New("there is no transaction")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	conn.Close()
	if n := number(t, db, "SELECT COUNT(*) FROM t"); n != 0 {
		t.Errorf("%d rows are left of what was not committed", n)
	}
}

// What one connection SETs and prepares another one does not have, nor the same one when it is taken again.
func TestSettingsOfConnections(t *testing.T) {
	db := open(t, "?backend=cpu&statement_timeout=1h")
	db.SetMaxOpenConns(2)
	exec(t, db, "CREATE TABLE t (id bigint)")
	show := func(c executer) (value string) {
		if err := c.QueryRowContext(ctx, "SHOW statement_timeout").Scan(&value); err != nil {
			t.Error(err)
		}
		return value
	}
	var conns [2]*sql.Conn
	for i := range conns {
		c, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = c
	}
	st, err := conns[0].PrepareContext(ctx, "SHOW statement_timeout")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, conns[0], "SET statement_timeout = '2h'; PREPARE p AS SELECT 1")
	exec(t, conns[1], "SET statement_timeout = '3h'")
	var prepared string
	if err := st.QueryRowContext(ctx).Scan(&prepared); err != nil || prepared != "2h" || show(conns[0]) != "2h" || show(conns[1]) != "3h" {
		t.Errorf("the timeouts are %s, %s and %s: %v", prepared, show(conns[0]), show(conns[1]), err)
	}
	tx, err := conns[1].BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, tx, "SET statement_timeout = '4h'")
	if got := show(tx); got != "4h" {
		t.Errorf("the transaction's timeout is %s", got)
	}
	if err := tx.Rollback(); err != nil || show(conns[1]) != "3h" {
		t.Errorf("after it is rolled back the timeout is %s: %v", show(conns[1]), err)
	}
	conns[0].Close()
	again, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(again); got != "1h" {
		t.Errorf("the timeout of a connection that is taken again is %s", got)
	}
	_, err = again.ExecContext(ctx, "EXECUTE p")
	wants(t, err, "does not exist")
	again.Close()
	conns[1].Close()
}

// A context that ends ends the statement that runs, on its way to the first row and among the rows.
func TestContexts(t *testing.T) {
	db := open(t, "?backend=cpu")
	exec(t, db, "CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 200000) AS q(g)")
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	var n int64
	err := db.QueryRowContext(short, "SELECT COUNT(*) FROM t a JOIN t b ON a.id % 1000 < b.id % 999").Scan(&n)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that the time is over", err)
	}
	among, cancel := context.WithCancel(ctx)
	rows, err := db.QueryContext(among, "SELECT id + 1 FROM t WHERE id > $1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	cancel()
	for rows.Next() {
	}
	if err := rows.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it is canceled", err)
	}
	left := errors.New("the user has left")
	caused, end := context.WithCancelCause(ctx)
	time.AfterFunc(20*time.Millisecond, func() { end(left) })
	err = db.QueryRowContext(caused, "SELECT COUNT(*) FROM t a JOIN t b ON a.id % 1000 < b.id % 999").Scan(&n)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, left) {
		t.Errorf("%v, want that it is canceled, and why", err)
	}
	_, err = db.ExecContext(among, "INSERT INTO t VALUES (1)")
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := number(t, db, "SELECT COUNT(*) FROM t"); n != 200000 {
		t.Errorf("%d rows", n)
	}
}

// 64 goroutines transfer between accounts, read the whole, prepare, cancel and roll back on one DB; no sum is ever another one.
func TestManyGoroutines(t *testing.T) {
	for _, name := range []string{"?backend=cpu", filepath.Join(t.TempDir(), "db") + "?backend=cpu"} {
		db := open(t, name)
		exec(t, db, "CREATE TABLE accounts (id bigint PRIMARY KEY, amount bigint NOT NULL)")
		exec(t, db, "INSERT INTO accounts SELECT g, 100 FROM generate_series(0, 31) AS q(g)")
		transfer, err := db.Prepare("UPDATE accounts SET amount = amount + $1 WHERE id = $2")
		if err != nil {
			t.Fatal(err)
		}
		defer transfer.Close()
		var committed, conflicts atomic.Int64
		var work sync.WaitGroup
		for g := range 64 {
			work.Go(func() {
				for k := range 4 {
					switch (g + k) % 4 {
					case 0, 1:
						tx, err := db.BeginTx(ctx, nil)
						if err != nil {
							t.Error(err)
							return
						}
						for i, amount := range []int{-7, 7} {
							if _, err := tx.Stmt(transfer).Exec(amount, (g*5+k+i*11)%32); err != nil {
								t.Error(err)
							}
						}
						if (g+k)%16 == 0 {
							if err := tx.Rollback(); err != nil {
								t.Error(err)
							}
							continue
						}
						switch err := tx.Commit(); {
						case err == nil:
							committed.Add(1)
						case errors.Is(err, engine.ErrConflict):
							conflicts.Add(1)
						default:
							t.Error(err)
						}
					case 2:
						var sum, n int64
						if err := db.QueryRow("SELECT SUM(amount)::bigint, COUNT(*) FROM accounts").Scan(&sum, &n); err != nil || sum != 3200 || n != 32 {
							t.Errorf("%d in %d accounts, %v", sum, n, err)
						}
					case 3:
						short, cancel := context.WithTimeout(ctx, time.Duration(g)*50*time.Microsecond)
						rows, err := db.QueryContext(short, "SELECT id, amount FROM accounts WHERE amount > $1 ORDER BY amount", g)
						if err == nil {
							for rows.Next() {
							}
							err = rows.Err()
							rows.Close()
						}
						cancel()
						if err != nil && !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
					}
				}
			})
		}
		work.Wait()
		if sum := number(t, db, "SELECT SUM(amount)::bigint FROM accounts"); sum != 3200 {
			t.Errorf("%d in all", sum)
		}
		if committed.Load() == 0 {
			t.Error("nothing was committed")
		}
		t.Logf("%d committed, %d conflicts", committed.Load(), conflicts.Load())
	}
}

// A program's own engine.DB has connections, too, and stays open after them.
func TestNewConnector(t *testing.T) {
	own, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	db := sql.OpenDB(stencildb.NewConnector(own))
	exec(t, db, "CREATE TABLE t AS SELECT 1 AS x")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := engine.Collect(own.Query(ctx, "SELECT x FROM t")); err != nil || len(r.Rows) != 1 {
		t.Error(r, err)
	}
	conn, err := stencildb.Driver{}.Open("?backend=cpu")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Prepare("SELECT 1"); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
