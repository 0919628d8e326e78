package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// permutedTypes are types, each with values in the text that they have as answers.
var permutedTypes = map[string][]string{
	"boolean":          {"true", "false"},
	"smallint":         {"-3", "0", "7", "300"},
	"integer":          {"-70000", "0", "5", "70000"},
	"bigint":           {"-5000000000", "0", "1", "255", "256"},
	"numeric(18,3)":    {"-1.500", "0.000", "2.250", "100000000000000.000"},
	"real":             {"-1.5", "0.25", "3"},
	"double precision": {"-1.5", "0.25", "3", "1e+300"},
	"date":             {"1969-12-31", "2024-02-29", "2026-01-01"},
	"timestamp":        {"1969-12-31 23:59:59", "2024-02-29 12:00:00.5"},
	"text":             {"", "a", "ab", "zz"},
	"varchar(3)":       {"", "a", "abc"},
	"char(2)":          {"a", "bc"},
}

// permuted is a table of a key and three columns of one type, and what it is to have.
type permuted struct {
	typ  string
	rows [][3]string // by the key, from 1 on; NULL in full
}

var permutedColumns = [3]string{"a", "b", "c"}

func (p *permuted) literal(value string) string {
	if value == "NULL" {
		return "NULL::" + p.typ
	}
	return fmt.Sprintf("'%s'::%s", value, p.typ)
}

// want are rows, those with the numbers, as an answer of all columns in text.
func (p *permuted) want(rows []int) string {
	var lines []string
	for _, i := range rows {
		lines = append(lines, strings.Join(append([]string{fmt.Sprint(i + 1)}, p.rows[i][:]...), "|"))
	}
	return strings.Join(lines, "\n")
}

const permutedText = "k, a::text, b::text, c::text"

