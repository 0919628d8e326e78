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

// CREATE UNIQUE INDEX makes a key, which ON CONFLICT takes, too, and DROP INDEX drops; both are in transactions.
func TestUniqueIndex(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a int PRIMARY KEY, b text, \"C\" int)", ""},
		{"INSERT INTO t VALUES (1, 'x', 1), (2, 'x', 2), (3, NULL, 2), (4, NULL, 2)", ""},
		{"CREATE UNIQUE INDEX u ON t (b)", `!could not create unique index "u": key (b)=(x) is duplicated`},
		{"CREATE UNIQUE INDEX ON t (b, c)", ""},
		{"CREATE UNIQUE INDEX IF NOT EXISTS t_b_C_idx ON t (b)", `!`}, // folded: another name
		{"CREATE UNIQUE INDEX IF NOT EXISTS \"t_b_C_idx\" ON t (b)", ""},
		{"CREATE UNIQUE INDEX \"t_b_C_idx\" ON t (b)", `!relation "t_b_C_idx" already exists`},
		{"CREATE INDEX \"t_b_C_idx\" ON t (b)", `!index "t_b_C_idx" already exists`},
		{"CREATE INDEX i ON t (b)", ""},
		{"CREATE UNIQUE INDEX i ON t (a, b)", `!index "i" already exists`},
		{"SHOW INDEXES", "i|t|b|sorted|2|"},
		{"INSERT INTO t VALUES (5, 'x', 2)", `!duplicate key value violates unique constraint "t_b_C_idx": key (b, C)=(x, 2) already exists`},
		{"INSERT INTO t VALUES (5, 'x', 2) ON CONFLICT (c, b) DO UPDATE SET b = 'y' RETURNING *", "2|y|2"},
		{"CREATE UNIQUE INDEX ON t (b) WHERE a > 3", "!WHERE is not supported with CREATE INDEX"},
		{"CREATE UNIQUE INDEX ON t (lower(b))", "!an index takes the name of a column alone"},
		{"CREATE UNIQUE INDEX ON t (zz)", `!column "zz" does not exist; the columns are a, b, C (line 1, column 27)`},
		{"DROP INDEX t_pkey", `!cannot drop index t_pkey because constraint t_pkey on table t requires it; ALTER TABLE t DROP CONSTRAINT t_pkey drops both`},
	})
	s := db.Session()
	steps(t, s, [][2]string{{"BEGIN", ""}, {"DROP INDEX \"t_b_C_idx\"", ""}, {"INSERT INTO t VALUES (6, 'x', 1)", ""}, {"ROLLBACK", ""}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"INSERT INTO t VALUES (6, 'x', 1)", `!duplicate key value violates unique constraint "t_b_C_idx"`},
		{"SHOW INDEXES", "t_b_C_idx|t|b, C|unique|NULL|0"},
		{"DROP INDEX \"t_b_C_idx\"", ""},
		{"INSERT INTO t VALUES (6, 'x', 1)", ""},
		{"DROP INDEX \"t_b_C_idx\"", "!index \"t_b_C_idx\" does not exist"},
		{"DROP INDEX IF EXISTS \"t_b_C_idx\"", ""},
	})
}

