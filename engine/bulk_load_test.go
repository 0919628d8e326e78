package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// filesOf are the files of a table in a folder.
func filesOf(t *testing.T, dir, name string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, name+"-*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Rows that the host memory budget has no room for become a table of a folder, of CREATE TABLE AS, INSERT ... SELECT and COPY FROM, and are as without a budget.
func TestRowsBeyondHostMemoryAreAdded(t *testing.T) {
	const rows, budget = 6000, 150_000
	ctx, dir := context.Background(), t.TempDir()
	_, path := beyondTable(t, rows)
	whole := open(t, Options{Backend: "cpu"})
	opened := func() *DB {
		return open(t, Options{Backend: "cpu", Folder: filepath.Join(dir, "db"), HostMemory: budget})
	}
	db := opened()
	more := strings.Replace(path, "f*", "more*", 1)
	for at := 0; at < rows; at += 500 { // a row group each
		do(t, whole, fmt.Sprintf("COPY (SELECT id + 100000 AS id, a, w, x, v, d, day, b, u FROM '%s' WHERE id BETWEEN %d AND %d) TO '%s'", path, at, at+499, strings.Replace(more, "*", fmt.Sprintf("%05d", at), 1)))
	}
	key := "CREATE TABLE k (id bigint PRIMARY KEY, a integer, w bigint CHECK (w <> 5), x double, v varchar(5), d decimal(12, 2), day date, b boolean, u varchar, n serial, z integer DEFAULT 7 NOT NULL)"
	columns := "(id, a, w, x, v, d, day, b, u)"
	for _, text := range []string{
		"CREATE TABLE f AS SELECT * FROM '" + path + "'",
		"CREATE TABLE o AS SELECT w, u, id FROM f ORDER BY w",
		"CREATE TABLE j AS SELECT p.id, p.u, q.w FROM f p JOIN f q ON p.id = q.id + 1 WHERE p.x > 3",
		"CREATE TABLE g AS SELECT w, COUNT(*) AS n, MAX(u) AS u FROM f GROUP BY w",
		key,
		"INSERT INTO k (id, a, w) VALUES (-1, 2, 3), (-2, 3, 4)", // which the log has
		"INSERT INTO k " + columns + " SELECT * FROM f",
		"UPDATE k SET a = a + 1, u = 'changed' WHERE id % 50 = 3",
		"DELETE FROM k WHERE id % 60 = 7",
		"COPY k " + columns + " FROM '" + more + "'",
		"INSERT INTO k " + columns + " SELECT id + 200000, a, w, x, v, d, day, b, u FROM k WHERE id >= 0 AND id < 100000",
		"DELETE FROM k WHERE id % 70 = 7",
		"INSERT INTO k (id, a, w) VALUES (-3, 1, 1), (-4, 2, 2)", // in the log, of a table in files
		"UPDATE k SET u = 'late' WHERE id = -4 OR id = 11",
		"INSERT INTO k " + columns + " SELECT id + 300000, a, w, x, v, d, day, b, u FROM f ORDER BY u DESC",
	} {
		do(t, whole, text)
		do(t, db, text)
		before := db
		for range 2 { // and after it has been opened again
			name := strings.Fields(strings.TrimPrefix(text, "CREATE TABLE "))[0]
			if !strings.HasPrefix(text, "CREATE TABLE ") {
				name = "k"
			}
			sameBeyond(t, whole, func() *DB { return db }, fmt.Sprintf("SELECT COUNT(*), COUNT(u), MIN(u), MAX(u), MAX(w), SUM(w %% 1000) FROM %s", name))
			if name == "o" {
				sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*) FROM (SELECT w - lag(w) OVER (ORDER BY id) AS d FROM o WHERE id < 500) q WHERE d > 0")
			}
			if name == "k" {
				sameBeyond(t, whole, func() *DB { return db }, "SELECT id, a, n, z, v, u FROM k WHERE id % 97 < 2 OR id < 0")
				sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(DISTINCT id), MAX(n), SUM(n), SUM(d), MIN(day) FROM k")
			}
			if db == before {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = opened()
			}
		}
	}
	for _, name := range []string{"f", "o", "j", "g", "k"} {
		if len(filesOf(t, filepath.Join(dir, "db"), name)) == 0 || db.entry(name).Open == nil {
			t.Errorf("%s is not in files", name)
		}
	}
	small := []string{"DROP TABLE j", "DROP TABLE g", "CREATE TABLE small AS SELECT x::smallint AS x FROM generate_series(1, 8000) AS g(x)"}
	for _, text := range small {
		do(t, whole, text)
		do(t, db, text)
	}
	for backend, from := range map[string]string{"auto": "generate_series(1, 20000) AS g(x)", "compute": "small", "fused": "small", "classic": "small"} {
		do(t, db, "SET backend = '"+backend+"'")
		for _, to := range []*DB{whole, db} {
			do(t, to, "CREATE TABLE c_"+backend+" AS SELECT x, x::bigint * x * 1000003 AS y, x::bigint * x * x AS z, 'text ' || x % 800 AS u FROM "+from+" WHERE x > 5")
		}
		if len(filesOf(t, filepath.Join(dir, "db"), "c_"+backend)) == 0 {
			t.Errorf("what %s computes is not in files", backend)
		}
		do(t, db, "SET backend = 'cpu'")
		sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*), MAX(x), SUM(y), COUNT(u), MAX(z) FROM c_"+backend)
	}

	// What breaks a rule, fails midway or is cancelled leaves nothing.
	state := "SELECT COUNT(*), SUM(n), MAX(u), SUM(id), COUNT(z) FROM k"
	before, had := inWords(Collect(db.Query(ctx, state))), fmt.Sprint(filesOf(t, filepath.Join(dir, "db"), "*"))
	for text, want := range map[string]string{
		"INSERT INTO k " + columns + " SELECT * FROM f":                                                                                         `violates unique constraint "k_pkey": key (id)=(`,
		"INSERT INTO k " + columns + " SELECT id % 5990 + 900000, a, w, x, v, d, day, b, u FROM f":                                              `violates unique constraint "k_pkey": key (id)=(9000`,
		"INSERT INTO k " + columns + " SELECT id + 900000, a, CASE id WHEN 5000 THEN 5 ELSE w END, x, v, d, day, b, u FROM f":                   `violates check constraint "k_w_check"`,
		"INSERT INTO k " + columns + " SELECT CASE WHEN id < 5500 THEN id + 900000 END, a, w, x, v, d, day, b, u FROM f":                        `null value in column "id"`,
		"INSERT INTO k " + columns + " SELECT id + 900000, a, w, x, CASE id WHEN 5100 THEN 'longer' ELSE v END, d, day, b, u FROM f":            `value too long for type character varying(5)`,
		"INSERT INTO k " + columns + " SELECT id + 900000, 10 / (id - 5400), w, x, v, d, day, b, u FROM f":                                      `division by zero`,
		"CREATE TABLE fails AS SELECT *, 10 / (id - 5400) AS q FROM f":                                                                          `division by zero`,
		"INSERT INTO k " + columns + " SELECT id + 900000, a, w, x, v, d, day, b, u FROM f RETURNING id":                                        `--host-memory`,
		"INSERT INTO k " + columns + " SELECT id + 900000, a, w, x, v, d, day, b, u FROM f ON CONFLICT (id) DO UPDATE SET a = excluded.a + k.a": `--host-memory`,
		"CREATE TEMP TABLE fails AS SELECT * FROM f":                                                                                            `--host-memory`,
		"COPY k " + columns + " FROM '" + more + "'":                                                                                            `violates unique constraint "k_pkey"`,
	} {
		if _, err := db.Exec(ctx, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if got := inWords(Collect(db.Query(ctx, state))); got != before {
			t.Errorf("%s: afterwards %s, before %s", text, got, before)
		}
		if got := fmt.Sprint(filesOf(t, filepath.Join(dir, "db"), "*")); got != had {
			t.Errorf("%s: afterwards files %s, before %s", text, got, had)
		}
	}
	for wait := time.Millisecond; ; wait *= 3 {
		short, cancel := context.WithTimeout(ctx, wait)
		_, err := db.Exec(short, "CREATE TABLE late AS SELECT * FROM f ORDER BY u")
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.DeadlineExceeded) || db.entry("late") != nil {
			t.Fatalf("%v, late %v", err, db.entry("late"))
		}
		if got := fmt.Sprint(filesOf(t, filepath.Join(dir, "db"), "*")); got != had {
			t.Fatalf("after %v files %s, before %s", wait, got, had)
		}
	}
	do(t, whole, "CREATE TABLE late AS SELECT * FROM f ORDER BY u")
	sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*), MAX(id), MIN(u) FROM late")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := storage.Verify(ctx, filepath.Join(dir, "db")); err != nil || len(found.Problems) > 0 {
		t.Fatal(found, err)
	}
}

