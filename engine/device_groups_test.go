package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// A device finds the groups by keys that are computed, and the groups of the finest of several sets of keys. It finds the
// different values of a column, too. There are several chunks with codes of their own, NULLs, deleted rows, texts, conditions, and tables without rows. It does
// so on two devices, beside cpu, and in windows. Their answers are cpu's. by is what EXPLAIN says of the device; nothing where cpu
// does it.
func TestGroupsThatADeviceComputes(t *testing.T) {
	const group, bits = "Group(", "Mark(COUNT(DISTINCT "
	onCPU := openStar(t, Options{Backend: "cpu"})
	dbs := map[string]*DB{"compute": openStar(t, Options{Backend: "compute"}), "two": openStar(t, Options{Backend: "compute", Device: "0,1"}),
		"both": openStar(t, Options{Backend: "both"}), "windows": openStar(t, Options{Backend: "compute"}), "fused": openStar(t, Options{Backend: "fused"})}
	for _, db := range dbs {
		deleteFirst(t, db)
	}
	deleteFirst(t, onCPU)
	inWindows(t, dbs["windows"])
	for _, c := range []struct{ sql, by string }{
		{"SELECT m, b % 2, COUNT(*) FROM fact GROUP BY ROLLUP (m, b % 2) ORDER BY 1, 2, 3", group},
		{"SELECT m, n % 3, COUNT(n), SUM(n), MIN(b), AVG(n) FROM fact GROUP BY CUBE (m, n % 3) ORDER BY 1, 2, 3", group},
		{"SELECT a % 7, m, COUNT(*), GROUPING(m) FROM fact WHERE n > 0 GROUP BY ROLLUP (a % 7, m) ORDER BY 1, 2, 3, 4", group},
		{"SELECT a % 7, m, COUNT(*) FROM fact WHERE n > 100000 GROUP BY ROLLUP (a % 7, m) ORDER BY 1, 2, 3", ""},
		{"SELECT m, b, COUNT(DISTINCT n) FROM fact GROUP BY ROLLUP (m, b) ORDER BY 1, 2, 3", ""},
		{"SELECT m, a, SUM(n) FROM fact GROUP BY GROUPING SETS ((m), (a)) ORDER BY 1, 2, 3", ""},
		{"SELECT name, COUNT(*) FROM dim GROUP BY ROLLUP (name, size) ORDER BY 1, 2", group},
		{"SELECT n % 10 + m, COUNT(*), SUM(b), MAX(n) FROM fact GROUP BY 1 ORDER BY 1", group},
		{"SELECT b / 100, n < 0, COUNT(*), SUM(n) FROM fact WHERE b > 50 GROUP BY 1, 2 ORDER BY 1, 2", group},
		{"SELECT b % 2, b, COUNT(*) FROM fact GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT 20", ""}, // b tells b % 2 apart
		{"SELECT length(name), COUNT(*) FROM far GROUP BY 1 ORDER BY 1", group},
		{"SELECT 10 / (m - 3), COUNT(*) FROM fact WHERE m <> 3 GROUP BY 1 ORDER BY 1", ""},
		{"SELECT 10 / (m - 3), COUNT(*) FROM fact GROUP BY 1", ""}, // a row raises an error
		{"SELECT CASE WHEN n > 0 THEN m END, COUNT(*) FROM fact GROUP BY 1 ORDER BY 1", ""},
		{"SELECT COUNT(DISTINCT b) FROM fact", bits},
		{"SELECT COUNT(DISTINCT a) FROM fact", bits},
		{"SELECT COUNT(DISTINCT n) FROM fact WHERE b < 700 AND n > -400", bits},
		{"SELECT COUNT(DISTINCT n) FROM fact WHERE n > 100000", ""},
		{"SELECT COUNT(DISTINCT n) FROM fact WHERE n IS NULL", ""},
		{"SELECT COUNT(DISTINCT name) FROM far", bits},
		{"SELECT COUNT(DISTINCT name) FROM dim", bits},
		{"SELECT COUNT(DISTINCT edge) FROM dim", ""}, // as far apart as codes may be
		{"SELECT COUNT(DISTINCT n) FROM fact WHERE 10 / (m - 3) > 0", ""},
		{"SELECT COUNT(DISTINCT n), COUNT(*) FROM fact", ""},
		{"SELECT COUNT(DISTINCT z.name) FROM fact x JOIN twice z ON x.a = z.key WHERE x.n > 10", ""},
	} {
		want := answerText(onCPU, c.sql)
		for name, db := range dbs {
			if got := answerText(db, c.sql); got != want {
				t.Errorf("%s, %s:\n got %.300s\nwant %.300s", name, c.sql, got, want)
			}
		}
		if c.by == "" {
			continue
		}
		x, err := dbs["compute"].Explain(context.Background(), c.sql, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, c.by) {
			t.Errorf("%s: no %q in\n%s", c.sql, c.by, lines)
		}
	}
}

// deleteFirst deletes some rows of the first chunk of fact.
func deleteFirst(t *testing.T, db *DB) {
	t.Helper()
	tab := db.entry("fact").Table.Load()
	c, err := tab.Chunks[0].Delete([]int{0, 1, 2, 5, tab.Chunks[0].Rows - 1})
	if err == nil {
		err = db.replace(tab.With(append([]*table.Chunk{c}, tab.Chunks[1:]...)...))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inWindows has the device of a DB go over tables in windows of some rows.
func inWindows(t *testing.T, db *DB) {
	t.Helper()
	if _, err := Inspect(db).GPU(context.Background()); err != nil {
		t.Fatal(err)
	}
	Inspect(db).Stream(512)
}
