package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/storage"
)

// apartRows is how many rows a table of [apartFolder] has.
const apartRows = 520

// apartFolder is a folder whose table k has keys of one and of two columns, in several files.
func apartFolder(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "filled")
	db := open(t, Options{Backend: "cpu", Folder: dir})
	do(t, db, "CREATE TABLE k (p int, q int, r text CONSTRAINT k_r UNIQUE, v bigint DEFAULT 5 CHECK (v <> 13), n serial, PRIMARY KEY (p, q))")
	for at, n := 0, 60; at < apartRows; at, n = at+n, n-1 { // a file each, for it is smaller than the one before
		do(t, db, fmt.Sprintf("INSERT INTO k SELECT x / 20, x %% 20, 'row ' || x, x::bigint * 7919 * 1000003 %% 1000000007 FROM generate_series(%d, %d) g(x)", at, min(at+n, apartRows)-1))
		do(t, db, "CHECKPOINT")
	}
	do(t, db, "CREATE TABLE s AS SELECT x AS p, x % 5 AS q, 'new ' || x AS r, x * 3 AS v FROM generate_series(0, 60) g(x)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// anyOfApart is a statement that changes the table k.
func anyOfApart(r *rapid.T) string {
	n := func(least, most int) int { return rapid.IntRange(least, most).Draw(r, "n") }
	where := func() string {
		return []string{fmt.Sprintf("p = %d", n(0, 30)), fmt.Sprintf("r = 'row %d'", n(0, apartRows)), fmt.Sprintf("(p + q) %% %d = 3", n(9, 40)), fmt.Sprintf("v %% %d = 1", n(9, 40)),
			fmt.Sprintf("p = %d AND q < %d", n(0, 30), n(0, 9)), fmt.Sprintf("p > 25 AND v < %d", n(0, 1000))}[n(0, 5)]
	}
	set := func() string {
		return []string{"v = v + 1", "p = p + 1", "q = q + 1", "p = p + 100, q = q", "p = q, q = p", "r = r || '+'", "r = NULL, v = 0", fmt.Sprintf("r = 'row %d'", n(0, apartRows)), "v = 13", "p = NULL",
			fmt.Sprintf("p = %d, q = q + 50, v = DEFAULT", n(0, 60))}[n(0, 10)]
	}
	rows := func() string {
		var list []string
		for range n(1, 4) {
			list = append(list, fmt.Sprintf("(%d, %d, 'row %d', %d)", n(0, 60), n(0, 25), n(0, 2*apartRows), n(10, 20)))
		}
		return "VALUES " + strings.Join(list, ", ")
	}
	from := func() string {
		return []string{rows(), rows(), "SELECT * FROM s", fmt.Sprintf("SELECT p + %d, q, r || '*', v FROM k WHERE p < %d", n(20, 70), n(0, 5)), "SELECT p, q, NULL, v + 1 FROM s WHERE p % 3 = 1"}[n(0, 4)]
	}
	conflict := func() string {
		of := []string{"(p, q)", "(r)", "ON CONSTRAINT k_r"}[n(0, 2)]
		return []string{"", " ON CONFLICT DO NOTHING", " ON CONFLICT " + of + " DO NOTHING", " ON CONFLICT " + of + " DO UPDATE SET v = k.v + excluded.v",
			" ON CONFLICT " + of + " DO UPDATE SET q = k.q + 30, r = excluded.r WHERE k.v % 2 = 1"}[n(0, 4)]
	}
	return []string{
		"INSERT INTO k (p, q, r, v) " + from() + conflict() + []string{"", " RETURNING p, q, r, v"}[n(0, 1)],
		"INSERT INTO k (p, q, r, v) " + rows() + conflict(),
		"UPDATE k SET " + set() + " WHERE " + where() + []string{"", " RETURNING p, q, r, v"}[n(0, 1)],
		"UPDATE k SET v = s.v, r = s.r FROM s WHERE k.p = s.p AND k.q = s.q AND " + []string{"s.v > 30", "k.v > 30"}[n(0, 1)],
		"DELETE FROM k WHERE " + where(),
		"MERGE INTO k USING " + []string{"s ON k.p = s.p AND k.q = s.q", fmt.Sprintf("(VALUES (%d, 3), (%d, 4)) s(p, q) ON k.p = s.p", n(0, 30), n(0, 30)), "(SELECT p + 20 AS p, q FROM k WHERE v % 7 = 1) s ON s.p = k.p AND s.q = k.q"}[n(0, 2)] +
			[]string{"", " WHEN MATCHED AND k.v % 3 = 0 THEN DELETE"}[n(0, 1)] +
			[]string{"", " WHEN MATCHED THEN UPDATE SET " + set(), " WHEN MATCHED AND k.q > 3 THEN UPDATE SET v = s.p"}[n(0, 2)] +
			[]string{" WHEN NOT MATCHED THEN INSERT (p, q, v) VALUES (s.p, s.q, 8)", " WHEN NOT MATCHED AND s.q > 2 THEN INSERT (p, q, r) VALUES (s.p + 3, s.q, 'row ' || s.p)", fmt.Sprintf(" WHEN NOT MATCHED BY SOURCE AND v %% %d = 1 THEN DELETE", n(9, 40))}[n(0, 2)],
		[]string{"ALTER TABLE k ADD COLUMN IF NOT EXISTS z int DEFAULT 7", "ALTER TABLE k DROP COLUMN IF EXISTS z", "ALTER TABLE k ADD y text, DROP COLUMN IF EXISTS z", "ALTER TABLE k RENAME COLUMN n TO m", "ALTER TABLE k RENAME TO kk",
			"ALTER TABLE kk RENAME TO k", "ALTER TABLE k ALTER v SET DEFAULT 9, ADD CHECK (p < 300)", "ALTER TABLE k DROP CONSTRAINT k_r", "ALTER TABLE k ADD CONSTRAINT k_r UNIQUE (r)", "CREATE UNIQUE INDEX i ON k (v, r)",
			"DROP INDEX i", "ALTER TABLE k ADD x bigint NOT NULL DEFAULT 3, ALTER r SET NOT NULL", "ALTER TABLE k ALTER p TYPE bigint", "UPDATE k SET z = p WHERE p < 3", "ALTER TABLE k DROP n"}[n(0, 14)],
	}[n(0, 7)%7]
}

// fewChecks has rapid make a fifth of the checks in a test that waits for a disk.
func fewChecks(t *testing.T) {
	of := flag.Lookup("rapid.checks").Value
	before := of.String()
	t.Cleanup(func() { _ = of.Set(before) })
	n, err := strconv.Atoi(before)
	if err == nil {
		err = of.Set(strconv.Itoa((n + 4) / 5))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// outcome is what a statement changed, or the beginning of its error.
func outcome(s *Session, text string) string {
	rows, err := s.Query(context.Background(), text)
	if err != nil {
		before, _, _ := strings.Cut(err.Error(), ":")
		if errors.As(err, new(*ingest.MemoryError)) {
			return err.Error()
		}
		return before
	}
	return fmt.Sprint(rows.changed, " rows ", sortedLines(inWords(Collect(rows, nil))))
}

// Statements that change a table in files do what they do to one in memory. The host memory has no room for the table. There are
// transactions, too, and the folder is opened again.
func TestChangesOfATableInFiles(t *testing.T) {
	filled := apartFolder(t)
	fewChecks(t)
	apart, failed, done, refused := 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		const budget = 9_000
		var of [2]*DB
		var sessions [2]*Session
		reopen := func(i int, dir string) {
			db, err := Open(Options{Backend: "cpu", Folder: dir, HostMemory: []int64{0, budget}[i], Calibrations: t.TempDir()})
			if err != nil {
				rt.Fatal(err)
			}
			of[i], sessions[i] = db, db.Session()
		}
		for i := range of {
			dir := filepath.Join(t.TempDir(), "db")
			if err := os.CopyFS(dir, os.DirFS(filled)); err != nil {
				rt.Fatal(err)
			}
			reopen(i, dir)
		}
		defer func() {
			for _, db := range of {
				db.Close()
			}
		}()
		both := func(text string) {
			got := outcome(sessions[1], text)
			if strings.Contains(got, "host memory budget") && !strings.HasPrefix(text, "SELECT") { // by its size
				refused++
				if sessions[1].Begun() {
					outcome(sessions[0], "ROLLBACK")
					outcome(sessions[1], "ROLLBACK")
				}
				return
			}
			want := outcome(sessions[0], text)
			if rt.Logf("%s -- %.99s", text, want); got != want {
				g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
				at := 0
				for at < min(len(g), len(w))-1 && g[at] == w[at] {
					at++
				}
				rt.Fatalf("%s: line %d of %d: %s, in memory %s of %d", text, at, len(g), g[at], w[at], len(w))
			}
			if e := sessions[1].DB().entry("k"); e != nil && e.Open != nil {
				apart++
			}
			if strings.Contains(want, " rows ") {
				done++
			} else {
				failed++
			}
		}
		same := func() {
			both("SELECT p, q, r, v FROM k") // the serial numbers go to rows that a join gives, in any order
			both("SELECT COUNT(*), SUM(v), MAX(r) FROM k WHERE p > 3")
			both("SELECT p, q, z FROM k WHERE z < 100 ORDER BY p, q")
			both("SELECT COUNT(*), MAX(v) FROM kk")
		}
		for range rapid.IntRange(3, 10).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "action") {
			case 0:
				both(map[bool]string{false: "BEGIN", true: "COMMIT"}[sessions[0].Begun()])
			case 1:
				if sessions[0].Begun() {
					both("ROLLBACK")
				}
			case 2:
				if !sessions[0].Begun() {
					both("CHECKPOINT")
				}
			case 3:
				if rapid.Bool().Draw(rt, "reopen") {
					for i, db := range of {
						at := filepath.Join(t.TempDir(), "copy") // as a crash leaves it
						if err := os.CopyFS(at, os.DirFS(db.opts.Folder)); err != nil {
							rt.Fatal(err)
						}
						sessions[i].Close()
						db.Close()
						reopen(i, at)
					}
				}
				same()
			default:
				both(anyOfApart(rt))
			}
		}
		if sessions[0].Begun() {
			both("COMMIT")
		}
		same()
		if found, err := storage.Verify(context.Background(), of[1].opts.Folder); err != nil || len(found.Problems) > 0 {
			rt.Fatal(found, err)
		}
	})
	t.Logf("%d statements, %d of them errors; the table was in files after %d; %d were refused", done+failed, failed, apart, refused)
	if apart == 0 || 2*refused > done {
		t.Errorf("the table was in files after %d statements, and %d of %d were refused", apart, refused, done)
	}
}

