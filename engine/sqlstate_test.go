package engine

import (
	"context"
	"errors"
	"testing"
)

// Each kind of error has PostgreSQL 15's code, on every backend, and its place.
func TestSQLState(t *testing.T) {
	ctx := context.Background()
	for _, backend := range Backends() {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE t (i integer PRIMARY KEY, n integer NOT NULL, s text CHECK (s <> 'no'))")
		do(t, db, "INSERT INTO t VALUES (1, 0, '1'), (2, 2147483647, 'x')")
		for _, c := range []struct{ text, code string }{
			{"SELEC 1", "42601"}, {"SELECT * FROM nothing", "42P01"}, {"SELECT j FROM t", "42703"}, {"SELECT i FROM t a JOIN t b ON true", "42702"},
			{"UPDATE t SET n = true", "42804"}, {"SELECT * FROM t WHERE i", "42804"}, {"SELECT 1 / n FROM t", "22012"}, {"SELECT n + 1 FROM t", "22003"},
			{"SELECT CAST(s AS integer) FROM t", "22P02"}, {"SELECT CAST(true AS date)", "42846"}, {"INSERT INTO t VALUES (1, 1, '')", "23505"},
			{"INSERT INTO t VALUES (3, NULL, '')", "23502"}, {"INSERT INTO t VALUES (3, 3, 'no')", "23514"}, {"SELECT s + true FROM t", "42883"},
			{"SELECT i, COUNT(*) FROM t", "42803"}, {"CREATE TABLE t (i integer)", "42P07"}, {"SELECT (SELECT i FROM t)", "21000"}, {"SELECT 1 LIMIT -1", "2201W"},
			{"SELECT i FROM t FOR UPDATE", "0A000"},
		} {
			_, err := Collect(db.Query(ctx, c.text))
			var e interface{ SQLState() string }
			if !errors.As(err, &e) || e.SQLState() != c.code {
				t.Errorf("%s: %s: %v, want %s", backend, c.text, err, c.code)
			} else if of := (*StatementError)(nil); !errors.As(err, &of) || of.SQLState() != c.code {
				t.Errorf("%s: %s: %T", backend, c.text, err)
			}
		}
		_, err := db.Exec(ctx, "SELECT i,\n  ü FROM t")
		of := (*StatementError)(nil)
		if !errors.As(err, &of) {
			t.Fatal(err)
		}
		if line, column := of.Position(); line != 2 || column != 3 {
			t.Errorf("%s: line %d, column %d", backend, line, column)
		}
	}
}