// answered is an answer with a line a row, in order of the first column.
func answered(r *Result, err error) string {
	if err != nil {
		return err.Error()
	}
	slices.SortStableFunc(r.Rows, func(a, b []table.Value) int { return int(a[0].I - b[0].I) })
	var lines []string
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

// Columns that get one another's values have those from before the statement. They have them in memory, in RETURNING, in the folder
// after a clean end, and in the folder as it lies, with its log.
func TestUpdatesThatPermuteColumns(t *testing.T) {
	ctx, dirs := context.Background(), t.TempDir()
	types := []string{}
	for name := range permutedTypes {
		types = append(types, name)
	}
	slices.Sort(types)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
		n++
		o := Options{Backend: rapid.SampledFrom([]string{"cpu", "auto"}).Draw(t, "backend"), Calibrations: dirs}
		if number("in a folder", 0, 3) > 0 {
			o.Folder = filepath.Join(dirs, fmt.Sprint(n))
		}
		opened := func(folder string) *DB {
			o := o
			o.Folder = folder
			db, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		db := opened(o.Folder)
		defer func() { _ = db.Close() }()
		session := db.Session()
		p := &permuted{typ: rapid.SampledFrom(types).Draw(t, "type")}
		run := func(text string) *Result {
			r, err := Collect(session.Query(ctx, text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			return r
		}
		run(fmt.Sprintf("CREATE TABLE t (k integer PRIMARY KEY, a %s, b %[1]s, c %[1]s)", p.typ))
		insert := func() {
			var rows []string
			for range number("rows", 1, 3) {
				var row [3]string
				values := []string{fmt.Sprint(len(p.rows) + 1)}
				for i := range row {
					row[i] = rapid.SampledFrom(append([]string{"NULL"}, permutedTypes[p.typ]...)).Draw(t, "value")
					values = append(values, p.literal(row[i]))
				}
				p.rows, rows = append(p.rows, row), append(rows, "("+strings.Join(values, ", ")+")")
			}
			run("INSERT INTO t VALUES " + strings.Join(rows, ", "))
		}
		for range number("inserts", 1, 4) {
			insert()
		}
		others := map[string]string{} // tables that were made of the columns, and what they have
		compare := func(db *DB, where string) {
			if got, want := answered(Collect(db.Query(ctx, "SELECT "+permutedText+" FROM t"))), p.want(all(len(p.rows))); got != want {
				t.Fatalf("%s:\n%s\nwant\n%s", where, got, want)
			}
			for name, want := range others {
				if got := answered(Collect(db.Query(ctx, "SELECT "+permutedText+" FROM "+name))); got != want {
					t.Fatalf("%s, %s:\n%s\nwant\n%s", where, name, got, want)
				}
			}
		}
		for range number("steps", 1, 6) {
			kind := number("kind", 0, 10)
			switch kind {
			case 10:
				if o.Folder != "" { // from now on the rows are in files
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
					db = opened(o.Folder)
					session = db.Session()
				}
			case 8:
				insert()
			case 9:
				name := fmt.Sprintf("u%d", len(others))
				run("CREATE TABLE " + name + " AS SELECT k, a, b, c, a AS a2 FROM t")
				run("ALTER TABLE " + name + " DROP COLUMN a")
				run("ALTER TABLE " + name + " RENAME COLUMN a2 TO a")
				others[name] = p.want(all(len(p.rows)))
			default:
				var from [3]int
				var sets []string
				prefix := [8]string{5: "s.", 6: "excluded."}[kind]
				for i, name := range permutedColumns {
					if from[i] = number("from", 0, 2); kind == 7 {
						sets = append(sets, fmt.Sprintf("ALTER COLUMN %s TYPE %s USING %s", name, p.typ, permutedColumns[from[i]]))
					} else {
						sets = append(sets, name+" = "+prefix+permutedColumns[from[i]])
					}
				}
				changed := all(len(p.rows))
				text, set := "", strings.Join(sets, ", ")
				switch kind {
				case 4:
					mod := number("mod", 1, 3)
					changed = slices.DeleteFunc(changed, func(i int) bool { return (i+1)%mod > 0 })
					text = fmt.Sprintf("UPDATE t SET %s WHERE k %% %d = 0", set, mod)
				case 5:
					text = "MERGE INTO t USING t AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET " + set
				case 6:
					text = "INSERT INTO t SELECT * FROM t ON CONFLICT (k) DO UPDATE SET " + set
				case 7:
					text = "ALTER TABLE t " + set
				default:
					text = "UPDATE t SET " + set
				}
				for _, i := range changed {
					old := p.rows[i]
					for to := range old {
						p.rows[i][to] = old[from[to]]
					}
				}
				inside := number("in a transaction", 0, 3) == 0
				if inside {
					run("BEGIN")
				}
				if returns := kind < 5 || kind == 6; returns && number("returning", 0, 1) == 0 {
					r, err := Collect(session.Query(ctx, text+" RETURNING "+permutedText))
					if got, want := answered(r, err), p.want(changed); got != want {
						t.Fatalf("%s RETURNING:\n%s\nwant\n%s", text, got, want)
					}
				} else {
					run(text)
				}
				if inside {
					run("COMMIT")
				}
			}
			compare(db, "in memory")
			if o.Folder != "" && number("as it lies", 0, 3) == 0 {
				n++
				at := filepath.Join(dirs, fmt.Sprint(n))
				if err := os.CopyFS(at, os.DirFS(o.Folder)); err != nil {
					t.Fatal(err)
				}
				killed := opened(at)
				compare(killed, "in the folder as it lies")
				if err := killed.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if o.Folder != "" {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = opened(o.Folder)
			compare(db, "in the folder after a clean end")
		}
	})
}

// What a transaction keeps of its changes until it is committed stays as it was. Others write to the table that the values
// are from. The folder has what memory has.
func TestChangesOfTransactionsThatShareColumns(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "f")
	opened := func(folder string) *DB {
		db, err := Open(Options{Backend: "cpu", Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db := opened(dir)
	do(t, db, "CREATE TABLE t (k integer, a integer)")
	do(t, db, "INSERT INTO t VALUES (1, 10)")
	do(t, db, "INSERT INTO t VALUES (2, 20)")
	tx, err := db.Begin(ctx, TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"CREATE TABLE u AS SELECT k, a FROM t", "UPDATE t SET a = 11 WHERE k = 1", "UPDATE u SET a = 12 WHERE k = 1"} {
		if _, err := tx.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	do(t, db, "UPDATE t SET a = 21 WHERE k = 2")
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]*DB{"memory": db, "the folder as it lies": opened(at)} {
		for from, want := range map[string]string{"t": "1|11\n2|21", "u": "1|12\n2|20"} {
			if got := answered(Collect(db.Query(ctx, "SELECT * FROM "+from))); got != want {
				t.Errorf("%s, %s: %s, want %s", name, from, got, want)
			}
		}
	}
}
