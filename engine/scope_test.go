package engine

import (
	"context"
	"strings"
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

// A query reads the columns of all queries around it, however far out and whatever stands between: LATERAL in any place of a FROM, WITH,
// VALUES, DISTINCT ON, set operations, grouping sets, windows, outer joins. The answers are PostgreSQL's.
func TestColumnsAcrossLevels(t *testing.T) {
	cases := []struct{ text, want string }{
		{"SELECT o.k, x.i, p.nm FROM o, LATERAL (SELECT a.i FROM a WHERE a.s = o.s) x JOIN p ON p.i = x.i ORDER BY 1, 2",
			"[[1 1 one] [2 2 two] [2 5 five]]"},
		{"SELECT o.k, x.i, p.nm FROM o, LATERAL (SELECT a.i FROM a WHERE a.i >= o.k) x JOIN p ON p.i = x.i ORDER BY 1, 2",
			"[[1 1 one] [1 2 two] [1 5 five] [2 2 two] [2 5 five] [3 5 five]]"},
		{"SELECT o.k, x.i, p.nm FROM o, p JOIN LATERAL (SELECT a.i FROM a WHERE a.s = o.s) x ON p.i = x.i ORDER BY 1, 2",
			"[[1 1 one] [2 2 two] [2 5 five]]"},
		{"SELECT o.k, q.z, q.y FROM o LEFT JOIN (p CROSS JOIN LATERAL (SELECT p.i + 1 AS z, o.k AS y) q) ON q.z > o.k + 1 ORDER BY 1, 2",
			"[[1 3 1] [1 6 1] [2 6 2] [3 6 3]]"},
		{"SELECT o.k, x.c, y.d FROM o CROSS JOIN (a CROSS JOIN LATERAL (SELECT a.i + o.k AS c) x CROSS JOIN LATERAL (SELECT x.c * o.k AS d WHERE a.s = o.s) y) ORDER BY 1, 2",
			"[[1 2 2] [2 4 8] [2 7 14]]"},
		{"SELECT o.k, y.i FROM o, LATERAL (SELECT w.i FROM p, LATERAL (SELECT a.i FROM a WHERE a.s = o.s AND a.i = p.i) w) y ORDER BY 1, 2",
			"[[1 1] [2 2] [2 5]]"},
		{"SELECT n, m FROM (VALUES (1), (2)) g(n), LATERAL (SELECT n + 1 AS m) y ORDER BY 1",
			"[[1 2] [2 3]]"},
		{"SELECT k FROM o WHERE EXISTS (SELECT 1 FROM a x CROSS JOIN LATERAL (SELECT w.i FROM a w WHERE w.s = o.s) z) ORDER BY 1",
			"[[1] [2]]"},
		{"SELECT k FROM o WHERE EXISTS (SELECT 1 FROM a x LEFT JOIN LATERAL (SELECT w.i FROM a w WHERE w.s = o.s AND w.i > x.i) z ON TRUE WHERE z.i IS NOT NULL) ORDER BY 1",
			"[[2]]"},
		{"SELECT k FROM o WHERE EXISTS (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT 1 FROM a x WHERE x.i IN (SELECT i FROM q)) ORDER BY 1",
			"[[1] [2]]"},
		{"SELECT k FROM o WHERE EXISTS (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT 1 FROM q WHERE EXISTS (WITH q AS (SELECT i + 3 AS i FROM q) SELECT 1 FROM q r WHERE r.i IN (SELECT i FROM q WHERE q.i > 4))) ORDER BY 1",
			"[[2]]"},
		{"SELECT k, (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT count(*) FROM q WHERE i > (SELECT min(i) FROM q)) FROM o ORDER BY 1",
			"[[1 0] [2 1] [3 0]]"},
		{"SELECT i, (WITH q AS (SELECT i FROM a w WHERE w.s = a.s) SELECT count(*) FROM q WHERE i > (SELECT min(i) FROM q)) FROM a ORDER BY 1",
			"[[1 0] [2 1] [5 1]]"},
		{"SELECT k, x.n FROM o, LATERAL (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT count(*) AS n FROM q JOIN LATERAL (SELECT max(i) AS m FROM q z WHERE z.i <> q.i) y ON y.m > q.i) x ORDER BY 1",
			"[[1 0] [2 1] [3 0]]"},
		{"SELECT k, (WITH RECURSIVE x AS (SELECT o.k AS n UNION ALL SELECT n + 1 FROM x WHERE n < 4) SELECT string_agg(n::text, ',' ORDER BY n) FROM x) FROM o ORDER BY 1",
			"[[1 1,2,3,4] [2 2,3,4] [3 3,4]]"},
		{"SELECT k, (WITH RECURSIVE x AS (SELECT 1 AS n UNION SELECT n + o.k FROM x WHERE n < 4) SELECT count(*) FROM x) FROM o ORDER BY 1",
			"[[1 4] [2 3] [3 2]]"},
		{"SELECT k, (WITH RECURSIVE x(n, s) AS (SELECT i, s FROM a WHERE s = o.s UNION SELECT n + 1, a.s FROM x JOIN a ON a.i = n WHERE n < 4) SELECT sum(n) FROM x) FROM o ORDER BY 1",
			"[[1 6] [2 10] [3 NULL]]"},
		{"VALUES ((SELECT max(i) FROM a WHERE EXISTS (SELECT 1 FROM o WHERE o.s = a.s)))",
			"[[5]]"},
		{"VALUES ((SELECT 1), 2), (3, (SELECT count(*) FROM a WHERE i IN (SELECT k FROM o))) ORDER BY 1",
			"[[1 2] [3 2]]"},
		{"SELECT k FROM o WHERE k IN (VALUES (1), (3), ((SELECT max(i) FROM a))) ORDER BY 1",
			"[[1] [3]]"},
		{"SELECT x FROM (VALUES (1), (NULL)) v(x) WHERE EXISTS (VALUES (v.x), (NULL)) ORDER BY 1",
			"[[1] [NULL]]"},
		{"SELECT v.* FROM s CROSS JOIN LATERAL (VALUES ('amt', s.amt), ('qty', s.qty)) v(k, x) ORDER BY 1, 2",
			"[[amt 10] [amt NULL] [qty 1] [qty 3]]"},
		{"SELECT k, x.* FROM o, LATERAL (VALUES (o.k, 'x'), (o.k + 1, o.s), ((SELECT max(a.i) FROM a WHERE a.s = o.s), 'm')) x(a, b) ORDER BY 1, 2, 3",
			"[[1 1 m] [1 1 x] [1 2 a] [2 2 x] [2 3 b] [2 5 m] [3 3 x] [3 4 NULL] [3 NULL m]]"},
		{"SELECT o.k, x.c FROM o CROSS JOIN LATERAL (SELECT DISTINCT ON (y.i) y.i + o.k AS c FROM a y ORDER BY y.i) x ORDER BY 1, 2",
			"[[1 2] [1 3] [1 6] [2 3] [2 4] [2 7] [3 4] [3 5] [3 8]]"},
		{"SELECT o.k, x.c FROM o CROSS JOIN LATERAL (SELECT DISTINCT ON (y.s) y.i * o.k AS c FROM a y WHERE y.i >= o.k ORDER BY y.s, y.i DESC) x ORDER BY 1, 2",
			"[[1 1] [1 5] [2 10] [3 15]]"},
		{"SELECT k, (SELECT max(z.c) FROM a y JOIN LATERAL (SELECT count(*) AS c FROM a w WHERE w.s >= o.s) z ON y.i = z.c) FROM o ORDER BY 1",
			"[[1 NULL] [2 2] [3 NULL]]"},
		{"SELECT k, t.* FROM o, LATERAL (SELECT a.s, count(*), grouping(a.s) FROM a WHERE a.i >= o.k GROUP BY ROLLUP (a.s)) t ORDER BY 1, 2, 3",
			"[[1 a 1 0] [1 b 2 0] [1 NULL 3 1] [2 b 2 0] [2 NULL 2 1] [3 b 1 0] [3 NULL 1 1]]"},
		{"SELECT k, t.* FROM o, LATERAL (SELECT a.s, count(*), sum(a.i) FROM a WHERE a.i > o.k + 3 GROUP BY GROUPING SETS ((a.s), (), ())) t ORDER BY 1, 2, 3",
			"[[1 b 1 5] [1 NULL 1 5] [1 NULL 1 5] [2 NULL 0 NULL] [2 NULL 0 NULL] [3 NULL 0 NULL] [3 NULL 0 NULL]]"},
		{"SELECT k, (SELECT count(*) FROM a FULL JOIN p ON a.i = p.i AND p.i > o.k) FROM o ORDER BY 1",
			"[[1 4] [2 5] [3 5]]"},
		{"SELECT k, t.* FROM o, LATERAL (SELECT x.i, y.i AS j FROM (SELECT * FROM a WHERE a.i > o.k) x FULL JOIN (SELECT * FROM p WHERE p.i <= o.k) y ON x.i = y.i) t ORDER BY 1, 2, 3",
			"[[1 2 NULL] [1 5 NULL] [1 NULL 1] [2 5 NULL] [2 NULL 1] [2 NULL 2] [3 5 NULL] [3 NULL 1] [3 NULL 2]]"},
		{"SELECT k, t.* FROM o, LATERAL ((SELECT i FROM a WHERE a.s = o.s) EXCEPT ALL (SELECT o.k + 3) UNION ALL (SELECT o.k LIMIT 1)) t ORDER BY 1, 2",
			"[[1 1] [1 1] [2 2] [2 2] [3 3]]"},
		{"SELECT k, t.* FROM o, LATERAL (SELECT i, sum(i) OVER (ORDER BY i) AS r FROM a WHERE EXISTS (SELECT 1 FROM p WHERE p.i = a.i AND p.i > o.k)) t ORDER BY 1, 2",
			"[[1 2 2] [1 5 7] [2 5 5] [3 5 5]]"},
		{"SELECT (SELECT max(o.k)) FROM o",
			"[[3]]"},
		{"SELECT o.s FROM o GROUP BY o.s HAVING EXISTS (SELECT 1 FROM a WHERE a.i = max(o.k)) ORDER BY 1",
			"[[a] [b]]"},
		{"SELECT o.s, (SELECT count(*) FROM a WHERE a.i <= sum(o.k)) FROM o GROUP BY o.s ORDER BY 1",
			"[[a 1] [b 2] [NULL 2]]"},
		{"SELECT o.s, (SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM p WHERE p.i = a.i AND p.i <= max(o.k) FILTER (WHERE o.k < 3))) FROM o GROUP BY o.s ORDER BY 1",
			"[[a 1] [b 2] [NULL 0]]"},
		{"SELECT (SELECT max(i) FROM a WHERE a.s = o.s) + 1, count(*) FROM o GROUP BY (SELECT max(i) FROM a WHERE a.s = o.s) HAVING coalesce((SELECT max(i) FROM a WHERE a.s = o.s), 9) > 1 ORDER BY (SELECT max(i) FROM a WHERE a.s = o.s)",
			"[[6 1] [NULL 1]]"},
		{"SELECT k, g, h FROM o, generate_series(1, k) g, generate_series(k + 1, g, -1) h WHERE k < 3 ORDER BY 1, 2, 3", "[[1 1 1] [1 1 2] [2 1 1] [2 1 2] [2 1 3] [2 2 2] [2 2 3]]"},
		{"SELECT k, (SELECT sum(g * o.k) FROM generate_series(1, (SELECT count(*) FROM a WHERE a.i <= o.k + 2)) g) FROM o ORDER BY 1", "[[1 3] [2 6] [3 18]]"},
		{"SELECT k, g FROM o LEFT JOIN generate_series(2.5, o.k, 0.25) g ON g < 3 ORDER BY 1, 2", "[[1 NULL] [2 NULL] [3 2.50] [3 2.75]]"},
	}
	for _, backend := range []string{"cpu", "auto"} {
		db := scoped(t, backend)
		for _, c := range cases {
			if got := inWords(Collect(db.Query(context.Background(), c.text))); got != c.want {
				t.Errorf("%s: %s\n gives %s\n want %s", backend, c.text, got, c.want)
			}
		}
	}
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

// What PostgreSQL refuses of queries that read one another is refused in its words.
func TestScopesThatAreRefused(t *testing.T) {
	db := scoped(t, "cpu")
	for text, want := range map[string]string{
		"SELECT k FROM o WHERE k = (SELECT max(o.k) FROM a)":                                                                         "aggregate functions are not allowed in WHERE",
		"SELECT k FROM o, LATERAL (SELECT max(o.k) FROM a) x":                                                                        "aggregate functions are not allowed in FROM clause of their own query level",
		"SELECT k FROM o RIGHT JOIN LATERAL (SELECT i FROM a WHERE a.s = o.s) x ON TRUE":                                             "the combining JOIN type must be INNER or LEFT for a LATERAL reference",
		"SELECT k FROM o FULL JOIN (p CROSS JOIN LATERAL (SELECT o.k + p.i) x) ON TRUE":                                              "the combining JOIN type must be INNER or LEFT for a LATERAL reference",
		"SELECT 1 FROM o, (SELECT i FROM a WHERE a.s = o.s) x":                                                                       "there is no table o",
		"SELECT 1 FROM LATERAL (SELECT o.k) x, o":                                                                                    "there is no table o",
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n IN (SELECT * FROM x)) SELECT * FROM x":             "must not appear within a subquery",
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT 2 FROM a WHERE EXISTS (SELECT 1 FROM x)) SELECT * FROM x":               "must not appear within a subquery",
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT x.n + 1 FROM o LEFT JOIN x ON x.n = o.k WHERE x.n < 4) SELECT * FROM x": "must not appear within an outer join",
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL (SELECT 2 EXCEPT SELECT n FROM x)) SELECT * FROM x":                            "must not appear within EXCEPT",
		"WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT b.n + 1 FROM x b, x c WHERE b.n < 4) SELECT * FROM x":                   "must not appear more than once",
		"WITH RECURSIVE o AS (SELECT k FROM o UNION ALL SELECT 1) SELECT * FROM o":                                                   "must not appear within its non-recursive term",
		"WITH RECURSIVE o AS (SELECT k FROM o) SELECT * FROM o":                                                                      "recursive reference to query \"o\"",
		"SELECT count(x.*) FROM o LEFT JOIN o AS x ON x.k > o.k":                                                                     "count of all columns of a table is not supported: write COUNT(*)",
		"SELECT * FROM o RIGHT JOIN generate_series(1, o.k) g ON TRUE":                                                               "the combining JOIN type must be INNER or LEFT for a LATERAL reference",
		"SELECT * FROM o, generate_series(1, o.k, 0) g":                                                                              "step size cannot equal zero",
		"SELECT * FROM generate_series(1, g) g":                                                                                      "column \"g\" does not exist",
	} {
		if got := inWords(Collect(db.Query(context.Background(), text))); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	got := inWords(Collect(db.Query(context.Background(), "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT y.n + 1 FROM (SELECT * FROM x) y LEFT JOIN o ON o.k = y.n WHERE y.n < 4) SELECT * FROM x ORDER BY 1")))
	if got != "[[1] [2] [3] [4]]" {
		t.Errorf("a query in FROM may read what came last: %s", got)
	}
}