// An index of a table in files is made where there is room for it and its column, also where others had it. Else it is refused with
// its size.
func TestIndexOfATableInFiles(t *testing.T) {
	ctx, dir := context.Background(), apartFolder(t)
	db := open(t, Options{Backend: "cpu", Folder: dir, HostMemory: 24_000})
	do(t, db, "SELECT MAX(v), MAX(n), MAX(p) FROM k")
	if _, err := db.Exec(ctx, "CREATE INDEX ON k (q)"); err != nil {
		t.Error(err)
	}
	do(t, db, "UPDATE k SET q = q + 100, v = 0 WHERE q = 7 AND p < 9")
	if got := said(Collect(db.Query(ctx, "SELECT COUNT(*), SUM(p) FROM k WHERE q = 107"))); got != "9|36" {
		t.Error(got)
	}
	if _, err := db.Exec(ctx, "SET host_memory = '15kB'"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, "CREATE INDEX big ON k (v)"); err == nil || !strings.Contains(err.Error(), `index "big" takes about `) {
		t.Errorf("%v, want that it is too large", err)
	}
}

// Changes of several tables in files, and by transactions that are open, take half of the host memory at most. Then there is room to
// read the tables.
func TestChangesOfTablesInFilesLeaveRoom(t *testing.T) {
	ctx := context.Background()
	dir, rows := filledFolder(t)
	db := open(t, Options{Backend: "cpu", Folder: dir, HostMemory: modelBudget})
	change := func(s *Session, table string, rest int) (refused bool) {
		_, err := s.Exec(ctx, fmt.Sprintf("UPDATE %s SET v = v + 1 WHERE id %% 4 = %d", table, rest))
		if err != nil && !strings.Contains(err.Error(), "what is changed of tables that are not in memory") {
			t.Fatal(err)
		}
		return err != nil
	}
	count := func(s *Session) {
		t.Helper()
		for _, table := range []string{"t", "u"} {
			if got := said(Collect(s.Query(ctx, "SELECT COUNT(*), COUNT(DISTINCT id), COUNT(v) FROM "+table))); got != strings.Repeat(fmt.Sprintf("%d|", len(rows)), 2)+fmt.Sprint(len(rows)) {
				t.Error(got)
			}
		}
	}
	a, b := db.Session(), db.Session()
	for _, s := range []*Session{a, b} {
		if _, err := s.Exec(ctx, "BEGIN"); err != nil {
			t.Fatal(err)
		}
	}
	if change(a, "t", 0) {
		t.Error("a quarter of a table is refused")
	}
	count(a)
	if !change(b, "u", 1) {
		t.Error("a quarter of two tables each is not refused")
	}
	if _, err := b.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	count(b)
	if _, err := a.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	count(a)
	if change(b, "u", 1) {
		t.Error("a quarter of a table is refused, and what was changed before is in files")
	}
	count(b)
}

