package engine

import (
	"context"
	"strings"
	"testing"
)

// steps runs statements, each with how its answer begins, as [said] writes it.
func steps(t *testing.T, db interface {
	Query(ctx context.Context, text string, args ...any) (*Rows, error)
}, list [][2]string) {
	t.Helper()
	for _, step := range list {
		got := said(Collect(db.Query(context.Background(), step[0])))
		if got != step[1] && !(step[1] != "" && strings.HasPrefix(got, step[1])) {
			t.Errorf("%s:\n got %s\nwant %s", step[0], got, step[1])
		}
	}
}

// A number is given once: also where the transaction that took it is rolled back, others run beside it, and the process ends.
func TestNumbersAreGivenOnce(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	do(t, db, "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, who text)")
	one, two := db.Session(), db.Session()
	steps(t, one, [][2]string{{"BEGIN", ""}, {"INSERT INTO t (who) VALUES ('one') RETURNING id", "1"}})
	steps(t, two, [][2]string{{"BEGIN", ""}, {"INSERT INTO t (who) VALUES ('two') RETURNING id", "2"}, {"COMMIT", ""}})
	steps(t, one, [][2]string{{"INSERT INTO t (who) VALUES ('one') RETURNING id", "3"}, {"COMMIT", ""}, {"BEGIN", ""}, {"INSERT INTO t (who) VALUES ('gone') RETURNING id", "4"}, {"ROLLBACK", ""}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: dir})
	a, err := db.Appender(context.Background(), "t", "who")
	if err != nil {
		t.Fatal(err)
	}
	a.Texts(0, "five", "six")
	if err = a.EndRows(context.Background(), 2); err == nil {
		err = a.Close(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	steps(t, db, [][2]string{
		{"SELECT * FROM t ORDER BY id", "1|one;2|two;3|one;5|five;6|six"},
		{"ALTER TABLE t RENAME TO u", ""},
		{"INSERT INTO u (who) SELECT who || 'again' FROM u WHERE id > 4 ORDER BY id RETURNING *", "7|fiveagain;8|sixagain"},
	})
	reader, err := Open(Options{Backend: "cpu", Folder: dir, Calibrations: t.TempDir()}) // which writes no numbers
	if err != nil {
		t.Fatal(err)
	}
	steps(t, reader, [][2]string{{"INSERT INTO u (who) VALUES ('reader')", "!"}})
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

// A unique index of a transaction that is rolled back stays, and is there when the folder is opened again.
func TestUniqueIndexIsKept(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	do(t, db, "CREATE TABLE t (a int PRIMARY KEY, b text)")
	do(t, db, "INSERT INTO t VALUES (1, 'x')")
	do(t, db, "CREATE UNIQUE INDEX u ON t (b)")
	s := db.Session()
	steps(t, s, [][2]string{{"BEGIN", ""}, {"DROP INDEX u", ""}, {"INSERT INTO t VALUES (6, 'x')", ""}, {"ROLLBACK", ""}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	steps(t, open(t, Options{Backend: "cpu", Folder: dir}), [][2]string{
		{"INSERT INTO t VALUES (6, 'x')", `!duplicate key value violates unique constraint "u"`},
		{"SHOW INDEXES", "u|t|b|unique|NULL|0"},
	})
}

// A prepared statement shows the numbers of texts with the most decimals that they have when it runs.
func TestNumericOfTexts(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE t (v varchar)")
		s, err := db.Prepare(t.Context(), "SELECT v::numeric FROM t")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range [][2]string{{"1.5", "1.5"}, {"0.00625", "1.50000;0.00625"}} {
			do(t, db, "INSERT INTO t VALUES ($1)", c[0])
			if got := said(Collect(s.Query(t.Context()))); got != c[1] {
				t.Errorf("a prepared statement gives %s, want %s", got, c[1])
			}
		}
	}
}

// CHAR(n) takes n characters of an Appender, too, and of a folder that is opened again.
func TestLengths(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	do(t, db, "CREATE TABLE t (b char(3), id serial PRIMARY KEY)")
	a, err := db.Appender(context.Background(), "t", "b")
	if err != nil {
		t.Fatal(err)
	}
	a.Texts(0, "s  ", "tuv     ")
	if err = a.EndRows(context.Background(), 2); err == nil {
		err = a.Close(context.Background())
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"SELECT b || '.' FROM t ORDER BY id DESC LIMIT 2", "tuv.;s."},
		{"INSERT INTO t (b) VALUES ('four')", `!value too long for type character(3): column "b" of relation "t"`},
	})
}

// COMMENT ON is kept, and shown where there are comments.
func TestCommentsAreKept(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a int, \"B c\" text)", ""},
		{"CREATE VIEW v AS SELECT a AS n FROM t", ""},
		{"COMMENT ON TABLE t IS 'what it is'", ""},
		{"COMMENT ON COLUMN public.t.\"B c\" IS 'it''s a text'", ""},
		{"COMMENT ON VIEW v IS 'numbers'", ""},
		{"COMMENT ON COLUMN v.n IS 'a number'", ""},
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	steps(t, open(t, Options{Backend: "cpu", Folder: dir}), [][2]string{
		{"SHOW TABLES", "t|what it is;v|numbers"},
		{"DESCRIBE t", "a|integer|;B c|character varying|it's a text"},
		{"DESCRIBE v", "n|integer|a number"},
	})
}

// EXPLAIN of a statement that changes tables shows how its rows are found, and changes nothing; with ANALYZE it changes them.
func TestExplainChanges(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE t (id int PRIMARY KEY, v text)")
		do(t, db, "INSERT INTO t SELECT g, 'x' || g % 7 FROM generate_series(1, 1000) AS s(g)")
		for _, c := range []struct {
			text  string
			want  []string
			count string // rows of v = 'x3' afterwards
		}{
			{"EXPLAIN UPDATE t SET v = 'x3' WHERE id < 10", []string{"Update t: v", "t", "id < 10", backend}, "143"},
			{"EXPLAIN DELETE FROM t WHERE v = 'x3'", []string{"Delete from t", "v = 'x3'", "Project(row number)"}, "143"},
			{"EXPLAIN INSERT INTO t SELECT id + 1000, v FROM t", []string{"Insert into t", "id + 1000"}, "143"},
			{"EXPLAIN INSERT INTO t VALUES (1, 'y') ON CONFLICT DO NOTHING", []string{"Insert into t where no key is there", "Values"}, "143"},
			{"EXPLAIN CREATE TABLE u AS SELECT v, COUNT(*) AS n FROM t GROUP BY v", []string{"CREATE TABLE u", "Aggregate"}, "143"},
			{"EXPLAIN ANALYZE UPDATE t SET v = 'x3' WHERE id = 1", []string{"Update t: v", "Rows: 1", "Changed rows: 1", "Change time: "}, "144"},
			{"EXPLAIN (ANALYZE, FORMAT JSON) DELETE FROM t WHERE id = 1", []string{`"node":"Delete from t"`, `"changed_rows":1`, `"sql":"DELETE FROM t WHERE id = 1"`}, "143"},
			{"EXPLAIN DELETE FROM nobody", []string{`!table "nobody" does not exist`}, "143"},
		} {
			got := said(Collect(db.Query(context.Background(), c.text)))
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s on %s:\n%s\nlacks %s", c.text, backend, strings.ReplaceAll(got, ";", "\n"), want)
				}
			}
			steps(t, db, [][2]string{{"SELECT COUNT(*) FROM t WHERE v = 'x3'", c.count}})
		}
		if _, err := db.Query(context.Background(), "SELECT * FROM u"); err == nil {
			t.Error("EXPLAIN CREATE TABLE AS has made the table")
		}
		x, err := db.Explain(context.Background(), "DELETE FROM t WHERE id = $1", ExplainOptions{Args: []any{3}})
		if err != nil || x.Plan.Node != "Delete from t" || len(x.Plan.Inputs) != 1 {
			t.Errorf("%+v, %v", x, err)
		}
		s := db.Session()
		steps(t, s, [][2]string{{"BEGIN", ""}, {"EXPLAIN ANALYZE DELETE FROM t", "Delete from t"}, {"SELECT COUNT(*) FROM t", "0"}, {"ROLLBACK", ""}, {"SELECT COUNT(*) FROM t", "999"}})
	}
}
