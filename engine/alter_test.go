package engine

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// ALTER TABLE binds no default that the table has had before, and those whose column is of another type.
func TestAlterBindsOneDefault(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	took := func(name, rule string) uint64 {
		var columns []string
		for i := range 200 {
			columns = append(columns, fmt.Sprintf("c%d int%s", i, rule))
		}
		var before, after runtime.MemStats
		steps(t, db, [][2]string{{fmt.Sprintf("CREATE TABLE %s (%s)", name, strings.Join(columns, ", ")), ""}})
		runtime.ReadMemStats(&before)
		for i := range 10 {
			steps(t, db, [][2]string{{fmt.Sprintf("ALTER TABLE %s ADD COLUMN d%d int DEFAULT 1", name, i), ""}})
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if none, all := took("a", ""), took("b", " DEFAULT 1"); all > 2*none {
		t.Errorf("%d bytes are allocated where columns have no defaults, %d where they have", none, all)
	}
	steps(t, db, [][2]string{
		{"ALTER TABLE b ALTER c0 TYPE date USING NULL", `!the default of column "c0" cannot be of type date; ALTER COLUMN c0 DROP DEFAULT comes first (line 1, column 21)`},
		{"ALTER TABLE b ALTER c1 SET DEFAULT (SELECT 1)", "!cannot use subquery in DEFAULT expression (line 1, column 28)"},
		{"ALTER TABLE b ALTER c1 SET DEFAULT 'x'", `!invalid input syntax for type integer: "x"`},
		{"ALTER TABLE b RENAME c1 TO d", ""},
		{"INSERT INTO b (c0) VALUES (5)", ""},
		{"SELECT c0, d, c2, d9 FROM b", "5|1|1|1"},
	})
}

// ALTER TABLE changes a table and all that is said of it, or says what is in the way.
func TestAlter(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a int, b text, c numeric(5,2), CHECK (a < 100), CHECK (a < length(b) + 50))", ""},
		{"INSERT INTO t VALUES (1, 'x', 1.5), (2, 'yy', 2.5), (3, '33', NULL)", ""},
		{"DELETE FROM t WHERE a = 2", ""},
		{"ALTER TABLE t ADD COLUMN d int DEFAULT 7 NOT NULL CHECK (d > 0), ADD e date", ""},
		{"SELECT * FROM t", "1|x|1.50|7|NULL;3|33|NULL|7|NULL"},
		{"ALTER TABLE t ADD COLUMN IF NOT EXISTS d text", ""},
		{"ALTER TABLE t ADD d text", `!column "d" of relation "t" already exists (line 1, column 19)`},
		{"ALTER TABLE t ADD f int NOT NULL", `!column "f" of relation "t" contains null values`},
		{`ALTER TABLE t RENAME COLUMN a TO "Aa"`, ""},
		{"INSERT INTO t VALUES (100, 'x')", `!new row for relation "t" violates check constraint "t_a_check"`},
		{"INSERT INTO t VALUES (60, 'x')", `!new row for relation "t" violates check constraint "t_check"`},
		{"CREATE INDEX ON t (b)", ""},
		{"ALTER TABLE t RENAME b TO b2", ""},
		{"SELECT d FROM t WHERE b2 = '33'", "7"},
		{"SHOW INDEXES", "t_b_idx|t|b2|sorted|3|"},
		{"ALTER TABLE t RENAME b2 TO b", ""},
		{"ALTER TABLE t DROP COLUMN aa", ""}, // and the checks that name it
		{"ALTER TABLE t ALTER c TYPE double precision, ALTER b TYPE int USING length(b) * 10", ""},
		{"SELECT *, pg_typeof(b) FROM t", "10|1.5|7|NULL|integer;20|NULL|7|NULL|integer"},
		{"SHOW INDEXES", ""},
		{"ALTER TABLE t ADD PRIMARY KEY (b)", ""},
		{"ALTER TABLE t ADD CONSTRAINT u UNIQUE (d)", `!could not create unique index "u": key (d)=(7) is duplicated`},
		{"UPDATE t SET d = b", ""},
		{"ALTER TABLE t ADD CONSTRAINT u UNIQUE (d)", ""},
		{"ALTER TABLE t ADD CONSTRAINT u CHECK (d > 0)", `!constraint "u" for relation "t" already exists (line 1, column 19)`},
		{"ALTER TABLE t ALTER COLUMN b DROP NOT NULL", `!column "b" is in a primary key; ALTER TABLE t DROP CONSTRAINT t_pkey comes first`},
		{"ALTER TABLE t DROP CONSTRAINT t_pkey", ""},
		{"ALTER TABLE t ALTER COLUMN b DROP NOT NULL, ALTER e SET DEFAULT DATE '2024-01-01'", ""},
		{"INSERT INTO t (d) VALUES (20)", `!duplicate key value violates unique constraint "u": key (d)=(20) already exists`},
		{"INSERT INTO t (d) VALUES (5)", ""},
		{"ALTER TABLE t ALTER b SET NOT NULL", `!column "b" of relation "t" contains null values`},
		{"ALTER TABLE t RENAME CONSTRAINT u TO one", ""},
		{"ALTER TABLE t RENAME TO w", ""},
		{"SELECT * FROM t", `!table "t" does not exist`},
		{"SELECT * FROM w", "10|1.5|10|NULL;20|NULL|20|NULL;NULL|NULL|5|2024-01-01"},
		{"INSERT INTO w (d) VALUES (5)", `!duplicate key value violates unique constraint "one"`},
		{"ALTER TABLE IF EXISTS t RENAME TO v", ""},
		{"ALTER TABLE w DROP zz", `!column "zz" does not exist; the columns are b, c, d, e (line 1, column 20)`},
		{"ALTER TABLE w DROP IF EXISTS zz", ""},
		{"ALTER TABLE w DROP CONSTRAINT zz", `!constraint "zz" of relation "w" does not exist`},
		{"ALTER TABLE w ALTER e TYPE int", `!column "e" cannot be cast automatically to type integer; write USING CAST(e AS integer) (line 1, column 21)`},
		{"ALTER TABLE w ADD g varchar(2) DEFAULT 'abc'", `!value too long for type character varying(2): column "g" of relation "w"`},
		{"ALTER TABLE w ALTER d TYPE smallint USING d * 10000", `!smallint out of range`},
		{"ALTER TABLE w ALTER c TYPE numeric(2,1) USING d", `!numeric field overflow`},
		{"ALTER TABLE w ADD g int DEFAULT 3, DROP b, DROP c", ""},
		{"SELECT * FROM w", "10|NULL|3;20|NULL|3;5|2024-01-01|3"},
		{"ALTER TABLE w DROP d, DROP e, DROP g", `!a table has at least one column; DROP TABLE w drops all of it`},
	})
	do(t, db, "DROP TABLE w")
	nothingLeft(t, db)
}