// However often values are changed, they do not fill the memory: the files are written anew.
func TestManyChangesOfATableInFiles(t *testing.T) {
	dir, rows := filledFolder(t)
	o := Options{Backend: "cpu", Folder: dir, HostMemory: modelBudget}
	db := open(t, o)
	do(t, db, "DELETE FROM t WHERE id % 50 = 7")
	want := int64(0)
	for _, r := range rows {
		if r.id%50 != 7 {
			want += r.v%1000 + 2
		}
	}
	do(t, db, "UPDATE t SET v = v % 1000 WHERE id % 4 = 0")
	for rest := 1; rest < 4; rest++ {
		do(t, db, fmt.Sprintf("UPDATE t SET v = v %% 1000 WHERE id %% 4 = %d", rest))
	}
	for i := range 8 {
		do(t, db, fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id %% 4 = %d", i%4))
	}
	for range 2 {
		if got := said(Collect(db.Query(context.Background(), "SELECT SUM(v), MAX(v) < 1002 FROM t"))); got != fmt.Sprintf("%d|true", want) {
			t.Errorf("%s, want %d", got, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, o)
	}
}

// What was read of a folder's tables is dropped at any time, for other statements. Whoever changes rows meanwhile changes them, or
// there is a conflict. One table has no room in memory, and one has.
func TestChangesBesideMakingRoom(t *testing.T) {
	ctx := context.Background()
	folder := apartFolder(t)
	const key, change = " WHERE p = 7 AND q = 7", "UPDATE k SET v = v + 1 WHERE p = 7 AND q = 7"
	for _, c := range []struct {
		budget      int64
		times, anew int // changes, and how often the folder is opened for so many
		all         string
	}{{50_000, 30, 1, "SELECT SUM(v) FROM k"}, {4 << 20, 2, 30, "SELECT * FROM k WHERE p < 0"}} {
		dir := filepath.Join(t.TempDir(), "db")
		if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		before := ""
		for range c.anew {
			db, err := Open(Options{Backend: "cpu", Folder: dir, HostMemory: c.budget, Calibrations: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if before == "" {
				before = said(Collect(db.Query(ctx, "SELECT v FROM k"+key)))
			}
			over := make(chan struct{})
			var others sync.WaitGroup
			for range 2 {
				others.Go(func() {
					for {
						select {
						case <-over:
							return
						default:
							_, _ = Collect(db.Query(ctx, c.all))
							db.evict(ctx)
						}
					}
				})
			}
			for range c.times {
				tx, err := db.Begin(ctx, TxOptions{})
				if err == nil {
					_, err = tx.Exec(ctx, change)
				}
				if err == nil {
					_, err = db.Exec(ctx, change)
				}
				if err != nil {
					t.Errorf("%d bytes: %v", c.budget, err)
				}
				if err := tx.Commit(ctx); !errors.Is(err, ErrConflict) {
					t.Errorf("%d bytes: a transaction that changes what others have changed: %v", c.budget, err)
				}
			}
			close(over)
			others.Wait()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		db := open(t, Options{Backend: "cpu", Folder: dir})
		if got := said(Collect(db.Query(ctx, fmt.Sprintf("SELECT v - %d FROM k", c.times*c.anew)+key))); got != before {
			t.Errorf("%d bytes: v is %s, before it was %s", c.budget, got, before)
		}
	}
}
