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

// A recursion without an end, of which all rows are wanted, ends at the bounds of memory and of steps.
func TestRecursionWithoutEnd(t *testing.T) {
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
