package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// beyondRows is how many rows the table of [beyondTable] has, beyondBudget a budget that its columns are many times larger than.
const beyondRows, beyondBudget = 12_000, 100_000

// beyondTable is a table f, and a file of it in row groups.
func beyondTable(t *testing.T, rows int) (tab *table.Table, path string) {
	typ := func(k table.Kind) table.Type { return table.Type{Kind: k} }
	fields := []table.Field{{Name: "id", Type: typ(table.BigInt)}, {Name: "a", Type: typ(table.Integer)}, {Name: "w", Type: typ(table.BigInt)},
		{Name: "x", Type: typ(table.Double)}, {Name: "v", Type: typ(table.Varchar)}, {Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 12, Scale: 2}},
		{Name: "day", Type: typ(table.Date)}, {Name: "b", Type: typ(table.Boolean)}, {Name: "u", Type: typ(table.Varchar)}}
	b := table.NewBuilder("f", fields, (rows/16+63)&^63)
	for row := range rows {
		h := int64(uint64(row) * 0x9e3779b97f4a7c15)
		values := []table.Value{table.Int(int64(row)), {I: int64(row * 7919 % 103), Null: row%10 == 0}, table.Int(h), {F: float64(h%1009) / 16},
			table.Str([]string{"red", "green", "blue", "grey"}[row*31%97%4]), {I: h % 1_000_000}, {I: int64(10_000 + row%400)}, {I: int64(row % 3 % 2)},
			{S: fmt.Sprintf("text %d", h%20_000), Null: row%77 == 0}}
		for i, v := range values {
			v.Type = fields[i].Type
			b.Column(i).Value(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab = b.Table()
	folder := t.TempDir()
	for i, c := range tab.Chunks { // a row group each
		if err := ingest.WriteFile(context.Background(), filepath.Join(folder, fmt.Sprintf("f%02d.parquet", i)), tab.With(c)); err != nil {
			t.Fatal(err)
		}
	}
	return tab, filepath.Join(folder, "f*.parquet")
}

// sortedLines are the lines of an answer, in an order of their own.
func sortedLines(text string) string {
	lines := strings.Split(strings.Trim(text, "[]"), "] [")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// beyondPair is a DB with the whole of [beyondTable], and what opens one whose budget it does not fit.
func beyondPair(t *testing.T) (whole *DB, small func() *DB) {
	return sizedPair(t, beyondRows, beyondBudget)
}

// sizedPair is [beyondPair] of so many rows and bytes.
func sizedPair(t *testing.T, rows int, budget int64) (whole *DB, small func() *DB) {
	tab, path := beyondTable(t, rows)
	whole = open(t, Options{Backend: "cpu"})
	if err := whole.Add(tab); err != nil {
		t.Fatal(err)
	}
	return whole, func() *DB {
		db := open(t, Options{Backend: "cpu", HostMemory: budget})
		if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// comesInOrder reports a statement with an ORDER BY outside of parentheses.
func comesInOrder(text string) bool {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case 'O':
			if depth == 0 && strings.HasPrefix(text[i:], "ORDER BY") {
				return true
			}
		}
	}
	return false
}

// sameBeyond compares the answers of both; without ORDER BY rows may come in any order.
func sameBeyond(t rapid.TB, whole *DB, small func() *DB, text string) {
	t.Helper()
	got, want := inWords(Collect(small().Query(context.Background(), text))), inWords(Collect(whole.Query(context.Background(), text)))
	if !comesInOrder(text) {
		got, want = sortedLines(got), sortedLines(want)
	} else {
		got, want = strings.ReplaceAll(got, "] [", "\n"), strings.ReplaceAll(want, "] [", "\n")
	}
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s: line %d of %d: %s, of the whole table %s of %d", text, i, len(g), g[i], w[i], len(w))
			return
		}
	}
	t.Errorf("%s: %d lines, of the whole table %d", text, len(g), len(w))
}

// Groups of a file larger than the host memory budget are those of the whole table, few of them and as many as rows.
func TestGroupsBeyondHostMemory(t *testing.T) {
	whole, small := beyondPair(t)
	for _, text := range []string{
		"SELECT a, COUNT(*), SUM(w), MIN(v), MAX(x) FROM f GROUP BY a",
		"SELECT w, COUNT(*), SUM(d) FROM f GROUP BY w",
		"SELECT u, b, COUNT(*), SUM(x), COUNT(DISTINCT a), string_agg(v, ',') FROM f WHERE id > 7 GROUP BY u, b HAVING COUNT(*) > 1",
		"SELECT DISTINCT u, a FROM f WHERE id % 2 = 0",
		"SELECT d / 100, AVG(w) FROM f GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 17",
		"SELECT b, percentile_cont(0.3) WITHIN GROUP (ORDER BY a) FROM f WHERE id < 700 GROUP BY b",
		"SELECT SUM(x * a), COUNT(*) FILTER (WHERE v = 'red'), stddev(d) FROM f WHERE v <> 'blue'",
		"SELECT CASE WHEN id < 6000 THEN 0 ELSE id END, COUNT(*), MAX(u) FROM f GROUP BY 1",
		"SELECT COUNT(DISTINCT w) FROM f",
		"SELECT DISTINCT COUNT(*), MAX(x) FROM f GROUP BY u",
		"SELECT DISTINCT w % 1000, COUNT(*), MIN(v) FROM f GROUP BY w ORDER BY 1 DESC, 2, 3 LIMIT 500",
		"SELECT COUNT(*), SUM(n) FROM (SELECT DISTINCT COUNT(*) AS n, MAX(u) FROM f GROUP BY w) d",
		"SELECT COUNT(DISTINCT w), SUM(DISTINCT a), AVG(DISTINCT d), COUNT(DISTINCT u), COUNT(*), MAX(x), SUM(DISTINCT x * a), stddev_pop(DISTINCT a) FROM f WHERE id > 7",
		"SELECT COUNT(DISTINCT w) FILTER (WHERE x > 20), COUNT(DISTINCT w) FILTER (WHERE x <= 20), AVG(DISTINCT 1000 / a) FILTER (WHERE a > 3), MIN(id) FROM f",
		"SELECT COUNT(DISTINCT w + 1), SUM(DISTINCT a) FROM f WHERE id < 0 HAVING COUNT(*) = 0",
		"SELECT b, COUNT(DISTINCT w), SUM(DISTINCT id), MIN(u) FROM f GROUP BY b HAVING COUNT(DISTINCT w) > 5",
		"SELECT COUNT(*), COUNT(DISTINCT w), SUM(DISTINCT w % 1000), COUNT(DISTINCT id), COUNT(DISTINCT id + 1), COUNT(DISTINCT id * 3), SUM(DISTINCT id - 7) FROM f GROUP BY CASE WHEN a > 50 THEN abs(x) * 0 ELSE abs(x) * 0 * -1 END",
	} {
		sameBeyond(t, whole, small, text)
	}
	for text, want := range map[string]string{
		"SELECT u, w, COUNT(*) FROM f WHERE id < 9000 GROUP BY u, w": "; without 4 row groups, which have no record that is selected",
		"SELECT u, w, COUNT(*) FROM f WHERE id < 3000 GROUP BY u, w": "; without 12 row groups",
		"SELECT u, w, COUNT(*) FROM f GROUP BY u, w":                 "row groups are read, worked on and dropped",
	} {
		x, err := small().Explain(context.Background(), text, ExplainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Steps[0].Counts; !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Order statistics and texts of groups whose rows do not fit the budget are those of the whole table.
func TestOrderedAggregatesBeyondHostMemory(t *testing.T) {
	whole, small := beyondPair(t)
	for _, text := range []string{
		"SELECT b, MEDIAN(w), MEDIAN(u), percentile_cont(0.3) WITHIN GROUP (ORDER BY d DESC), percentile_disc(0.9) WITHIN GROUP (ORDER BY x), kth_largest(id, 17), kth_smallest(day, 3), mode() WITHIN GROUP (ORDER BY a), COUNT(*), SUM(d), COUNT(DISTINCT w) FROM f GROUP BY b",
		"SELECT MEDIAN(u), mode() WITHIN GROUP (ORDER BY v DESC), MEDIAN(x * a), percentile_cont(0.25) WITHIN GROUP (ORDER BY w % 1000) FROM f WHERE id > 7",
		"SELECT MEDIAN(u) FROM f",
		"SELECT percentile_disc(0.2) WITHIN GROUP (ORDER BY u), COUNT(*), SUM(a), MAX(u) FROM f WHERE x > 3",
		"SELECT v, MEDIAN(a) FILTER (WHERE x > 20), MEDIAN(DISTINCT a), mode() WITHIN GROUP (ORDER BY a) FILTER (WHERE b), kth_smallest(w, 5) FROM f GROUP BY v HAVING COUNT(*) > 10",
		"SELECT b, string_agg(v, ','), string_agg(u, '-' ORDER BY w DESC), string_agg(DISTINCT v, '' ORDER BY v DESC), string_agg(v, CAST(id AS varchar) ORDER BY a NULLS FIRST, id) FILTER (WHERE id % 3 = 0) FROM f GROUP BY b",
		"SELECT string_agg(u, ' '), MEDIAN(id + 1) FROM f",
		"SELECT MEDIAN(u), string_agg(v, ',' ORDER BY id), mode() WITHIN GROUP (ORDER BY w), COUNT(*) FROM f WHERE id < 0",
		"SELECT kth_smallest(u, 20000) FROM f",
		"SELECT b, MEDIAN(1000 / (id - 8000)) FROM f GROUP BY b",
		"SELECT MEDIAN(w), MEDIAN(abs(x) * 0 * -1) FROM f GROUP BY CASE WHEN a > 50 THEN abs(x) * 0 ELSE abs(x) * 0 * -1 END",
		"SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY x * 2), AVG(DISTINCT a) FROM f",
		"SELECT i, MEDIAN(w), MEDIAN(u) FROM (SELECT w, u, id, d, CAST(a / 60 || ' days' AS interval) AS i FROM f) q GROUP BY i",
		"SELECT d * 0, MEDIAN(d * 2), mode() WITHIN GROUP (ORDER BY d) FROM f GROUP BY 1",
		"SELECT p.b, MEDIAN(q.u), MEDIAN(p.w) FROM f p JOIN f q ON p.id = q.id GROUP BY p.b ORDER BY 1",
		"SELECT MEDIAN(q.u) FROM f p JOIN f q ON p.id = q.id",
	} {
		sameBeyond(t, whole, small, text)
	}
}

// Rows of a file larger than the host memory budget, and its groups, come in the order that is asked for.
func TestSortsBeyondHostMemory(t *testing.T) {
	whole, small := beyondPair(t)
	for _, text := range []string{
		"SELECT id, v, d FROM f WHERE x > 3",
		"SELECT id + 1, v || 'x', 100 / (id - 8000) FROM f LIMIT 5 OFFSET 7990",
		"SELECT * FROM f ORDER BY u DESC NULLS LAST, w",
		"SELECT id, upper(v) FROM f ORDER BY v, x DESC, d",
		"SELECT x, id FROM f WHERE a > 50 ORDER BY a NULLS FIRST, abs(d) DESC LIMIT 1000 OFFSET 50",
		"SELECT DISTINCT ON (u, b) u, b, day, id FROM f ORDER BY u, b DESC, day, w",
		"SELECT u, COUNT(*), SUM(w) FROM f GROUP BY u ORDER BY 3 DESC, u",
		"SELECT w, MIN(d) FROM f GROUP BY w ORDER BY MIN(d), w % 10, w",
		"SELECT 1 / (id - 8000) FROM f ORDER BY w",
		"SELECT id FROM f ORDER BY 1 / (id - 8000)",
		"SELECT id FROM f ORDER BY a + 1, b, day, v, u || 'x', x * 2, d, -w, id + 1, d + 1, w / 2, a * 3",
		"SELECT DISTINCT ON (a + 1, v, u || 'x') id, w FROM f WHERE x > 3 ORDER BY a + 1, v, u || 'x', x * 2, -w, id + 1, d + 1, w / 2, a * 3 LIMIT 7000",
	} {
		sameBeyond(t, whole, small, text)
	}
	for text, spilled := range map[string]bool{"SELECT * FROM f ORDER BY w": true, "SELECT w, MIN(u) FROM f GROUP BY w": true, "SELECT a, SUM(w) FROM f GROUP BY a": false, "SELECT SUM(x * w) FROM f": false} {
		x, err := small().Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(x.Lines(), "\n"); strings.Contains(lines, "spilled") != spilled || !strings.Contains(lines, "sweeps 1, reading") {
			t.Errorf("%s", lines)
		}
	}
}

// Rows whose columns fit the host memory budget, and which it has no room to sort, come in their order. They are of a file, before and
// after its columns were read.
func TestSortsOfRowsThatFit(t *testing.T) {
	for _, budget := range []int64{300_000, 800_000, 1_300_000} {
		whole, small := sizedPair(t, beyondRows, budget)
		db, times := small(), 1
		if budget == 800_000 { // and once columns have been read
			times = 2
		}
		for range times {
			for _, text := range []string{
				"SELECT id FROM f ORDER BY a, b, day, v, u, x, d, w, id",
				"SELECT id, v FROM f ORDER BY w, a, x, id, d",
				"SELECT id FROM f ORDER BY a + 1, b, day DESC, u || 'x', x * 2, -w",
				"SELECT w, id FROM f WHERE b ORDER BY x * 1.5, w * 0.1 LIMIT 9000 OFFSET 5",
				"SELECT DISTINCT ON (x * 1.5, a) id FROM f ORDER BY x * 1.5, a NULLS FIRST, w * 0.1",
				"SELECT id FROM f ORDER BY 1 / (id - 8000), x * 1.5",
				"SELECT id FROM f ORDER BY w",
			} {
				sameBeyond(t, whole, func() *DB { return db }, text)
			}
			if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(id), MAX(w), SUM(x) FROM f")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Columns that were read of files make room for those that are read next, and are read again. Files are Parquet and CSV, loaded and
// named by statements.
func TestColumnsOfFilesMakeRoom(t *testing.T) {
	whole, small := sizedPair(t, 60_000, 600_000)
	tab := whole.entry("f").Table.Load()
	folder := t.TempDir()
	var paths []string
	for _, name := range []string{"f.csv", "f.parquet"} {
		paths = append(paths, filepath.Join(folder, name))
		if err := ingest.WriteFile(context.Background(), filepath.Join(folder, name), tab); err != nil {
			t.Fatal(err)
		}
	}
	db := small()
	if err := db.Attach("c", ingest.Source{Path: paths[0]}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, name := range []string{"f", "c", "'" + paths[1] + "'"} {
			for _, text := range []string{"SELECT COUNT(*), MAX(a) FROM f WHERE id > 7", "SELECT SUM(id), MIN(w) FROM f", "SELECT COUNT(*) FROM f WHERE w > 0", "SELECT COUNT(id) FROM f WHERE day < DATE '1997-05-30'",
				"SELECT MEDIAN(w) FROM f", "SELECT COUNT(DISTINCT d) FROM f"} {
				got := inWords(Collect(db.Query(context.Background(), strings.ReplaceAll(text, "FROM f", "FROM "+name))))
				if want := inWords(Collect(whole.Query(context.Background(), text))); got != want {
					t.Errorf("%s of %s: %.200s, want %.200s", text, name, got, want)
				}
				if _, err := db.hostBudget(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Drawn statements give the rows of the whole table, too: any keys, aggregates, conditions and orders.
func TestAnyStatementBeyondHostMemory(t *testing.T) {
	whole, small := beyondPair(t)
	rapid.Check(t, func(r *rapid.T) { sameBeyond(r, whole, small, anyOfBeyond(r)) })
}

// anyOfBeyond draws a statement over [beyondTable].
func anyOfBeyond(r *rapid.T) string {
	keys := []string{"id", "a", "w", "x", "v", "d", "day", "b", "u", "a % 7", "abs(w) / 1000", "upper(v)", "d * 2", "CASE WHEN a > 50 THEN u END"}
	aggregates := []string{"COUNT(*)", "COUNT(u)", "SUM(a)", "SUM(w)", "AVG(d)", "MIN(x)", "MAX(u)", "MIN(day)", "SUM(a * d)",
		"bool_or(b)", "stddev_pop(a)", "COUNT(*) FILTER (WHERE x > 20)", "COUNT(DISTINCT w) FILTER (WHERE b)", "SUM(DISTINCT a)",
		"MEDIAN(w)", "MEDIAN(u) FILTER (WHERE x < 40)", "mode() WITHIN GROUP (ORDER BY a DESC)", "percentile_cont(0.7) WITHIN GROUP (ORDER BY d)", "MEDIAN(DISTINCT a)", "string_agg(v, ',' ORDER BY a, id)"}
	conditions := []string{"", " WHERE a > 30", " WHERE u LIKE '%9%'", " WHERE x < 31.5 OR b", " WHERE w % 3 = 0 AND v <> 'red'", " WHERE id < 0", " WHERE u IS NULL",
		" WHERE id < 2000 AND a > 30", " WHERE id BETWEEN 5000 AND 7000 AND w % 2 = 0", " WHERE 1000 / (a + 1) > 20 AND id > 9000"}
	some := func(of []string, least, most int, label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), least, most, rapid.ID[string]).Draw(r, label)
	}
	where := rapid.SampledFrom(conditions).Draw(r, "WHERE")
	direction := func(e string) string {
		return e + rapid.SampledFrom([]string{"", " DESC", " NULLS FIRST", " DESC NULLS LAST"}).Draw(r, "direction")
	}
	limit := rapid.SampledFrom([]string{"", "", " LIMIT 10", " LIMIT 500 OFFSET 7"}).Draw(r, "LIMIT")
	var text string
	if by := some(keys, 1, 3, "keys"); rapid.Bool().Draw(r, "grouped") {
		list := slices.Concat(by, some(aggregates, 0, 3, "aggregates"))
		text = "SELECT " + strings.Join(list, ", ") + " FROM f" + where + " GROUP BY " + strings.Join(by, ", ")
		if rapid.Bool().Draw(r, "ORDER BY") { // by all keys: no two groups are alike
			for i := range by {
				by[i] = direction(by[i])
			}
			text += " ORDER BY " + strings.Join(by, ", ") + limit
		}
	} else {
		text = "SELECT " + strings.Join(some(keys, 1, 4, "items"), ", ") + " FROM f" + where
		if rapid.Bool().Draw(r, "ORDER BY") {
			for i := range by {
				by[i] = direction(by[i])
			}
			text += " ORDER BY " + strings.Join(append(by, "id"), ", ") + limit
		}
	}
	return text
}

// joinsBeyond is [beyondPair] of a table with so many rows and a budget, with two small tables beside it. Of k rows were
// deleted, and none has no rows.
func joinsBeyond(t *testing.T, rows int, budget int64) (whole *DB, small func() *DB) {
	tab, path := beyondTable(t, rows)
	few := func(db *DB) *DB {
		for _, text := range []string{"CREATE TABLE k (a INTEGER, name VARCHAR, b BOOLEAN)", "CREATE TABLE none (a INTEGER)",
			"INSERT INTO k SELECT CASE WHEN i <> 7 THEN 2 * i END, 'name ' || i % 13, i % 2 = 0 FROM generate_series(0, 70) g(i)", "DELETE FROM k WHERE a > 120"} {
			if _, err := Collect(db.Query(context.Background(), text)); err != nil {
				t.Fatal(err)
			}
		}
		return db
	}
	whole = open(t, Options{Backend: "cpu"})
	if err := whole.Add(tab); err != nil {
		t.Fatal(err)
	}
	db := open(t, Options{Backend: "cpu", HostMemory: budget})
	if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	few(db)
	return few(whole), func() *DB { return db }
}

// Joins of files larger than the host memory budget are those of the whole tables, in every kind, of one large table and of several.
func TestJoinsBeyondHostMemory(t *testing.T) {
	whole, small := joinsBeyond(t, 640, 20_000)
	for _, text := range []string{
		"SELECT name, COUNT(*), SUM(w) FROM f JOIN k ON f.a = k.a GROUP BY name",
		"SELECT f.id, name FROM f LEFT JOIN k ON f.a = k.a AND k.name <> 'name 3' WHERE d > 0",
		"SELECT f.id, f.u FROM f WHERE EXISTS (SELECT 1 FROM k WHERE k.a = f.a) ORDER BY f.u, f.id",
		"SELECT COUNT(*), SUM(f.x * f.a) FROM f WHERE f.a NOT IN (SELECT k.a FROM k WHERE k.a IS NOT NULL)",
		"SELECT COUNT(*), SUM(f.x * f.a) FROM f WHERE f.a NOT IN (SELECT k.a FROM k)",
		"SELECT p.id, q.d FROM f p JOIN f q ON p.w = q.w WHERE p.b",
		"SELECT p.v, COUNT(*), SUM(q.d) FROM f p LEFT JOIN f q ON p.id = q.a AND q.b GROUP BY p.v",
		"SELECT p.id, q.id FROM f p FULL JOIN f q ON p.id = q.a AND p.b",
		"SELECT p.id, q.id, name FROM f p RIGHT JOIN f q ON p.id = q.a LEFT JOIN k ON k.a = q.a",
		"SELECT COUNT(*) FROM f p WHERE NOT EXISTS (SELECT 1 FROM f q WHERE q.u = p.u AND q.id > 400)",
		"SELECT COUNT(*), MAX(p.w) FROM f p, f q, f r WHERE p.u = q.u AND q.u = r.u AND p.id < 300 AND r.id < 500",
		"SELECT p.a, COUNT(*) FROM f p JOIN f q ON p.a = q.a AND q.id < 100 GROUP BY p.a",
		"SELECT COUNT(*), SUM(q.a) FROM f p JOIN f q ON p.w = q.w WHERE p.id < 0",
		// rows of the small table stand alone, or are asked whether they match any
		"SELECT k.a, name, f.id FROM k LEFT JOIN f ON f.a = k.a AND f.id < 300",
		"SELECT k.a, f.id FROM f FULL JOIN k ON f.a = k.a",
		"SELECT k.a, COUNT(f.id) FROM f RIGHT JOIN k ON f.a = k.a AND f.b = k.b GROUP BY k.a",
		"SELECT k.a FROM k WHERE EXISTS (SELECT 1 FROM f WHERE f.a = k.a AND f.x > 60)",
		"SELECT k.a FROM k WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.a = k.a)",
		"SELECT k.a, none.a, f.id FROM k LEFT JOIN none ON none.a = k.a JOIN f ON f.a = k.a",
		"SELECT k.a, n.a, f.id FROM f RIGHT JOIN none n ON n.a = f.a FULL JOIN k ON k.a = f.a",
		// several keys, and such as are computed
		"SELECT p.id, q.id FROM f p JOIN f q ON p.a = q.a AND p.v = q.v AND p.day = q.day",
		"SELECT COUNT(*), SUM(q.w) FROM f p LEFT JOIN f q ON p.u = upper(q.u) AND p.a = q.id",
		"SELECT p.id, q.id FROM f p JOIN f q ON p.id = q.id + 1 WHERE p.id < 300",
		"SELECT p.id, q.id FROM f p LEFT JOIN f q ON 1 / (p.id - 500) = q.id AND q.id < 1 WHERE p.id > 490 AND p.id < 510",
		"SELECT p.id, none.a FROM f p LEFT JOIN none ON 1 / (p.id - 500) = none.a",
		"SELECT p.id, q.id FROM f p FULL JOIN f q ON CASE WHEN p.b THEN p.u END = CASE WHEN q.b THEN q.u END",
		"SELECT COUNT(*), COUNT(q.id) FROM f p LEFT JOIN f q ON p.id = q.a JOIN f r ON r.id = p.id AND r.v = p.v",
		"SELECT p.id, q.id, r.id FROM f p JOIN f q ON p.id = q.id AND p.u = q.u JOIN f r ON r.id = q.id",
		"SELECT p.id, q.a FROM f p JOIN f q ON p.x = q.x WHERE p.id < 300 ORDER BY p.d, q.id DESC LIMIT 200 OFFSET 11",
		"SELECT DISTINCT p.v, q.b FROM f p JOIN f q ON p.d = q.d",
		// keys that are looked at above the join, since a row may raise an error in them, and such of which one does
		"SELECT p.id, q.id, q.w FROM f p, f q WHERE p.id = q.id + 1",
		"SELECT p.id, q.id FROM f p, f q WHERE p.id = q.id + 1 AND p.b = q.b",
		"SELECT p.id, COUNT(q.id) FROM f p LEFT JOIN f q ON p.b = q.b AND p.id = q.id + 1 GROUP BY p.id",
		"SELECT COUNT(*), MIN(q.w) FROM f p, f q, k WHERE p.id = q.id + 1 AND k.a = q.a",
		"SELECT p.id, q.id FROM f p, f q WHERE p.a = q.id AND p.id = 1000 / (q.id - 500)",
		"SELECT p.id, q.id FROM f p, f q WHERE p.a = q.id AND p.id = 1000 / (q.id - 50)",
		"SELECT p.id, q.id FROM f p, f q WHERE p.id = 1000 / (q.id - 500)",
		// order statistics
		"SELECT MEDIAN(p.w), COUNT(*), MAX(q.d) FROM f p JOIN f q ON p.id = q.a WHERE q.b",
		"SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY q.x), kth_largest(p.id, 3) FROM f p LEFT JOIN f q ON p.id = q.a AND q.id > 40",
		"SELECT MEDIAN(q.w), COUNT(*) FROM f p, f q WHERE p.id = q.id + 1 AND q.x > 3",
		// several tables that are compared to one, and such that no one key is common to
		"SELECT COUNT(*), SUM(p.a), SUM(q.w) FROM f p, f q, f r WHERE p.id = r.id AND q.id = r.id AND q.b",
		"SELECT p.v, COUNT(*), SUM(r.w) FROM f p JOIN f q ON p.id = q.a JOIN f r ON r.w = q.w GROUP BY p.v",
		"SELECT p.id, q.id, r.u FROM f p, f q, f r, k WHERE p.id = q.a AND r.w = q.w AND k.a = r.a AND p.x < r.x ORDER BY p.id, q.id, r.u",
		"SELECT p.id, q.id, r.id FROM f p LEFT JOIN f q ON p.id = q.a FULL JOIN f r ON r.w = q.w AND r.b",
		"SELECT COUNT(*), COUNT(r.id), SUM(q.d) FROM f p LEFT JOIN (f q JOIN f r ON r.w = q.w AND r.id > 100) ON p.id = q.a",
		"SELECT COUNT(*), SUM(p.w) FROM f p JOIN f q ON p.id = q.a WHERE EXISTS (SELECT 1 FROM f r WHERE r.w = q.w AND r.d <> p.d)",
		"SELECT p.id, q.id, r.id FROM f p JOIN f q ON p.id = q.a AND 10 / (p.id - 7) < 1 JOIN f r ON r.w = q.w",
		"SELECT COUNT(*) FROM (SELECT p.id FROM f p JOIN f q ON p.id = q.id LIMIT 77) s",
		// keys with more rows than fit
		"SELECT p.id FROM f p WHERE NOT EXISTS (SELECT 1 FROM f q WHERE upper(p.v) = upper(q.v) AND NOT p.b)",
		"SELECT COUNT(*), SUM(p.w) FROM f p WHERE EXISTS (SELECT 1 FROM f q WHERE p.v = q.v AND p.w < q.w / 50)",
		"SELECT COUNT(*), COUNT(p.w), COUNT(q.w) FROM f p FULL JOIN f q ON p.v = q.v AND p.id + 620 < q.id",
		"SELECT p.v, COUNT(*), SUM(q.a) FROM f p JOIN f q ON p.v = q.v WHERE p.id < 400 AND q.id > 200 GROUP BY p.v",
		"SELECT COUNT(*), COUNT(q.id) FROM f p LEFT JOIN f q ON p.b = q.b AND q.id < 50",
		"SELECT COUNT(*) FROM f p WHERE NOT EXISTS (SELECT 1 FROM f q WHERE q.b = p.b AND q.id < 50 AND q.w > p.w)",
		"SELECT COUNT(p.id), COUNT(q.id) FROM f p FULL JOIN f q ON CASE WHEN p.id < 9 THEN p.w END = CASE WHEN q.id > 3 THEN q.w END",
	} {
		sameBeyond(t, whole, small, text)
	}
	const text = "SELECT SUM(q.d) FROM f p JOIN f q ON p.w = q.w AND p.v = q.v"
	for _, analyze := range []bool{false, true} {
		x, err := small().Explain(context.Background(), text, ExplainOptions{Analyze: analyze})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(x.Lines(), "\n"); strings.Contains(lines, "p.w, p.v of p; q.w, q.v of q") != analyze || strings.Contains(lines, "spilled") != analyze {
			t.Errorf("%s", lines)
		}
	}
	// Keys of which some rows might raise an error, and conditions of two tables of a side, which are no keys.
	for text, by := range map[string]string{
		"SELECT p.u, p.w, q.w, q.d FROM f p LEFT JOIN f q ON 1 / (p.id - 5000) = q.id":                                   "1 / (p.id - 5000) of p; q.id of q",
		"SELECT p.u, p.w, q.w, q.d, name FROM f p JOIN k ON k.a = p.a JOIN f q ON p.w = q.w AND p.id + k.a = q.id + q.a": "p.w of p; q.w of q",
	} {
		sameBeyond(t, whole, small, text)
		x, err := small().Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, by) {
			t.Errorf("%s: no %q in\n%s", text, by, lines)
		}
	}
	for _, text := range []string{
		"SELECT p.u, p.w, q.w, q.d FROM f p LEFT JOIN f q ON 1 / (p.id - 500) = q.id",
		"SELECT p.u, p.w, q.w, q.d FROM f p LEFT JOIN f q ON 1 / (p.id - 500) = q.id AND q.id < 0 WHERE p.id <> 500",
		"SELECT p.u, p.w, q.w, q.d FROM f p LEFT JOIN (SELECT * FROM f WHERE id < 0) q ON 1 / (p.id - 500) = q.id",
	} {
		sameBeyond(t, whole, small, text)
	}
	const three = "SELECT COUNT(*) FROM f p FULL JOIN f q ON p.b = q.b FULL JOIN f r ON q.b = r.b"
	if _, err := Collect(small().Query(context.Background(), three)); err == nil || !strings.Contains(err.Error(), "--host-memory") {
		t.Errorf("%s: %v", three, err)
	}
}

// Drawn joins give the rows of the whole tables, too: any kinds, keys, conditions, and what is made of their rows.
func TestAnyJoinBeyondHostMemory(t *testing.T) {
	whole, small := joinsBeyond(t, 400, 12_000)
	sides := map[string][]string{
		"f": {"T.id", "T.a", "T.w", "T.x", "T.v", "T.d", "T.day", "T.b", "T.u"},
		"k": {"T.a", "T.name", "T.b"},
	}
	keys := [][2]string{{"P.id", "Q.a"}, {"P.a", "Q.a"}, {"P.w", "Q.w"}, {"P.u", "Q.u"}, {"P.x", "Q.x"}, {"P.day", "Q.day"}, {"P.d", "Q.d"}, {"P.a", "Q.id"},
		{"upper(P.v)", "upper(Q.v)"}, {"coalesce(P.u, P.v)", "Q.u"}, {"CASE WHEN P.b THEN P.id END", "Q.id"}, {"P.id + 1", "Q.id"}, {"P.b", "Q.b"}}
	has := func(of []string, e string) bool {
		for _, word := range strings.FieldsFunc(e, func(r rune) bool { return strings.ContainsRune(" (),+", r) }) {
			if _, column, ok := strings.Cut(word, "."); ok && !slices.Contains(of, "T."+column) {
				return false
			}
		}
		return true
	}
	drawn := rapid.Custom(func(r *rapid.T) (text string) {
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r, label) }
		p, q := one("left", "f", "f", "k"), "f"
		if p == "f" {
			q = one("right", "f", "f", "k")
		}
		var on []string
		for _, pair := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 3, rapid.ID[[2]string]).Draw(r, "keys") {
			if has(sides[p], pair[0]) && has(sides[q], pair[1]) {
				on = append(on, pair[0]+" = "+pair[1])
			}
		}
		if len(on) == 0 || len(on) == 1 && on[0] == "P.b = Q.b" {
			on = []string{"P.a = Q.a"}
		}
		if c := one("also", "", "", "P.a < Q.a", "Q.b", "NOT P.b"); c != "" {
			on = append(on, c)
		}
		of := func(t, name string) (out []string) {
			for _, c := range sides[t] {
				out = append(out, strings.ReplaceAll(c, "T", name))
			}
			return out
		}
		columns, all := of(p, "P"), slices.Concat(of(p, "P"), of(q, "Q"))
		condition := strings.Join(on, " AND ")
		where := one("WHERE", "", "", " WHERE P.a > 30", " WHERE P.b OR P.a < 5")
		from := ""
		switch kind := one("kind", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "EXISTS", "NOT EXISTS"); kind {
		case "EXISTS", "NOT EXISTS":
			from = p + " P" + cmp.Or(where, " WHERE TRUE") + " AND " + kind + " (SELECT 1 FROM " + q + " Q WHERE " + condition + ")"
			if strings.Contains(where, " OR ") {
				from = strings.Replace(from, "P.b OR P.a < 5", "(P.b OR P.a < 5)", 1)
			}
		default:
			columns, from = all, p+" P "+kind+" "+q+" Q ON "+condition+where
		}
		some := func(most int, label string) string {
			return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(columns), 1, most, rapid.ID[string]).Draw(r, label), ", ")
		}
		switch list := some(3, "columns"); one("form", "rows", "ordered", "grouped", "distinct", "aggregates") {
		case "rows":
			text = "SELECT " + list + " FROM " + from
		case "ordered":
			text = "SELECT " + list + " FROM " + from + " ORDER BY " + list + one("LIMIT", "", " LIMIT 40 OFFSET 3")
		case "grouped":
			text = "SELECT " + list + ", COUNT(*), SUM(P.a), bool_or(P.b) FROM " + from + " GROUP BY " + list
		case "distinct":
			text = "SELECT DISTINCT " + list + " FROM " + from
		default:
			text = "SELECT COUNT(*), COUNT(" + columns[0] + "), SUM(P.a), MIN(" + columns[len(columns)-2] + ") FROM " + from
		}
		return text
	})
	random := plantest.Random(t)
	for range 12 {
		sameBeyond(t, whole, small, drawn.Example(random.Int()))
	}
}

// smallDisk is a temporary file on a disk that is full after so many bytes; before each write it calls written.
type smallDisk struct {
	ingest.Temporary
	left    *atomic.Int64
	open    *atomic.Int64 // files that are open
	written func()
}

func (d smallDisk) WriteAt(p []byte, at int64) (int, error) {
	d.written()
	if d.left.Add(-int64(len(p))) < 0 {
		return 0, &os.PathError{Op: "write", Path: "/a/name", Err: syscall.ENOSPC}
	}
	return d.Temporary.WriteAt(p, at)
}

func (d smallDisk) Close() error {
	d.open.Add(-1)
	return d.Temporary.Close()
}

// A full disk leaves no temporary file behind, and the error says what to do. Nor does a statement that is ended while it writes to
// one, or before all of its rows are read.
func TestTemporaryFilesGo(t *testing.T) {
	_, small := beyondPair(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, text := range []string{"SELECT w, COUNT(*) FROM f GROUP BY w", "SELECT id, w FROM f ORDER BY w", "SELECT w, SUM(d) FROM f GROUP BY w ORDER BY 2, 1",
		"SELECT p.id, q.d FROM f p LEFT JOIN f q ON p.w = q.w", "SELECT id, w, u, sum(w % 10) OVER (ORDER BY w) FROM f", "SELECT b, MEDIAN(w), MEDIAN(u) FROM f GROUP BY b"} {
		for _, room := range []int64{0, 40_000, 1 << 30} {
			db := small()
			var left, open, writes atomic.Int64
			left.Store(room)
			ctx, cancel := context.WithCancel(context.Background())
			db.temporary = func() (ingest.Temporary, error) {
				f, err := spill.CreateTemporary()
				open.Add(1)
				return smallDisk{f, &left, &open, func() {
					if writes.Add(1) == 20 && left.Load() > 1<<29 {
						cancel()
					}
				}}, err
			}
			full := room < 1<<29
			_, err := Collect(db.Query(ctx, text))
			switch {
			case full && (err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "TMPDIR=") || strings.Contains(err.Error(), "/a/name")):
				t.Errorf("%s: a full disk is %v", text, err)
			case !full && !errors.Is(err, context.Canceled):
				t.Errorf("%s: ended, it is %v", text, err)
			case open.Load() != 0 || writes.Load() == 0:
				t.Errorf("%s: %d files are open after %d writes", text, open.Load(), writes.Load())
			}
			cancel()
		}
		rows, err := small().Query(context.Background(), text)
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		rows.Close()
		if list, err := os.ReadDir(folder); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v are left", text, list, err)
		}
	}
}

// Halves of a table are rows of it, both of them, and all together.
func TestHalves(t *testing.T) {
	for _, rows := range []int{65, 100, 128, 129, 4000} {
		many, _ := beyondTable(t, rows)
		for _, tab := range []*table.Table{many, oneChunk(t, rows)} {
			n := 0
			for _, half := range halves(tab) {
				if half.Rows() == 0 {
					t.Errorf("%d rows in %d chunks have an empty half", rows, len(tab.Chunks))
				}
				for _, c := range half.Chunks {
					for i := range c.Rows {
						if got := c.Segments[0].Value(i); got.I != int64(n) {
							t.Fatalf("row %d of %d is %v", n, rows, got)
						}
						n++
					}
				}
			}
			if n != rows {
				t.Errorf("halves of %d rows have %d", rows, n)
			}
		}
	}
}

// oneChunk is a table of one column that numbers its rows.
func oneChunk(t *testing.T, rows int) *table.Table {
	b := table.NewBuilder("n", []table.Field{{Name: "id", Type: table.Type{Kind: table.BigInt}}}, rows)
	for row := range rows {
		b.Column(0).Value(table.Int(int64(row)))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// Without a budget, free host memory becomes one once a statement finds no room. The statement goes over the files in parts, as later
// ones do.
func TestFreeHostMemoryBecomesTheBudget(t *testing.T) {
	ctx := context.Background()
	tab, path := beyondTable(t, beyondRows)
	whole := open(t, Options{Backend: "cpu"})
	if err := whole.Add(tab); err != nil {
		t.Fatal(err)
	}
	lines := strings.Repeat("7,seven,0.5\n", 400_000)
	for _, folder := range []string{"", filepath.Join(t.TempDir(), "db")} {
		var notes []string
		opened := func() *DB {
			notes = nil
			db := open(t, Options{Backend: "cpu", Folder: folder, Note: func(text string) { notes = append(notes, text) }, Input: strings.NewReader(lines)})
			db.freeBytes = func() int64 { return 2 * beyondBudget }
			if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
				t.Fatal(err)
			}
			return db
		}
		for i, text := range []string{
			"SELECT SUM(w), COUNT(DISTINCT w), MIN(v), MAX(x), MIN(u), MAX(d), MAX(day), COUNT(b) FROM f",
			"SELECT id, w, u, x, v, d, day FROM f ORDER BY w LIMIT 30",
			"SELECT id, w, u, d, x, day FROM f WHERE v <> 'red' OR x > 3 OR w > 0 OR d > 4",
			"SELECT u, w, MAX(x), MIN(v), SUM(d), MAX(day), MAX(id) FROM f GROUP BY u, w ORDER BY w LIMIT 10",
			"SELECT SUM(s), COUNT(*) FROM (SELECT id, w, x, d, u, day, sum(w % 1000) OVER (PARTITION BY id % 500 ORDER BY id) AS s FROM f) q WHERE x >= 0 AND u <> day::text AND d >= 0",
			"SELECT COUNT(*), SUM(p.w % 10), MAX(q.u), MAX(p.d), MIN(q.x), MIN(q.day) FROM f p JOIN f q ON p.id = q.id + 1",
			"SELECT COUNT(*), SUM(n) FROM (SELECT id, COUNT(*) AS n FROM f GROUP BY id) q", // the column fits, and the groups do not
			"SELECT COUNT(*), MAX(q.id) FROM f p JOIN f q ON p.id = q.id + 1",
		} {
			if folder != "" && i > 0 {
				break // a query of a file is the same with and without a folder
			}
			db := opened()
			sameBeyond(t, whole, func() *DB { return db }, text)
			sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*), MAX(x), MAX(w), MAX(u) FROM f")
			budget := do(t, db, "SHOW host_memory").Rows[0][0].S
			if len(notes) != 1 || !strings.Contains(notes[0], "takes more than the host memory that is free") || budget != fmt.Sprint(db.most()) {
				t.Errorf("%s: notes %q, budget %s", text, notes, budget)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		db := opened()
		do(t, db, "CREATE TABLE c (a integer, s varchar, x double)")
		for i, text := range []string{"CREATE TABLE g AS SELECT * FROM f", "COPY c FROM STDIN (FORMAT csv)"} {
			rows := []int{beyondRows, 400_000}[i]
			if i == 1 { // of which a part takes more
				do(t, db, "RESET host_memory")
				db.freeBytes = func() int64 { return 5 << 20 }
			}
			st, err := db.Exec(ctx, text)
			switch {
			case folder != "" && (err != nil || st.Changed != rows):
				t.Errorf("%s: %v, %v", text, st, err)
			case folder == "" && (err == nil || !strings.Contains(err.Error(), "--host-memory")):
				t.Errorf("%s: %v, want that it does not fit", text, err)
			}
		}
		if folder != "" {
			sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*), MAX(x), MAX(w), MAX(u) FROM f")
		}
	}
}
