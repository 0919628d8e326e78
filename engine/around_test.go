package engine

import (
	"context"
	"testing"
)

// What a subquery reads of the queries around it is a column of these, whatever has its name or its number nearer by: in tests of IN, ANY and ALL, in
// keys, HAVING, aggregates, ORDER BY and DISTINCT ON.
func TestColumnsOfQueriesAround(t *testing.T) {
	const (
		numbers = "WITH a(x) AS (VALUES (1),(2)), b(y) AS (VALUES (10),(20),(30)), c(z) AS (VALUES (1),(10)) "
		texts   = "WITH a(x) AS (VALUES ('p'),('q')), b(y) AS (VALUES (10),(20)), c(z) AS (VALUES ('p')) "
		named   = "WITH a(i) AS (VALUES (1),(2),(3)), b(i,z) AS (VALUES (1,5),(1,6),(2,7)) "
	)
	for text, want := range map[string]string{
		numbers + "SELECT x, (SELECT COUNT(*) FROM b WHERE x IN (SELECT z FROM c)) FROM a":                               "[[1 3] [2 0]]",
		numbers + "SELECT x, (SELECT COUNT(*) FROM b WHERE x NOT IN (SELECT z FROM c)) FROM a":                           "[[1 0] [2 3]]",
		numbers + "SELECT x, (SELECT COUNT(*) FROM b WHERE x >= ALL (SELECT z - 8 FROM c)) FROM a":                       "[[1 0] [2 3]]",
		numbers + "SELECT x, (SELECT COUNT(*) FROM b WHERE x + 0 = ANY (SELECT z FROM c WHERE z < y)) FROM a":            "[[1 3] [2 0]]",
		numbers + "SELECT x, (SELECT COUNT(*) FROM b WHERE (x, y) IN (SELECT z, z * 10 FROM c)) FROM a":                  "[[1 1] [2 0]]",
		numbers + "SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE x IN (SELECT z FROM c))":                          "[[1]]",
		numbers + "SELECT x FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE x IN (SELECT z FROM c))":                      "[[2]]",
		numbers + "SELECT x, y FROM a, LATERAL (SELECT MAX(y) AS y FROM b WHERE x IN (SELECT z FROM c)) l":               "[[1 30] [2 NULL]]",
		numbers + "SELECT x, (SELECT COUNT(*) FROM b JOIN c ON x IN (SELECT z FROM c)) FROM a":                           "[[1 6] [2 0]]",
		numbers + "SELECT x, (SELECT COUNT(*) FROM b WHERE EXISTS (SELECT 1 FROM c WHERE x IN (SELECT z FROM c)))FROM a": "[[1 3] [2 0]]",
		texts + "SELECT x, (SELECT COUNT(*) FROM b WHERE x IN (SELECT z FROM c)) FROM a":                                 "[[p 2] [q 0]]",
		named + "SELECT i FROM a WHERE EXISTS (SELECT 1 FROM b GROUP BY b.i HAVING b.i = a.i)":                           "[[1] [2]]",
		named + "SELECT i, (SELECT MAX(z) FROM b GROUP BY b.i HAVING b.i = a.i) FROM a":                                  "[[1 6] [2 7] [3 NULL]]",
		named + "SELECT a.i, l.* FROM a, LATERAL (SELECT a.i AS ai, b.i AS bi FROM b GROUP BY b.i) l ORDER BY 1, 3":      "[[1 1 1] [1 1 2] [2 2 1] [2 2 2] [3 3 1] [3 3 2]]",
		named + "SELECT i, (SELECT COUNT(*) FROM (SELECT 1 FROM b GROUP BY a.i, b.i) s) FROM a":                          "[[1 2] [2 2] [3 2]]",
		named + "SELECT i, (SELECT z FROM b ORDER BY a.i, b.i DESC LIMIT 1) FROM a":                                      "[[1 7] [2 7] [3 7]]",
		named + "SELECT i, (SELECT SUM(a.i * z) + 100 * SUM(b.i * z) FROM b) FROM a":                                     "[[1 2518] [2 2536] [3 2554]]",
		named + "SELECT i, (SELECT COUNT(*) FROM (SELECT DISTINCT ON (b.i) b.i, a.i FROM b ORDER BY b.i, a.i) s) FROM a": "[[1 2] [2 2] [3 2]]",
	} {
		for _, backend := range []string{"cpu", "auto"} {
			db := open(t, Options{Backend: backend})
			if got := inWords(Collect(db.Query(context.Background(), text))); got != want {
				t.Errorf("%s: %s gives %s, want %s", backend, text, got, want)
			}
		}
	}
}

// A key that has another one in it, or is a constant, is NULL in the rows of the sets that do not have it.
func TestKeysThatAreLikeOthers(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	for text, want := range map[string]string{
		"SELECT lower(v), lower(lower(v)), COUNT(*) FROM (VALUES ('X'), ('y')) t(v) GROUP BY ROLLUP (lower(v), lower(lower(v)))": "[[x x 1] [y y 1] [x NULL 1] [y NULL 1] [NULL NULL 2]]",
		"SELECT abs(abs(k)) + 1, COUNT(*) FROM (VALUES (1), (-2)) t(k) GROUP BY ROLLUP (abs(k), abs(abs(k)))":                    "[[2 1] [3 1] [NULL 1] [NULL 1] [NULL 2]]",
		"SELECT 'a'::text, k, COUNT(*) FROM (VALUES (1), (2)) t(k) GROUP BY ROLLUP ('a'::text, k)":                               "[[a 1 1] [a 2 1] [a NULL 2] [NULL NULL 2]]",
		"SELECT 1, k, 2 + k, COUNT(*) FROM (VALUES (1), (2)) t(k) GROUP BY ROLLUP (k)":                                           "[[1 1 3 1] [1 2 4 1] [1 NULL NULL 2]]",
		"SELECT k % 7 + 1, k % 7, COUNT(*) FROM (VALUES (1), (8)) t(k) GROUP BY k % 7, k % 7 + 1":                                "[[2 1 2]]",
	} {
		if got := inWords(Collect(db.Query(context.Background(), text))); got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}
