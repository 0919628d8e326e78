package engine

import (
	"context"
	"strings"
	"testing"
)

// random() and gen_random_uuid() give each row a value that stays what it is within the statement. TABLESAMPLE takes about the part
// that is asked for. With REPEATABLE it takes the same rows on all backends.
func TestRandom(t *testing.T) {
	first := map[string]string{}
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend, ChunkRows: 1000})
		defer db.Close()
		do(t, db, "CREATE TABLE t AS SELECT x, random() AS r, gen_random_uuid() AS u FROM generate_series(1, 3000) g(x)")
		do(t, db, "DELETE FROM t WHERE x % 10 = 0")
		for _, c := range []struct{ text, want string }{
			{"SELECT COUNT(DISTINCT r), COUNT(DISTINCT u), MIN(r) >= 0 AND MAX(r) < 1, abs(AVG(r) - 0.5) < 0.04, bool_and(u ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$') FROM t", "2700|2700|true|true|true"},
			{"SELECT COUNT(*), COUNT(r = s OR NULL), COUNT(*) FILTER (WHERE r + r = q) FROM (SELECT r, r + r AS q, random() AS s FROM (SELECT random() AS r FROM t) v) w WHERE r < 2", "2700|0|2700"},
			{"SELECT abs(COUNT(*) - 270) < 100, COUNT(*) = COUNT(DISTINCT x), bool_and(x % 10 > 0) FROM t TABLESAMPLE BERNOULLI (10)", "true|true|true"},
			{"SELECT COUNT(*) FROM t AS s TABLESAMPLE SYSTEM (100) WHERE s.x > 0", "2700"},
			{"SELECT COUNT(*) FROM t TABLESAMPLE BERNOULLI (0)", "0"},
			{"SELECT COUNT(*) FROM t JOIN t u TABLESAMPLE BERNOULLI (50 + 50.0) ON t.x = u.x", "2700"},
			{"WITH v AS (SELECT x FROM t WHERE x < 100) SELECT MAX(x) FROM v TABLESAMPLE BERNOULLI (100)", "99"},
			{"SELECT COUNT(DISTINCT r) FROM (VALUES (random()), (random())) v(r)", "2"},
			{"SELECT random() = random(), length(gen_random_uuid())", "false|36"},
			{"SELECT COUNT(*), COUNT(DISTINCT s), COUNT(DISTINCT u), COUNT(DISTINCT o) FROM (SELECT (SELECT random() + t.x * 0) AS s, (SELECT gen_random_uuid() || left(t.u, 0)) AS u, (SELECT random()) AS o FROM t) v", "2700|2700|2700|1"},
			{"SELECT x FROM t WHERE random() < 0.1", "!random() is not supported in WHERE: compute it in FROM, as in FROM (SELECT *, random() AS r FROM t) s (line 1, column 23)"},
			{"SELECT SUM(random()) FROM t", "!random() is not supported in an aggregate: compute it in FROM"},
			{"CREATE TABLE d (r double precision DEFAULT random())", "!random() in the definition of a table is not supported: write it in the INSERT"},
			{"SELECT * FROM t TABLESAMPLE BERNOULLI (101)", "!sample percentage must be between 0 and 100 (line 1, column 17)"},
			{"SELECT * FROM t TABLESAMPLE BERNOULLI (x)", "!"},
			{"SELECT * FROM t TABLESAMPLE coins (1)", "!tablesample method coins does not exist; there are BERNOULLI and SYSTEM"},
		} {
			if backend != "cpu" {
				break
			}
			got := said(Collect(db.Query(context.Background(), c.text)))
			if got != c.want && !(strings.HasPrefix(c.want, "!") && strings.HasPrefix(got, c.want)) {
				t.Errorf("%s on %s:\n got %s\nwant %s", c.text, backend, got, c.want)
			}
		}
		for _, text := range []string{"SELECT COUNT(*), SUM(x) FROM t TABLESAMPLE SYSTEM (5) REPEATABLE (42)", "SELECT COUNT(*), SUM(x) FROM t TABLESAMPLE BERNOULLI (5) REPEATABLE (43)"} {
			got := said(Collect(db.Query(context.Background(), text)))
			if before := first[text]; before != "" && before != got {
				t.Errorf("%s on %s: %s, and %s before", text, backend, got, before)
			}
			first[text] = got
		}
		const shuffled = "SELECT string_agg(x::text, ',') FROM (SELECT x FROM t ORDER BY random() LIMIT 20) s"
		if a, b := said(Collect(db.Query(context.Background(), shuffled))), said(Collect(db.Query(context.Background(), shuffled))); a == b {
			t.Errorf("twice the same order: %s", a)
		}
	}
	if len(first) != 2 || first["SELECT COUNT(*), SUM(x) FROM t TABLESAMPLE SYSTEM (5) REPEATABLE (42)"] == first["SELECT COUNT(*), SUM(x) FROM t TABLESAMPLE BERNOULLI (5) REPEATABLE (43)"] {
		t.Errorf("other seeds give the same rows: %v", first)
	}
}
