package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/storage"
)

// Views are in the folder, as they were named last; those of temporary tables are not.
func TestViewsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	file := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(file, []byte("q\n1\n2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"CREATE TABLE t (a int PRIMARY KEY)", "CREATE TABLE u (a int, d text)", "INSERT INTO t VALUES (1), (2), (3)", "INSERT INTO u VALUES (1, 'x'), (2, 'ü'), (9, 'n')",
		"CREATE VIEW v AS SELECT * FROM t NATURAL JOIN u", "CREATE VIEW w (x, y) AS SELECT a, count(*) OVER (ORDER BY a) FROM v", "CREATE VIEW z AS TABLE w",
		"CREATE OR REPLACE VIEW v AS SELECT a, 'w' || d AS d, 77 AS e FROM t JOIN u USING (a)", "ALTER TABLE t RENAME TO tt", "ALTER VIEW v RENAME TO vv",
		"CREATE TEMP TABLE tmp AS SELECT 1 AS q", "CREATE VIEW tv AS SELECT * FROM tmp", "CREATE VIEW f AS SELECT count(*) AS n FROM '" + file + "'",
		"CREATE VIEW s AS SELECT a FROM tt WHERE EXISTS (SELECT * FROM u WHERE u.a = tt.a) UNION ALL SELECT 5 ORDER BY 1",
	} {
		do(t, db, text)
	}
	at := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what the log has, and what the checkpoint of Close has made of it
		again, err := Open(Options{Backend: "cpu", Folder: at})
		if err != nil {
			t.Fatal(err)
		}
		if got := said(Collect(again.Query(context.Background(), "SELECT s.a, f.n, x, d FROM s, f, z, vv WHERE x = s.a AND vv.a = x"))); got != "1|2|1|wx;2|2|2|wü" {
			t.Errorf("opened again, the views give %s", got)
		}
		if got := said(Collect(again.Query(context.Background(), "SELECT * FROM tmp"))); !strings.HasPrefix(got, "!") {
			t.Errorf("a temporary table is there: %s", got)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := storage.Verify(context.Background(), at); len(found.Problems) > 0 || err != nil {
		t.Error(found, err)
	}
}

// CREATE VIEW and DROP TABLE bind each view of a chain once.
func TestChainOfViews(t *testing.T) {
	took := func(n int) (create, drop uint64) {
		db := open(t, Options{Backend: "cpu"})
		steps(t, db, [][2]string{{"CREATE TABLE t (a int, b int)", ""}, {"CREATE TABLE other (a int)", ""}, {"CREATE VIEW v0 AS SELECT a, b FROM t", ""}})
		bytes := func(text, want string) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			steps(t, db, [][2]string{{text, want}})
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		for i := 1; i <= n; i++ {
			create = bytes(fmt.Sprintf("CREATE VIEW v%d AS SELECT a, b FROM v%d", i, i-1), "")
		}
		drop = bytes("DROP TABLE other", "")
		bytes("CREATE OR REPLACE VIEW v0 AS SELECT a, b FROM v1", `!view "v0" would read itself (line 1, column 24)`)
		bytes("DROP TABLE t", `!cannot drop table "t" because view "v0" depends on it; CASCADE at the end drops it, too (line 1, column 12)`)
		bytes("ALTER TABLE t DROP COLUMN b", `!cannot drop column "b" because view "v0" depends on it; DROP COLUMN ... CASCADE drops it, too (line 1, column 27)`)
		bytes("DROP VIEW v1 CASCADE", "")
		bytes("SHOW TABLES", "t;v0")
		return create, drop
	}
	took(2)
	create, drop := took(10)
	if c, d := took(40); c > 6*create || d > 6*drop {
		t.Errorf("over 10 views CREATE allocates %d bytes and DROP %d, over 40 %d and %d", create, drop, c, d)
	}
}