// COPY FROM of texts beyond the host memory: they are read as values of the table's columns.
func TestTextsBeyondHostMemoryAreCopied(t *testing.T) {
	const rows, budget = 100_000, 2_000_000
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: filepath.Join(dir, "db"), HostMemory: budget})
	for i, of := range []string{"t.csv' (HEADER)", "t.csv.gz' (DELIMITER ';')", "t.txt' (FORMAT text)"} {
		path := "'" + filepath.Join(dir, of)
		do(t, db, fmt.Sprintf("COPY (SELECT x AS id, 0.25 * x AS q, CASE WHEN x %% 7 > 0 THEN 'a;b ' || x %% 1000 END AS s, x %% 3 = 0 AS b FROM generate_series(1, %d) g(x)) TO %s", rows, path))
		name := fmt.Sprint("t", i)
		do(t, db, fmt.Sprintf("CREATE TABLE %s (n serial, id integer UNIQUE, q decimal(10, 2), s varchar(20), b boolean)", name))
		do(t, db, fmt.Sprintf("CREATE INDEX %s_s ON %[1]s (s)", name))
		do(t, db, fmt.Sprintf("COPY %s (id, q, s, b) FROM %s", name, path))
		if len(filesOf(t, filepath.Join(dir, "db"), name)) == 0 {
			t.Errorf("%s is not in files", name)
		}
		for text, want := range map[string]string{
			"SELECT COUNT(*), SUM(id), SUM(n), SUM(q), COUNT(s), COUNT(*) FILTER (WHERE b) FROM %s": fmt.Sprintf("[[%d %d %[2]d %.2f %d %d]]", rows, rows*(rows+1)/2, float64(rows)*(rows+1)/8, rows-rows/7, rows/3),
			"SELECT id, n FROM %s WHERE s = 'a;b 17' AND id < 3000 ORDER BY 1":                      "[[17 17] [1017 1017] [2017 2017]]",
		} {
			if got := inWords(Collect(db.Query(ctx, fmt.Sprintf(text, name)))); got != want {
				t.Errorf("%s: "+text+": %s, want %s", of, name, got, want)
			}
		}
		if _, err := db.Exec(ctx, fmt.Sprintf("COPY %s (q, id, s, b) FROM %s", name, path)); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, of[:5])) {
			t.Errorf("%v, want that a value is wrong in %s", err, of)
		}
	}
}

