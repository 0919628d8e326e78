package engine

import (
	"context"
	"testing"
)

// scoped has small tables with NULLs.
func scoped(t *testing.T, backend string) *DB {
	t.Helper()
	db := open(t, Options{Backend: backend})
	for _, text := range []string{
		"CREATE TABLE o(k int, s text)", "INSERT INTO o VALUES (1,'a'),(2,'b'),(3,NULL)",
		"CREATE TABLE a(i int, s text)", "INSERT INTO a VALUES (1,'a'),(2,'b'),(5,'b')",
		"CREATE TABLE p(i int, nm text)", "INSERT INTO p VALUES (1,'one'),(2,'two'),(5,'five')",
		"CREATE TABLE s(amt int, qty int)", "INSERT INTO s VALUES (10,1),(NULL,3)",
	} {
		if _, err := db.Exec(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// Changes read across levels as queries do.
func TestChangesAcrossLevels(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ text, want string }{
		{"DELETE FROM o WHERE NOT EXISTS (SELECT 1 FROM a x CROSS JOIN LATERAL (SELECT w.i FROM a w WHERE w.s = o.s) z)", "[[1 a] [2 b]]"},
		{"DELETE FROM o WHERE EXISTS (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT 1 FROM a x WHERE x.i IN (SELECT i + 3 FROM q))", "[[1 a] [3 NULL]]"},
		{"INSERT INTO o VALUES ((SELECT max(i) FROM a WHERE EXISTS (SELECT 1 FROM o WHERE o.s = a.s)), 'n')", "[[1 a] [2 b] [3 NULL] [5 n]]"},
		{"INSERT INTO o SELECT x.i + 6, x.s FROM p, LATERAL (SELECT a.i, a.s FROM a WHERE a.i = p.i AND EXISTS (VALUES (p.i), (a.i))) x WHERE p.nm <> 'one'", "[[1 a] [2 b] [3 NULL] [8 b] [11 b]]"},
		{"UPDATE o SET k = (SELECT max(y.c) FROM p, LATERAL (SELECT DISTINCT ON (a.s) a.i + o.k AS c FROM a WHERE a.i <= p.i ORDER BY a.s, a.i DESC) y)", "[[6 a] [7 b] [8 NULL]]"},
		{"UPDATE o SET s = x.s FROM p JOIN LATERAL (SELECT a.s FROM a WHERE a.i = p.i) x ON TRUE WHERE p.i = o.k + 3 OR p.i = 1 AND o.k = 3", "[[1 a] [2 b] [3 a]]"},
	} {
		db := scoped(t, "cpu")
		if _, err := db.Exec(ctx, c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if got := inWords(Collect(db.Query(ctx, "SELECT k, s FROM o ORDER BY 1"))); got != c.want {
			t.Errorf("after %s: %s, want %s", c.text, got, c.want)
		}
	}
}
