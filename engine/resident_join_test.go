package engine

import (
	"context"
	"strings"
	"testing"
)

// Aggregates and groups over joins are computed from columns that compute gathers, and that never are in host memory. There are texts,
// NULLs, values of 64 bits, floats, expressions, order statistics, HAVING, and conditions of two tables. What needs the rows
// themselves, and what does not fit the memory of the device, is computed from rows in host memory.
func TestAggregatesOfJoinsThatStayOnTheDevice(t *testing.T) {
	onCPU, onCompute := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute"})
	for _, db := range []*DB{onCPU, onCompute} {
		for _, text := range []string{
			"CREATE TABLE mixed AS SELECT key AS k, CASE WHEN key % 3 = 0 THEN NULL ELSE key / 4.0 END AS d, CAST(key AS double precision) / 3 AS x, DATE '2024-01-01' + (key % 90)::int AS day, key % 2 = 0 AS even, CAST(NULL AS int) AS nothing FROM far WHERE key < 400",
			"DELETE FROM mixed WHERE k % 10 = 7",
		} {
			if got := answerText(db, text); strings.HasPrefix(got, "error") {
				t.Fatal(text, got)
			}
		}
	}
	const chain = " FROM fact x JOIN fact y ON x.b = y.b AND x.m = y.m JOIN twice z ON y.a = z.key "
	const four = " FROM fact x, fact y, dim z, mixed w WHERE x.b = y.b AND x.m = y.m AND y.a = z.key AND x.b = w.k "
	for _, c := range []struct {
		sql   string
		stays bool
	}{
		{"SELECT COUNT(*), SUM(x.n), AVG(y.n), MIN(z.name), MAX(z.key), COUNT(x.n)" + chain, true},
		{"SELECT z.name, COUNT(*), SUM(x.n), MIN(y.n), MAX(x.b), AVG(y.m)" + chain + "GROUP BY z.name ORDER BY 1", true},
		{"SELECT z.name, y.m, COUNT(*), SUM(x.n)" + chain + "WHERE x.b < 900 GROUP BY 1, 2 HAVING COUNT(*) > 5 ORDER BY 3 DESC, 1, 2 LIMIT 9", true},
		{"SELECT COUNT(*), MIN(z.edge), MAX(z.edge), SUM(w.d), AVG(w.d), MIN(w.day), COUNT(w.nothing), SUM(w.nothing), MAX(w.nothing)" + four, true},
		{"SELECT COUNT(*), SUM(w.x), AVG(w.x), MAX(w.x), MIN(w.d), MEDIAN(z.edge)" + four + "AND z.size < 3 AND w.k > 20", true},
		{"SELECT w.even, z.name, COUNT(*), COUNT(w.d), SUM(x.n), MAX(w.day)" + four + "GROUP BY 1, 2 ORDER BY 1, 2", true},
		{"SELECT w.even, z.name, COUNT(*), SUM(w.d), SUM(w.x)" + four + "GROUP BY 1, 2 ORDER BY 1, 2", false}, // sums of doubles,
		{"SELECT w.nothing, COUNT(*), MIN(z.name)" + four + "GROUP BY 1", true},
		{"SELECT COUNT(*), SUM(x.n)" + four + "AND x.n < 0 AND w.day < DATE '2024-01-20'", true},
		{"SELECT COUNT(*), MEDIAN(x.n), MIN(y.b), SUM(x.n * y.m), SUM(x.n + 1)" + chain + "WHERE x.n > y.m AND z.name <> 'red' AND x.n + y.n > z.key * 3", true},
		{"SELECT z.name, COUNT(*), SUM(x.n)" + four + "AND (x.n > y.n OR z.name IS NULL) AND w.d <> z.size AND x.n + 100 > w.k GROUP BY 1 ORDER BY 1", true},
		{"SELECT COUNT(*)" + chain + "WHERE x.n > y.n", true},
		{"SELECT COUNT(*), SUM(x.n), MIN(z.name)" + chain + "WHERE x.n > y.n AND x.n < y.n", false},                                                   // no row
		{"SELECT z.name, COUNT(*), SUM(x.n), MIN(z.size) FROM fact x JOIN dim z ON x.b = z.size + z.key AND x.n > z.key GROUP BY 1 ORDER BY 1", true}, // of two tables
		{"SELECT x.n, y.n, z.name" + chain + "WHERE x.n > y.n AND x.n * 2 > z.key - y.n ORDER BY x.n, y.n, z.name LIMIT 20", false},
		{"SELECT COUNT(*), SUM(x.n)" + chain + "WHERE x.n / (z.key - 3) > y.n", false}, // an error of a row
		{"SELECT COUNT(*), SUM(x.n)" + four + "AND w.day < DATE '2020-01-20'", false},  // no row
		{"SELECT COUNT(*), COUNT(DISTINCT x.n), STRING_AGG(z.name, '' ORDER BY z.name)" + chain + "WHERE x.b < 50", false},
		{"SELECT z.name, y.m, COUNT(*)" + chain + "GROUP BY ROLLUP (z.name, y.m) ORDER BY 1, 2, 3", false},
		{"SELECT SUM(x.n / (z.key - 3))" + chain, false},
	} {
		want := answerText(onCPU, c.sql)
		if got := answerText(onCompute, c.sql); got != want {
			t.Errorf("%s:\n got %.300s\nwant %.300s", c.sql, got, want)
		}
		x, err := onCompute.Explain(context.Background(), c.sql, ExplainOptions{Analyze: true})
		if err != nil {
			if !strings.HasPrefix(want, "error") {
				t.Errorf("EXPLAIN ANALYZE %s: %v", c.sql, err)
			}
			continue
		}
		if lines := strings.Join(x.Lines(), "\n"); strings.Contains(lines, "columns) on compute") != c.stays {
			t.Errorf("%s: the columns stay on the device: want %v\n%s", c.sql, c.stays, lines)
		} else if strings.Contains(c.sql, "x.n > y.n") && !strings.Contains(lines, ") by compute") {
			t.Errorf("%s: the conditions are not decided on the device\n%s", c.sql, lines)
		}
	}
	onCompute.backends.Release()
	if r := onCompute.resident(); r == nil || len(r.Columns) == 0 || r.Used-r.Working > 8<<20 {
		t.Errorf("resident after the statements: %+v", r)
	}
	d, _, err := onCompute.backends.Now()
	if err != nil {
		t.Fatal(err)
	}
	g, left := d.GPUs[0], -1
	if err := g.Context.Do(context.Background(), func() error { left = g.Store.Sources(); return nil }); err != nil || left != 0 {
		t.Errorf("%d columns are left on the device, %v", left, err)
	}
	texts := []string{"SELECT z.name, COUNT(*), SUM(x.n), MIN(y.n)" + chain + "WHERE x.m < 6 GROUP BY z.name ORDER BY 1", "SELECT COUNT(*), SUM(x.n), MAX(z.key)" + chain}
	on := map[bool]int{}
	for _, budget := range []int64{384 << 10, 768 << 10, 2 << 20} {
		db := openStar(t, Options{Backend: "compute", GPUMemory: budget})
		for _, text := range texts {
			if got, want := answerText(db, text), answerText(onCPU, text); got != want {
				t.Errorf("%d bytes: %s: %s, want %s", budget, text, got, want)
			}
			x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
			if err != nil {
				t.Error(err)
				continue
			}
			on[strings.Contains(strings.Join(x.Lines(), "\n"), "columns) on compute")]++
		}
	}
	if on[true] == 0 || on[false] == 0 {
		t.Errorf("with small budgets the columns stay %d times, and %d times not", on[true], on[false])
	}
}

// Where a device declines the last of three joins, cpu goes on with the rows of the one before. Where host memory has no room for
// these, cpu does all of the joins, which needs none.
func TestRowsBetweenJoinsBeyondHostMemory(t *testing.T) {
	const text = "SELECT COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.m = y.m JOIN twice z ON x.b + y.b = z.key WHERE x.b < 600 AND y.b < 600"
	want := answerText(openStar(t, Options{Backend: "cpu"}), text)
	for _, o := range []Options{{HostMemory: 1 << 20}, {HostMemory: 64 << 20}, {HostMemory: 1 << 20, Device: "0,1"}} {
		o.Backend = "compute"
		if got := answerText(openStar(t, o), text); got != want || strings.HasPrefix(got, "error") {
			t.Errorf("%+v: %s, want %s", o, got, want)
		}
	}
}
