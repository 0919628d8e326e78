package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

// nestedDB has two small tables with NULLs, which are read from files when a statement needs them.
func nestedDB(t *testing.T, backend string) *engine.DB {
	t.Helper()
	db, err := engine.Open(engine.Options{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for name, text := range map[string]string{"t": "a,b\n1,10\n2,20\n3,\n,40\n2,50\n", "u": "k,v\n1,100\n2,200\n2,201\n5,\n,7\n"} {
		path := filepath.Join(t.TempDir(), name+".csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := db.Load(context.Background(), name, ingest.Source{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// nestedGives asks backends for a statement's answer: values, with commas between rows.
func nestedGives(t *testing.T, sql, want string, backends ...string) {
	t.Helper()
	for _, backend := range backends {
		db := nestedDB(t, backend)
		rows, err := engine.Collect(db.Query(context.Background(), sql))
		if err != nil {
			t.Errorf("%s on %s: %v", sql, backend, err)
			continue
		}
		var got []string
		for _, r := range rows.Rows {
			got = append(got, strings.Trim(fmt.Sprint(r), "[]"))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s on %s:\n got %s\nwant %s", sql, backend, text, want)
		}
	}
}

// A recursion without an end stops where its readers have enough, else at its bounds.
func TestRecursionWithoutEnd(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r LIMIT 3", "1, 2, 3"},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r LIMIT 0", ""},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT n * 2 FROM r WHERE n % 7 = 0 AND n > 20 LIMIT 2 OFFSET 1", "56, 70"},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r), s AS (SELECT 2 * n AS m FROM r) SELECT (SELECT m FROM s WHERE m > 5 LIMIT 1)", "6"},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT 0 UNION ALL SELECT n FROM r LIMIT 3", "0, 1, 2"},
		{"SELECT a FROM t UNION SELECT k FROM u ORDER BY 1", "1, 2, 3, 5, NULL"},
		{"SELECT a FROM t INTERSECT ALL SELECT k FROM u ORDER BY 1", "1, 2, 2, NULL"},
		{"SELECT a FROM t EXCEPT SELECT k FROM u", "3"},
		{"SELECT s, n FROM (VALUES (1, 'a'), (2, 'b')) v(n, s) ORDER BY n DESC", "b 2, a 1"},
		{"SELECT COUNT(*) FROM t WHERE EXISTS (SELECT (SELECT COUNT(k) FROM u), x.a FROM (SELECT a FROM t EXCEPT ALL SELECT k FROM u) x LEFT JOIN (SELECT p.v, 0.5 AS h FROM u p JOIN u q ON p.k = q.k) y ON x.a = y.h LIMIT 0)", "0"}, // which, once it has the count, reads more of y
		{"SELECT COUNT(*), SUM(n) FROM generate_series(1, 100, 3) AS g(n)", "34 1717"},
		{"SELECT d FROM generate_series(DATE '2024-01-31', '2024-04-01', INTERVAL '1 month') AS g(d)", "2024-01-31 00:00:00, 2024-02-29 00:00:00, 2024-03-29 00:00:00"},
	} {
		nestedGives(t, c.sql, c.want, "cpu", "auto")
	}
	db, err := engine.Open(engine.Options{Backend: "cpu", HostMemory: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	text := "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT MAX(n) FROM r"
	for _, want := range []string{"may have no end (its rows", "51 rows and may have no end (50 steps)"} {
		if rows, err := engine.Collect(db.Query(context.Background(), text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", text, rows, err, want)
		}
		defer engine.SetMaxSteps(50)()
	}
}

func TestNestedErrors(t *testing.T) {
	db := nestedDB(t, "cpu")
	for _, c := range []struct{ sql, want string }{
		{"SELECT (SELECT v FROM u)", "more than one row returned by a subquery used as an expression (line 1, column 8)"},
		{"SELECT a, (SELECT v FROM u WHERE k = a) FROM t", "more than one row returned by a subquery used as an expression (line 1, column 11)"},
		{"SELECT * FROM generate_series(1, 5, 0) AS g", "step size cannot equal zero"},
		{"SELECT a FROM t RIGHT JOIN LATERAL (SELECT v FROM u WHERE k = a) x ON EXISTS (SELECT 1 FROM u WHERE k = a)", "the combining JOIN type must be INNER or LEFT for a LATERAL reference"},
		{"SELECT a, (SELECT k FROM u WHERE k > a ORDER BY k LIMIT 2) FROM t", "more than one row returned by a subquery used as an expression (line 1, column 11)"},
	} {
		rows, err := engine.Collect(db.Query(context.Background(), c.sql))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %s", c.sql, rows, err, c.want)
		}
	}
}

// DECIMALs of different digits in one column keep their points.
func TestDecimalsOfDifferentDigits(t *testing.T) {
	db := nestedDB(t, "cpu")
	for sql, want := range map[string]string{
		"SELECT x FROM (VALUES (0.5), (12.25), (3)) v(x) ORDER BY x":              "[[0.50] [3.00] [12.25]]",
		"SELECT x + 1 FROM (SELECT 0.5 AS x UNION ALL SELECT 12.25) v ORDER BY 1": "[[1.50] [13.25]]",
		"SELECT 0.5 UNION SELECT 3000000000 ORDER BY 1":                           "[[0.5] [3000000000.0]]",
	} {
		rows, err := engine.Collect(db.Query(context.Background(), sql))
		if err != nil || fmt.Sprint(rows.Rows) != want {
			t.Errorf("%s: %v, %v; want %s", sql, rows, err, want)
		}
	}
}

// EXPLAIN shows the trees of subqueries, ANALYZE what they gave.
func TestExplainNested(t *testing.T) {
	db := nestedDB(t, "cpu")
	for text, want := range map[string][]string{
		"EXPLAIN SELECT a FROM t WHERE b > (SELECT AVG(v) FROM u)":                                                             {"(subquery 1)", "Aggregate(AVG(v))", "Scan(u)"},
		"EXPLAIN SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = a)":                                                   {"Join(semi", "Scan(t)", "Scan(u)"},
		"EXPLAIN ANALYZE SELECT n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) s WHERE n > 1":                              {"Derived(s) (1 row,", "Rows: 1"},
		"EXPLAIN ANALYZE WITH w AS (SELECT a FROM t) SELECT COUNT(*) FROM w x JOIN w y ON x.a = y.a":                           {"Derived(x) (5 rows", "as above", "Execution time"},
		"EXPLAIN ANALYZE SELECT a FROM t WHERE b > (SELECT AVG(v) FROM u) AND EXISTS (SELECT 1 FROM u)":                        {"Subquery gives 127", "Subquery gives 5", "double precision) > 127", "Aggregate(COUNT(*))"},
		"EXPLAIN ANALYZE WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT COUNT(*) FROM r": {"Recursion", "Project(n + 1", "Rows: 1"},
		"EXPLAIN (ANALYZE, FORMAT JSON) SELECT a FROM t WHERE b > (SELECT AVG(v) FROM u WHERE v > 0) AND a > 0":                {`"subqueries"`, `"Filter(v > 0)"`},
	} {
		rows, err := engine.Collect(db.Query(context.Background(), text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		all := fmt.Sprint(rows.Rows)
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: no %q in %s", text, w, all)
			}
		}
	}
}

// EXISTS of a selection that reads nothing around it is whether an occlusion query counts a record.
func TestExistsByOcclusionQuery(t *testing.T) {
	db := nestedDB(t, "classic")
	x, err := db.Explain(context.Background(), "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT v FROM u WHERE v > 0 ORDER BY v) AND NOT EXISTS (SELECT 1 FROM u WHERE k = 77)", engine.ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(x.Lines(), "\n")
	if len(x.Subqueries) != 2 || strings.Contains(lines, "Join(") || strings.Count(lines, "CopyToDepth(") != 1 {
		t.Errorf("%d subqueries in\n%s", len(x.Subqueries), lines)
	}
}
