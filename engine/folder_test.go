package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
