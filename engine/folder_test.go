package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/storage"
)

func openFolder(t *testing.T, dir string) *engine.DB {
	t.Helper()
	db, err := engine.Open(engine.Options{Backend: "cpu", Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// rowsOf are those of the tables t and u, in text.
func rowsOf(t *testing.T, db *engine.DB) string {
	t.Helper()
	var out strings.Builder
	for _, of := range []string{"t", "u"} {
		r, err := engine.Collect(db.Query(context.Background(), "SELECT * FROM "+of))
		if err != nil {
			fmt.Fprintln(&out, err)
			continue
		}
		fmt.Fprintln(&out, r.Columns, r.Rows)
	}
	return out.String()
}

// What statements have changed is there when the folder is opened again: after Close, and as it lies at any time.
func TestFolder(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	db := openFolder(t, dir)
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec(`CREATE TABLE t (id integer PRIMARY KEY, v numeric(9,2) DEFAULT 1.5, s varchar(8) CHECK (s <> 'no'), d date)`)
	exec(`CREATE TABLE u AS SELECT x::double precision AS x, x % 2 = 0 AS even FROM generate_series(1, 5) g(x)`)
	next := 0
	for step := range 60 {
		switch k := rng.IntN(8); k {
		case 0, 1, 2:
			exec(fmt.Sprintf("INSERT INTO t (id, s, d) SELECT x, 's' || x %% 7, DATE '2024-01-01' + x::integer FROM generate_series(%d, %d) g(x)", next, next+rng.IntN(9)))
			next += 9
		case 3:
			exec(fmt.Sprintf("UPDATE t SET v = v + 1, s = NULL WHERE id %% %d = 0", 2+rng.IntN(5)))
		case 4:
			exec(fmt.Sprintf("DELETE FROM t WHERE id %% %d = 0", 2+rng.IntN(9)))
		case 5:
			exec("UPDATE u SET x = -x WHERE even")
		case 6:
			exec("INSERT INTO u DEFAULT VALUES")
		case 7:
			if step%3 == 0 {
				exec("TRUNCATE u")
			} else {
				exec("DROP TABLE u")
				exec("CREATE TABLE u (x double precision DEFAULT 2.5, even boolean)")
			}
		}
		want := rowsOf(t, db)
		if rng.IntN(4) == 0 { // as it lies, after a crash
			at := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			other := openFolder(t, at)
			if got := rowsOf(t, other); got != want {
				t.Fatalf("step %d: as it lies\n%swant\n%s", step, got, want)
			}
			other.Close()
		}
		if rng.IntN(6) == 0 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if found, err := storage.Verify(ctx, dir); len(found.Problems) > 0 || err != nil {
				t.Fatal(found, err)
			}
			db = openFolder(t, dir)
			if got := rowsOf(t, db); got != want {
				t.Fatalf("step %d: opened again\n%swant\n%s", step, got, want)
			}
		}
	}
	for text, want := range map[string]string{
		"INSERT INTO t (id) SELECT MIN(id) FROM t": `duplicate key value violates unique constraint "t_pkey"`,
		"INSERT INTO t VALUES (-1, 1, 'no')":       `violates check constraint`,
		"INSERT INTO t VALUES (NULL)":              `null value in column "id"`,
	} {
		if _, err := db.Exec(ctx, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Whoever opens a folder that another DB writes to reads what it holds then, and changes nothing.
func TestFolderThatIsWrittenTo(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := openFolder(t, dir)
	if _, err := db.Exec(ctx, "CREATE TABLE t AS SELECT 1 AS x"); err != nil {
		t.Fatal(err)
	}
	var notes []string
	reader, err := engine.Open(engine.Options{Folder: dir, Note: func(text string) { notes = append(notes, text) }})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := db.Exec(ctx, "INSERT INTO t VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	r, err := engine.Collect(reader.Query(ctx, "SELECT COUNT(*) FROM t"))
	if err != nil || r.Rows[0][0].I != 1 || len(notes) != 1 {
		t.Errorf("%v, %v, %q", r, err, notes)
	}
	if _, err := reader.Exec(ctx, "INSERT INTO t VALUES (3)"); err == nil || !strings.Contains(err.Error(), "read only") {
		t.Errorf("%v, want that it is read only", err)
	}
	if r, err := engine.Collect(reader.Query(ctx, "SELECT COUNT(*) FROM t")); err != nil || r.Rows[0][0].I != 1 {
		t.Errorf("%v, %v after a change that is refused", r, err)
	}
}

// A statement that makes the log long does not wait for the files: they come after it, while others read and change. Where they cannot be
// written a later commit says so, nothing is lost, and the next one has them written.
func TestFilesOfManyRowsComeAfterTheStatement(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var mu sync.Mutex
	var notes []string
	db, err := engine.Open(engine.Options{Backend: "cpu", Folder: dir, Note: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, text)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	there := func(name string) bool {
		s, err := os.Stat(filepath.Join(dir, name))
		return err == nil && s.Mode().IsRegular()
	}
	wait := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("in a minute, not %s", what)
			}
		}
	}
	exec("CREATE TABLE t (a bigint, b bigint)")
	exec("CREATE TABLE u (a bigint)")
	blocked := filepath.Join(dir, "t-1.sdb.parquet")
	if err := os.Mkdir(blocked, 0o777); err != nil {
		t.Fatal(err)
	}
	const many = "INSERT INTO t SELECT g, g * 1234567890123 FROM generate_series(1, 6000000) s(g)" // 72 MB
	exec(many)
	said := func() bool {
		exec("INSERT INTO u VALUES (1)")
		mu.Lock()
		defer mu.Unlock()
		return len(notes) > 0
	}
	wait("said that the file cannot be written", said)
	if !strings.Contains(notes[0], "table t cannot be written") || there("log-2") {
		t.Errorf("%q, a new log: %v", notes, there("log-2"))
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	exec("INSERT INTO u VALUES (2)")
	wait("written", func() bool { return there("t-1.sdb.parquet") && there("log-2") })
	exec("INSERT INTO u VALUES (3)")
	at := filepath.Join(t.TempDir(), "crashed")
	if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	const sums = "SELECT COUNT(*), SUM(a), SUM(b), (SELECT MAX(a) FROM u) FROM t"
	want, err := engine.Collect(db.Query(ctx, sums))
	if err != nil {
		t.Fatal(err)
	}
	again, err := engine.Open(engine.Options{Backend: "cpu", Folder: at})
	if err != nil {
		t.Fatal(err)
	}
	got, err := engine.Collect(again.Query(ctx, sums))
	if err != nil || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) || got.Rows[0][0].I != 6_000_000 || got.Rows[0][3].I != 3 {
		t.Errorf("after a crash %v, %v, want %v", got, err, want.Rows)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	exec(many)
	if err := db.Close(); err != nil { // while the files are on their way
		t.Error(err)
	}
}

// A change whose context ends while it waits for the sync is either an error, and nothing, or there without one.
func TestContextsEndWhileCommitsAreSynced(t *testing.T) {
	ctx := context.Background()
	db := openFolder(t, t.TempDir())
	if _, err := db.Exec(ctx, "CREATE TABLE t (i integer)"); err != nil {
		t.Fatal(err)
	}
	var done atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range 200 {
				c, cancel := context.WithTimeout(ctx, time.Duration(i)*20*time.Microsecond)
				_, err := db.Exec(c, "INSERT INTO t VALUES ($1)", i)
				cancel()
				if err == nil {
					done.Add(1)
				} else if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int64
	rows, err := db.Query(ctx, "SELECT COUNT(*) FROM t")
	if err != nil || !rows.Next() || rows.Scan(&n) != nil || n != done.Load() {
		t.Errorf("%d rows are there, and %d statements had no error (%v)", n, done.Load(), err)
	}
	rows.Close()
}

// Statements that run while a DB is closed are there, or say that it is.
func TestCloseWhileStatementsRun(t *testing.T) {
	ctx := context.Background()
	db := openFolder(t, t.TempDir())
	if _, err := db.Exec(ctx, "CREATE TABLE t (i integer)"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				if _, err := db.Exec(ctx, "INSERT INTO t VALUES (1)"); err != nil {
					if !errors.Is(err, engine.ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