// A condition that is asked again selects the same rows when its table has other columns, of those that are deleted none.
func TestColumnsChangeBehindDeletedRows(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t AS SELECT x AS a, x * 3 AS b FROM generate_series(1, 50) g(x)")
		do(t, db, "DELETE FROM t WHERE a = 7")
		for _, text := range []string{"ANALYZE", "ALTER TABLE t ADD c text", "ALTER TABLE t ADD d int DEFAULT 1", "ALTER TABLE t DROP c, DROP b", "ALTER TABLE t RENAME d TO e"} {
			do(t, db, text)
			if got := said(Collect(db.Query(context.Background(), "SELECT COUNT(*), SUM(a) FROM t WHERE a > 3"))); got != "46|1262" {
				t.Errorf("after %s: %s", text, got)
			}
		}
	})
}

// What USING takes from another column is new in its column: its rules apply to it, as to any other values.
func TestAlterUsingAnotherColumn(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (k int PRIMARY KEY, a int, b int CHECK (b > 0), s varchar(3), long varchar(9))", ""},
		{"INSERT INTO t VALUES (1, 5, 1, 'x', 'longer'), (2, 5, 2, 'y', 'longest'), (3, -1, 3, 'z', NULL)", ""},
		{"ALTER TABLE t ALTER k TYPE int USING a", `!could not create unique index "t_pkey": key (k)=(5) is duplicated`},
		{"ALTER TABLE t ALTER b TYPE int USING a", `!check constraint "t_b_check" of relation "t" is violated by some row`},
		{"ALTER TABLE t ALTER s TYPE varchar(3) USING long", `!value too long for type character varying(3)`},
		{"ALTER TABLE t ALTER a TYPE int USING b, ALTER b TYPE int USING k, ALTER s TYPE varchar(9) USING long, ALTER long TYPE varchar(9) USING s", ""},
		{"SELECT * FROM t", "1|1|1|longer|x;2|2|2|longest|y;3|3|3|NULL|z"},
	})
}