// The numbers are PostgreSQL's; a column shows all of them with the most decimals.
func TestNumericOfTexts(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		sess := db.Session()
		steps(t, sess, [][2]string{
			{"CREATE TABLE t (id int, v varchar, x double precision, d numeric(8,2), i int)", ""},
			{"INSERT INTO t VALUES (1, '1.5', 1.005, 2.25, 1), (2, ' 2.25 ', 2.5, 3.10, 2), (3, NULL, 0.375, NULL, 3), (4, '-12e-1', -1e9, 7, 4)", ""},
			{"SELECT v::numeric, v::numeric * 2, pg_typeof(v::numeric) FROM t ORDER BY id", "1.50|3.00|numeric;2.25|4.50|numeric;NULL|NULL|numeric;-1.20|-2.40|numeric"},
			{"SELECT sum(v::numeric), min(CAST(v AS decimal)), avg(v::numeric) FROM t", "2.55|-1.20|0.85"},
			{"SELECT id FROM t WHERE v::numeric = 1.5 OR v::numeric < -1.1 ORDER BY id", "1;4"},
			{"SELECT (d::text)::numeric, coalesce(d::text, '0.125')::numeric, (i::text || '.5')::numeric, coalesce(v, '0')::numeric FROM t WHERE id > 2 ORDER BY id", "NULL|0.125|3.5|0.00;7.00|7.000|4.5|-1.20"},
			{"SELECT replace(v, '5', '125')::numeric, (CASE WHEN id = 1 THEN '0.0625' ELSE v END)::numeric FROM t WHERE id < 3 ORDER BY id", "1.1250|0.0625;2.2125|2.2500"},
			{"SELECT round(x::numeric, 2), round(x::numeric), round(v::numeric, 1), round((i::text || v)::numeric), round(1.255::numeric, 2) FROM t WHERE id IN (1, 3) ORDER BY id", "1.01|1|1.5|12|1.26;0.38|0|NULL|NULL|1.26"},
			{"SELECT trunc(x::numeric, 2), trunc(x::numeric), trunc((x * 0.999e0)::numeric, 1), trunc(x::numeric, -2), pg_typeof(trunc(x::numeric, 2)) FROM t ORDER BY id", "1.00|1|1.0|0|numeric;2.50|2|2.4|0|numeric;0.37|0|0.3|0|numeric;-1000000000.00|-1000000000|-999000000.0|-1000000000|numeric"},
			{"SELECT trunc((0.1e0 + 0.2e0 + x - x)::numeric, 1), trunc((3 - 4e-16 + x - x)::numeric, 2), trunc(v::numeric, 1), trunc(avg(x)::numeric, 3) FROM t WHERE id = 2 GROUP BY x, v", "0.3|3.00|2.2|2.500"},
			{"SELECT round((x * 1000)::numeric, -1), round((x * 1000)::numeric, -2), round((x * 1000)::numeric, -40), round(v::numeric, -1) FROM t ORDER BY id", "1010|1000|0|0;2500|2500|0|0;380|400|0|NULL;-1000000000000|-1000000000000|0|0"},
			{"SELECT n, count(*) FROM (SELECT trim(v)::numeric AS n FROM t WHERE v IS NOT NULL) AS s GROUP BY n ORDER BY n", "-1.20|1;1.50|1;2.25|1"},
			{"WITH c AS (SELECT v, id FROM t LIMIT 2) SELECT a.v::numeric FROM c AS a JOIN t AS b ON a.id = b.id ORDER BY a.v::numeric DESC", "2.25;1.50"},
			{"SELECT v::numeric FROM (VALUES ('1.5'), ('0.125'), (NULL)) AS l(v)", "1.500;0.125;NULL"},
			{"SELECT v::numeric, count(*) FROM t GROUP BY v HAVING v::numeric > 0 ORDER BY v::numeric", "1.50|1;2.25|1"},
			{"SELECT max(v)::numeric FROM t", "!CAST from character varying to NUMERIC needs a precision and a scale: NUMERIC(18, 2) (line 1, column 14)"},
			{"SELECT (v || i::text)::numeric FROM t", "!CAST from character varying to NUMERIC needs a precision and a scale: NUMERIC(18, 2)"},
			{"SELECT x::numeric FROM t", "!CAST from double precision to NUMERIC needs a precision and a scale: NUMERIC(18, 2)"},
			{"SELECT (v || 'x')::numeric FROM t", "!invalid input syntax for type numeric: \"1.5x\""},
			// A scale is that of the texts as they are when a statement runs.
			{"CREATE VIEW w AS SELECT v::numeric AS y FROM t WHERE id IN (1, 5)", ""},
			{"PREPARE p AS SELECT v::numeric FROM t WHERE id IN (1, 5)", ""},
			{"EXECUTE p", "1.50"},
			{"INSERT INTO t (id, v) VALUES (5, '0.0625')", ""},
			{"EXECUTE p", "1.5000;0.0625"},
			{"SELECT y FROM w", "1.5000;0.0625"},
			{"CREATE TABLE a AS SELECT v FROM t WHERE id = 5", ""},
			{"ALTER TABLE a ALTER v TYPE numeric(8, 5) USING v::numeric", ""},
			{"SELECT v FROM a", "0.06250"},
			{"CREATE TABLE m AS SELECT v::numeric * 2 AS y FROM t WHERE id = 5", ""},
			{"SELECT y FROM m", "0.1250"},
		})
		s, err := db.Prepare(t.Context(), "SELECT v::numeric FROM t WHERE id > 5")
		if err != nil {
			t.Fatal(err)
		}
		steps(t, sess, [][2]string{{"INSERT INTO t (id, v) VALUES (6, '0.00625')", ""}})
		if got := said(Collect(s.Query(t.Context()))); got != "0.00625" {
			t.Errorf("a prepared statement gives %s, want 0.00625", got)
		}
	}
}

