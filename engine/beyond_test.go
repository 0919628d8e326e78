package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
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
	b := table.NewBuilder("f", fields, 768)
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
	tab, path := beyondTable(t, beyondRows)
	whole = open(t, Options{Backend: "cpu"})
	if err := whole.Add(tab); err != nil {
		t.Fatal(err)
	}
	return whole, func() *DB {
		db := open(t, Options{Backend: "cpu", HostMemory: beyondBudget})
		if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// sameBeyond compares the answers of both; without ORDER BY rows may come in any order.
func sameBeyond(t rapid.TB, whole *DB, small func() *DB, text string) {
	t.Helper()
	got, want := inWords(Collect(small().Query(context.Background(), text))), inWords(Collect(whole.Query(context.Background(), text)))
	if !strings.Contains(text, "ORDER BY") || strings.Contains(text, "WITHIN") {
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

// Drawn statements give the rows of the whole table, too: any keys, aggregates, conditions and orders.
func TestAnyStatementBeyondHostMemory(t *testing.T) {
	whole, small := beyondPair(t)
	keys := []string{"id", "a", "w", "x", "v", "d", "day", "b", "u", "a % 7", "abs(w) / 1000", "upper(v)", "d * 2", "CASE WHEN a > 50 THEN u END"}
	aggregates := []string{"COUNT(*)", "COUNT(u)", "SUM(a)", "SUM(w)", "AVG(d)", "MIN(x)", "MAX(u)", "MIN(day)", "SUM(a * d)",
		"bool_or(b)", "stddev_pop(a)", "COUNT(*) FILTER (WHERE x > 20)"}
	conditions := []string{"", " WHERE a > 30", " WHERE u LIKE '%9%'", " WHERE x < 31.5 OR b", " WHERE w % 3 = 0 AND v <> 'red'", " WHERE id < 0", " WHERE u IS NULL"}
	rapid.Check(t, func(r *rapid.T) {
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
		sameBeyond(r, whole, small, text)
	})
}

// smallDisk is a temporary file on a disk that is full after so many bytes; before each write it calls written.
type smallDisk struct {
	temporary
	left    *int
	open    *int // files that are open
	written func()
}

func (d smallDisk) WriteAt(p []byte, at int64) (int, error) {
	d.written()
	if *d.left -= len(p); *d.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "/a/name", Err: syscall.ENOSPC}
	}
	return d.temporary.WriteAt(p, at)
}

func (d smallDisk) Close() error {
	*d.open--
	return d.temporary.Close()
}

// A full disk and a statement that is ended while it writes to a temporary file, or before all of its rows are read, leave no file
// behind, and the error says what to do.
func TestTemporaryFilesGo(t *testing.T) {
	_, small := beyondPair(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, text := range []string{"SELECT w, COUNT(*) FROM f GROUP BY w", "SELECT id, w FROM f ORDER BY w", "SELECT w, SUM(d) FROM f GROUP BY w ORDER BY 2, 1"} {
		for _, left := range []int{0, 40_000, 1 << 30} {
			db, open, writes := small(), 0, 0
			ctx, cancel := context.WithCancel(context.Background())
			db.temporary = func() (temporary, error) {
				f, err := openTemporary()
				open++
				return smallDisk{f, &left, &open, func() {
					if writes++; left > 1<<29 && writes == 20 {
						cancel()
					}
				}}, err
			}
			full := left < 1<<29
			_, err := Collect(db.Query(ctx, text))
			switch {
			case full && (err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "TMPDIR=") || strings.Contains(err.Error(), "/a/name")):
				t.Errorf("%s: a full disk is %v", text, err)
			case !full && !errors.Is(err, context.Canceled):
				t.Errorf("%s: ended, it is %v", text, err)
			case open != 0 || writes == 0:
				t.Errorf("%s: %d files are open after %d writes", text, open, writes)
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