// Transactions that are open while rows beyond the host memory are added read what there was. They commit behind these rows. A folder
// that is copied at any moment has all of the rows or none.
func TestTransactionsBesideRowsBeyondHostMemory(t *testing.T) {
	for _, deleted := range []string{"id = -1", "id < -100"} { // which the checkpoint takes away: rows are counted anew; or none
		t.Run(deleted, func(t *testing.T) { transactionsBesideRows(t, deleted) })
	}
}

func transactionsBesideRows(t *testing.T, deleted string) {
	const rows, budget = 6000, 150_000
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "db")
	_, path := beyondTable(t, rows)
	db := open(t, Options{Backend: "cpu", Folder: dir, HostMemory: budget})
	do(t, db, "CREATE TABLE k (id bigint PRIMARY KEY, w bigint, u varchar)")
	do(t, db, "INSERT INTO k VALUES (-2, 2, 'two'), (-3, 3, 'three')")
	if deleted == "id = -1" {
		do(t, db, "INSERT INTO k VALUES (-1, 1, 'one')")
	}
	do(t, db, "DELETE FROM k WHERE "+deleted)
	if _, err := db.Exec(ctx, "INSERT INTO k SELECT id - 2, w, u FROM '"+path+"'"); !errors.Is(err, ErrDuplicateKey) {
		t.Fatalf("%v, want that the log has a key", err)
	}
	do(t, db, "UPDATE k SET u = 'Three' WHERE id = -3") // the log has something again
	if deleted == "id = -1" {
		do(t, db, "INSERT INTO k VALUES (-1, 1, 'one')")
		do(t, db, "DELETE FROM k WHERE "+deleted)
	}
	begin := func() *Tx {
		tx, err := db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	exec := func(tx *Tx, text string) {
		if _, err := tx.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	reads, writes, conflicts := begin(), begin(), begin()
	exec(reads, "SELECT COUNT(*) FROM k")
	exec(writes, "UPDATE k SET w = 30 WHERE id = -3")
	exec(writes, "INSERT INTO k VALUES (-4, 4, 'four')")
	exec(conflicts, "INSERT INTO k VALUES (77, 4, 'there meanwhile')")

	stop, copies := make(chan struct{}), make(chan string)
	go func() {
		defer close(copies)
		for {
			select {
			case <-stop:
				return
			default:
			}
			to, err := os.MkdirTemp(filepath.Dir(dir), "copy")
			if err == nil && os.CopyFS(to, os.DirFS(dir)) == nil { // else a file has gone meanwhile
				copies <- to
			}
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		}
	}()
	done := make(chan error)
	go func() {
		_, err := db.Exec(ctx, "INSERT INTO k SELECT id, w, u FROM '"+path+"'")
		close(stop)
		done <- err
	}()
	list := []string{}
	for to := range copies {
		list = append(list, to)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, to := range list {
		again, err := Open(Options{Backend: "cpu", Folder: to})
		if err != nil { // the manifest of one moment, and the files of another
			continue
		}
		if got := inWords(Collect(again.Query(ctx, "SELECT COUNT(*) FROM k"))); got != "[[2]]" && got != fmt.Sprintf("[[%d]]", rows+2) {
			t.Errorf("a copy has %s rows", got)
		}
		again.Close()
	}
	if got := inWords(Collect(reads.Query(ctx, "SELECT COUNT(*), SUM(w) FROM k"))); got != "[[2 5]]" {
		t.Errorf("a transaction that began before reads %s", got)
	}
	if err := reads.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := writes.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := conflicts.Commit(ctx); !errors.Is(err, ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	for range 2 {
		if got := inWords(Collect(db.Query(ctx, "SELECT COUNT(*), MIN(id), MAX(id) FROM k"))); got != fmt.Sprintf("[[%d -4 %d]]", rows+3, rows-1) {
			t.Error(got)
		}
		if got := inWords(Collect(db.Query(ctx, "SELECT id, w, u FROM k WHERE id < 0 ORDER BY id"))); got != "[[-4 4 four] [-3 30 Three] [-2 2 two]]" {
			t.Error(got)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, Options{Backend: "cpu", Folder: dir, HostMemory: budget})
	}
}

// Copies of texts in the order of rows are counted with the tables in the host memory budget, and leave it where it is short.
func TestCopiesOfTextsMakeRoom(t *testing.T) {
	b := table.NewBuilder("f", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
	for i := range 20_000 {
		b.Column(0).String(fmt.Sprint("the text of row ", i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	own := tab.Bytes()
	for _, c := range []struct {
		budget int64
		stay   bool
	}{{own + own/8, false}, {8 * own, true}} {
		db := open(t, Options{Backend: "cpu", HostMemory: c.budget})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		if got := inWords(Collect(db.Query(t.Context(), "SELECT SUM(length(s || 'x')) FROM f"))); !strings.Contains(got, "428890") {
			t.Error(got)
		}
		taken := tab.Bytes()
		if taken == own {
			t.Error("no text is kept in the order of rows")
		}
		left, err := db.hostBudget()
		if err != nil || (tab.Bytes() == taken) != c.stay || left != c.budget-tab.Bytes() {
			t.Errorf("a budget of %d: the table has %d bytes of its own and %d after a statement, of which %d stay, and %d are left: %v", c.budget, own, taken, tab.Bytes(), left, err)
		}
	}
}