// VARCHAR(n) and CHAR(n) take n characters; blanks behind these are no error, and CHAR has none at its end.
func TestLengths(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a varchar(3), b char(3), c char, id serial PRIMARY KEY)", ""},
		{"INSERT INTO t VALUES ('abc', 'xy', 'z'), ('äöü   ', 'x    ', ' '), (NULL, NULL, NULL) RETURNING a, b, c", "abc|xy|z;äöü|x|;NULL|NULL|NULL"},
		{"INSERT INTO t (a) VALUES ('abcd')", `!value too long for type character varying(3): column "a" of relation "t"`},
		{"INSERT INTO t (b) VALUES ('abc d')", `!value too long for type character(3): column "b" of relation "t"`},
		{"INSERT INTO t (c) VALUES ('ab')", `!value too long for type character(1)`},
		{"INSERT INTO t (a, b) SELECT x || '   ', 1000 / n FROM (VALUES ('q', 2), ('rst', 4)) AS v(x, n) ORDER BY n RETURNING a || '.', b", "q  .|500;rst.|250"},
		{"INSERT INTO t (b) SELECT 1000", "!value too long"},
		{"UPDATE t SET a = a || 'x' WHERE id = 1", "!value too long for type character varying(3)"},
		{"UPDATE t SET b = b || ' ' WHERE id = 1 RETURNING length(b), b = 'xy'", "2|true"},
		{"INSERT INTO t VALUES ('u', 'v', 'w', 1) ON CONFLICT (id) DO UPDATE SET a = excluded.a || 'long'", "!value too long for type character varying(3)"},
		{"INSERT INTO t VALUES ('u', 'v', 'w', 1) ON CONFLICT (id) DO UPDATE SET b = 'k  ' RETURNING b || '.'", "k."},
		{"SELECT 'abcdef'::varchar(3), 'ab  '::char(4) || '|', CAST('abcdef' AS char(2)), 12345::char(2), CAST(a || '    ' AS char(5)) || '|' FROM t WHERE id = 1", "abc|ab||ab|12|abc|"},
		{"DESCRIBE t", "a|character varying(3)|;b|character(3)|;c|character(1)|;id|integer|PRIMARY KEY, NOT NULL, SERIAL"},
		{"ALTER TABLE t ALTER a TYPE varchar(2)", "!value too long for type character varying(2)"},
		{"ALTER TABLE t ALTER a TYPE char(3)", ""},
		{"SELECT a || '.' FROM t WHERE id = 7", "q."},
		{"ALTER TABLE t ALTER a TYPE varchar(5), ADD d char(2) DEFAULT 'e  ' NOT NULL", ""},
		{"ALTER TABLE t ADD e char(2) DEFAULT 'efg' NOT NULL", "!value too long for type character(2)"},
		{"SELECT DISTINCT d || '.' FROM t", "e."},
		{"CREATE TABLE l (LIKE t)", ""},
		{"INSERT INTO l (id, d, a) VALUES (1, 'fgh', 'x')", "!value too long for type character(2)"},
		{"CREATE TABLE bad (a varchar(0))", "!length for type varchar must be at least 1"},
	})
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
func TestComments(t *testing.T) {
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a int, \"B c\" text)", ""},
		{"CREATE VIEW v AS SELECT a AS n FROM t", ""},
		{"SHOW TABLES", "t;v"},
		{"DESCRIBE t", "a|integer;B c|character varying"},
		{"COMMENT ON TABLE t IS 'what it is'", ""},
		{"COMMENT ON COLUMN public.t.\"B c\" IS 'it''s a text'", ""},
		{"COMMENT ON VIEW v IS 'numbers'", ""},
		{"COMMENT ON COLUMN v.n IS 'a number'", ""},
		{"COMMENT ON COLUMN t.z IS 'x'", `!column "z" does not exist`},
		{"COMMENT ON COLUMN z IS 'x'", "!column name must be qualified; write COMMENT ON COLUMN table.z (line 1, column 19)"},
		{"COMMENT ON TABLE v IS 'x'", `!"v" is not a table; COMMENT ON VIEW comments it (line 1, column 18)`},
		{"COMMENT ON VIEW t IS 'x'", `!"t" is not a view (line 1, column 17)`},
		{"COMMENT ON TABLE nobody IS 'x'", `!table "nobody" does not exist`},
		{"COMMENT ON SCHEMA public IS 'x'", "!COMMENT ON is supported for TABLE, VIEW and COLUMN"},
		{"ALTER TABLE t ADD d int", ""},
		{"CREATE OR REPLACE VIEW v AS SELECT a AS n, d FROM t", ""},
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: dir})
	steps(t, db, [][2]string{
		{"SHOW TABLES", "t|what it is;v|numbers"},
		{"DESCRIBE t", "a|integer|;B c|character varying|it's a text;d|integer|"},
		{"DESCRIBE v", "n|integer|a number;d|integer|"},
		{"SELECT n FROM v", ""},
		{"COMMENT ON TABLE t IS NULL", ""},
		{"COMMENT ON VIEW v IS ''", ""},
		{"SHOW TABLES", "t;v"},
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
