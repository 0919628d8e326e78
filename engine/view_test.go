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

// Views are what their queries give by then, stand wherever a table may, and hold what they read.
func TestViews(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	file := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(file, []byte("q\n1\n2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ text, want string }{
		{"CREATE TABLE t (a int PRIMARY KEY, b text, c numeric(5,2))", ""},
		{"CREATE TABLE u (a int, d text)", ""},
		{"INSERT INTO t VALUES (1, 'x', 1.5), (2, 'yy', 2.5), (3, '33', NULL)", ""},
		{"INSERT INTO u VALUES (1, 'x'), (2, 'ü'), (9, 'n')", ""},
		{"CREATE VIEW v AS SELECT * FROM t NATURAL JOIN u", ""},
		{"CREATE VIEW w (x, y) AS SELECT a, count(*) OVER (ORDER BY a) FROM v WHERE b <> 'q' ORDER BY a DESC", ""},
		{"CREATE VIEW z AS TABLE w", ""},
		{"SELECT * FROM v", "1|x|1.50|x;2|yy|2.50|ü"},
		{"SELECT z.x, v.d FROM z JOIN v ON v.a = z.x JOIN z AS z2 USING (x) WHERE z.x > 1", "2|ü"},
		{"SELECT table_name, table_type FROM information_schema.tables WHERE table_name < 'v' OR table_name = 'z'", "t|BASE TABLE;u|BASE TABLE;z|VIEW"},
		{"SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'w'", "x|integer;y|bigint"},
		{"DESCRIBE w", "x|integer;y|bigint"},
		{"SUMMARIZE v", "a|integer|2|0|1|2|2|1|1|2;b|character varying|2|0|x|yy|2|x|x|yy;c|numeric(5,2)|2|0|1.50|2.50|2|1.50|1.50|2.50;d|character varying|2|0|x|ü|2|x|x|ü"},
		{"INSERT INTO v VALUES (1)", `!"v" is a view: its rows are those of its query and cannot be changed (line 1, column 13)`},
		{"CREATE INDEX ON v (a)", `!"v" is a view`},
		{"CREATE VIEW v AS SELECT 1", `!relation "v" already exists (line 1, column 13)`},
		{"CREATE OR REPLACE VIEW t AS SELECT 1", `!"t" is not a view`},
		{"CREATE OR REPLACE VIEW v AS SELECT 1 AS a", `!cannot drop columns from view "v"; DROP VIEW v comes first`},
		{"CREATE OR REPLACE VIEW v AS SELECT a, b, c, a AS d FROM t", `!cannot change column "d" of type character varying of view "v"`},
		{"CREATE OR REPLACE VIEW v AS SELECT x AS a, 'x' AS b, CAST(1 AS numeric(5,2)) AS c, 'y' AS d FROM z", `!view "v" would read itself`},
		{"CREATE OR REPLACE VIEW v AS SELECT a, b, c, 'w' || d AS d, 77 AS e FROM t JOIN u USING (a)", ""},
		{"SELECT d, e FROM v", "wx|77;wü|77"},
		{"DROP TABLE t", `!cannot drop table "t" because view "v" depends on it; CASCADE at the end drops it, too (line 1, column 12)`},
		{"DROP VIEW v", `!cannot drop view "v" because view "w" depends on it`},
		{"ALTER TABLE t ADD COLUMN e int DEFAULT 4", ""},
		{"ALTER TABLE t DROP COLUMN e", ""},
		{"ALTER TABLE t DROP COLUMN b", `!cannot drop column "b" because view "v" depends on it`},
		{"ALTER TABLE t ALTER b TYPE int USING 1", `!cannot alter the type of column "b" because view "v" depends on it`},
		{"ALTER TABLE t RENAME b TO bb", `!cannot rename column "b" because view "v" depends on it`},
		{"ALTER TABLE t RENAME TO tt", ""},
		{"ALTER VIEW v RENAME TO vv", ""},
		{"SELECT * FROM z", "2|2;1|1"},
		{"CREATE VIEW n AS SELECT now() AS n", ""},
		{"SELECT count(*) FROM n WHERE n <> now()", "0"},
		{"CREATE TEMP TABLE tmp AS SELECT 1 AS q", ""},
		{"CREATE VIEW tv AS SELECT * FROM tmp", ""},
		{"INSERT INTO tmp SELECT q + 1 FROM tv", ""},
		{"SELECT SUM(q) FROM tv", "3"},
		{"DROP VIEW tt", `!"tt" is not a view; DROP TABLE tt drops it`},
		{"DROP TABLE vv", `!"vv" is not a table; DROP VIEW vv drops it`},
		{"DROP VIEW IF EXISTS nope", ""},
		{"CREATE RECURSIVE VIEW r (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 5", "!CREATE RECURSIVE VIEW is not supported; write CREATE VIEW r AS WITH RECURSIVE ... (line 1, column 8)"},
		{"CREATE VIEW bad AS SELECT nope FROM tt", `!column "nope" does not exist; the columns are a, b, c (line 1, column 27)`},
		{"CREATE VIEW f AS SELECT count(*) AS n FROM '" + file + "'", ""},
		{"CREATE VIEW s AS SELECT a FROM tt WHERE EXISTS (SELECT * FROM u WHERE u.a = tt.a) UNION ALL SELECT 5 ORDER BY 1", ""},
		{"SELECT s.a, f.n FROM s, f", "1|2;2|2;5|2"},
	} {
		got := said(Collect(db.Query(context.Background(), step.text)))
		if got != step.want && !(step.want != "" && strings.HasPrefix(got, step.want)) {
			t.Errorf("%s:\n got %s\nwant %s", step.text, got, step.want)
		}
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
	do(t, db, "ALTER TABLE tt DROP COLUMN b CASCADE")
	if got := said(Collect(db.Query(context.Background(), "SHOW TABLES"))); got != "u;tt;n;tmp;tv;f;s" {
		t.Errorf("after DROP COLUMN ... CASCADE there are %s", got)
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
