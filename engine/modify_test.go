package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// said is an answer as text: rows after semicolons, values after bars; of an error what it says, after an exclamation mark.
func said(r *Result, err error) string {
	if err != nil {
		return "!" + err.Error()
	}
	var rows []string
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return strings.Join(rows, ";")
}

// do runs a statement that has no error.
func do(t *testing.T, db *DB, text string, args ...any) *Result {
	t.Helper()
	r, err := Collect(db.Query(context.Background(), text, args...))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// everyBackend runs a test on a DB of each.
func everyBackend(t *testing.T, test func(t *testing.T, db *DB)) {
	for _, backend := range Backends() {
		t.Run(backend, func(t *testing.T) { test(t, open(t, Options{Backend: backend})) })
	}
}

// A table that has gone or is another one is no longer what a prepared statement reads.
func TestPreparedStatementsFollowTheirTable(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		ctx := context.Background()
		do(t, db, "CREATE TABLE t (a bigint, b bigint)")
		do(t, db, "INSERT INTO t VALUES (1, 10), (2, 20)")
		s, err := db.Prepare(ctx, "SELECT SUM(b) AS s, COUNT(*) FROM t WHERE b > 1")
		if err != nil {
			t.Fatal(err)
		}
		insert, err := db.Prepare(ctx, "INSERT INTO t (b) VALUES ($1)")
		if err != nil {
			t.Fatal(err)
		}
		ask := func(want string) {
			t.Helper()
			if got := said(Collect(s.Query(ctx))); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := said(Collect(db.Query(ctx, "SELECT SUM(b) AS s, COUNT(*) FROM t WHERE b > 1"))); !strings.HasPrefix(got, want) {
				t.Errorf("by text got %s, want %s", got, want)
			}
		}
		ask("30|2")
		if _, err := Collect(insert.Query(ctx, 5)); err != nil {
			t.Fatal(err)
		}
		ask("35|3")
		do(t, db, "DROP TABLE t")
		ask(`!table "t" does not exist`)
		if _, err := Collect(insert.Query(ctx, 5)); err == nil {
			t.Error("rows are inserted into a table that has gone")
		}
		do(t, db, "CREATE TABLE t (c text, b numeric(4,1))")
		do(t, db, "INSERT INTO t VALUES ('x', 1.5)")
		ask("1.5|1")
		if _, err := Collect(insert.Query(ctx, 2.5)); err != nil {
			t.Fatal(err)
		}
		ask("4.0|2")
		do(t, db, "DROP TABLE t")
		do(t, db, "CREATE TABLE t (c text)")
		ask(`!column "b" does not exist`)
	})
}

// A cursor goes on over the rows that its table had when it began.
func TestCursorsKeepTheirTable(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		const rows = 30_000
		for _, change := range []string{"DELETE FROM t", "UPDATE t SET v = 0, s = 'other'", "TRUNCATE t", "INSERT INTO t SELECT * FROM t", "DROP TABLE t"} {
			do(t, db, fmt.Sprintf("CREATE TABLE t AS SELECT g AS v, 'k' || g %% 10 AS s FROM generate_series(1, %d) AS q (g)", rows))
			cursor, err := db.Query(context.Background(), "SELECT v, s FROM t WHERE v > 0")
			if err != nil {
				t.Fatal(err)
			}
			n, sum := 0, int64(0)
			for cursor.Next() {
				if n++; n == 10 {
					do(t, db, change)
					do(t, db, "SHOW TABLES")
				}
				sum += cursor.Values()[0].I
				if s := cursor.Values()[1].S; s != fmt.Sprintf("k%d", cursor.Values()[0].I%10) {
					t.Fatalf("%s: row %d has %s", change, n, s)
				}
			}
			if err := cursor.Err(); err != nil || n != rows || sum != rows*(rows+1)/2 {
				t.Errorf("%s: %d rows with the sum %d, %v", change, n, sum, err)
			}
			cursor.Close()
			do(t, db, "DROP TABLE IF EXISTS t")
		}
		nothingLeft(t, db)
	})
}

// nothingLeft fails where something of tables is on the device or in use though there are no tables.
func nothingLeft(t *testing.T, db *DB) {
	t.Helper()
	db.releases.Wait()
	if n := db.snapshots.Len(); n != 0 {
		t.Errorf("%d snapshots are in use", n)
	}
	d, _, err := db.opened()
	if err != nil {
		t.Fatal(err)
	}
	if d != nil {
		if left := d.contents()[0].held; len(left) != 0 {
			t.Errorf("%d things are resident of tables that have gone: %v", len(left), left)
		}
	}
}

// What a statement that changes tables has on the device goes with it, and all of a table goes with the table.
func TestChangesLeaveNothingOnTheDevice(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		for range 2 {
			do(t, db, "CREATE TABLE t (k bigint PRIMARY KEY, v bigint CHECK (v > 0), s text, UNIQUE (v, s))")
			do(t, db, "CREATE TABLE u AS SELECT g AS k, g % 7 AS w FROM generate_series(1, 1000) AS q (g)")
			do(t, db, "INSERT INTO t SELECT k, k, 's' || w FROM u")
			do(t, db, "INSERT INTO t VALUES (2000, 1, NULL) RETURNING k + v")
			do(t, db, "UPDATE t SET v = t.v + u.w FROM u WHERE u.k = t.k AND u.w > 2 RETURNING t.v")
			do(t, db, "UPDATE t SET s = s || 'x' WHERE v IN (SELECT w FROM u WHERE k < 5)")
			do(t, db, "DELETE FROM t USING u WHERE u.k = t.k AND u.w = 3 RETURNING *")
			do(t, db, "SELECT SUM(v), MAX(s) FROM t WHERE v > 5")
			for _, wrong := range []string{"INSERT INTO t VALUES (1, 1, 'x')", "UPDATE t SET v = -1", "UPDATE t SET k = 1", "INSERT INTO t VALUES (3000, 1, 'y') RETURNING 1 / (v - 1)"} {
				if _, err := Collect(db.Query(context.Background(), wrong)); err == nil {
					t.Errorf("%s is no error", wrong)
				}
			}
			do(t, db, "TRUNCATE u")
			do(t, db, "DROP TABLE t, u")
			nothingLeft(t, db)
		}
	})
}

// RETURNING of an UPDATE with FROM and a DELETE with USING gives columns of all its tables: of a row that several others meet, those of one of them.
func TestReturningOfOtherTables(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t AS SELECT g AS k, g % 7 AS v, 's' || g % 40 AS s FROM generate_series(1, 500) AS q (g)")
		do(t, db, "CREATE TABLE u AS SELECT g AS k, CASE WHEN g % 3 > 0 THEN g * 1.5 END AS w, DATE '2024-01-01' + g AS d FROM generate_series(1, 600, 2) AS q (g)")
		is := func(change, query string) {
			t.Helper()
			want := said(do(t, db, query), nil)
			if got := said(do(t, db, change), nil); got != want || got == "" && !strings.Contains(change, "false") {
				t.Errorf("%s:\n%s, want\n%s", change, got, want)
			}
		}
		is("UPDATE t SET v = v + 1 FROM u WHERE u.k = t.k AND t.v < 4 RETURNING *", "SELECT t.k, v + 1, s, u.* FROM t, u WHERE u.k = t.k AND t.v < 4 ORDER BY t.k")
		is("UPDATE t AS a SET s = 'new' || a.s FROM u JOIN (SELECT 9 AS nine) AS d ON true WHERE u.k = a.k AND w > 300 RETURNING u.d - nine, a.s || w, w, coalesce(a.v, w) + nine, a.*",
			"SELECT u.d - 9, 'new' || s || w, w, coalesce(v, w) + 9, t.k, v, 'new' || s FROM t, u WHERE u.k = t.k AND w > 300 ORDER BY t.k")
		is("UPDATE t SET v = 0 FROM u WHERE false RETURNING u.d", "SELECT d FROM u WHERE false")
		is("UPDATE t SET v = -1 FROM (VALUES (7, 'x', 1), (7, 'x', 2)) AS x (k, name, n) WHERE x.k = t.k RETURNING name, t.k, v, n IN (1, 2)", "VALUES ('x', 7, -1, true)")
		is("DELETE FROM t USING u JOIN u AS o USING (k) WHERE t.k = u.k AND t.k % 5 = 0 RETURNING *, o.d - u.d + t.v", "SELECT t.k, v, s, u.k, u.w, u.d, u.w, u.d, v FROM t, u WHERE u.k = t.k AND t.k % 5 = 0 ORDER BY t.k")
		is("SELECT COUNT(*) FROM t", "VALUES (450)")
		for text, want := range map[string]string{"UPDATE t SET v = 1 FROM u WHERE t.k = u.k RETURNING k": "ambiguous", "DELETE FROM t USING u RETURNING o.d": "no table o", "UPDATE t SET v = 1 FROM u WHERE t.k = u.k RETURNING 1 / (u.k - 3)": "zero"} {
			if _, err := db.Exec(context.Background(), text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}

// RETURNING that fails changes nothing, whichever row it fails for.
func TestReturningThatFailsChangesNothing(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t AS SELECT g AS v FROM generate_series(1, 100000) AS q (g)")
		for _, text := range []string{
			"INSERT INTO t SELECT v FROM t RETURNING 1 / (v - 99999)",
			"UPDATE t SET v = v + 1 RETURNING 1 / (v - 99999)",
			"DELETE FROM t RETURNING 1 / (v - 99999)",
		} {
			if got := said(Collect(db.Query(context.Background(), text))); !strings.HasPrefix(got, "!division by zero") {
				t.Errorf("%s: %.100s", text, got)
			}
			if got := said(do(t, db, "SELECT COUNT(*), SUM(v) FROM t"), nil); got != "100000|5000050000" {
				t.Errorf("after %s: %s", text, got)
			}
		}
	})
}

// Readers see all that a statement changes or nothing, while tables change and come and go.
func TestReadersBesideChanges(t *testing.T) {
	for _, backend := range []string{"cpu", "auto", "compute", "classic"} {
		t.Run(backend, func(t *testing.T) {
			db := open(t, Options{Backend: backend})
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			do(t, db, "CREATE TABLE acc AS SELECT g AS id, 0 AS v FROM generate_series(1, 200) AS q (g)")
			var work sync.WaitGroup
			fail := func(text, got string) {
				if ctx.Err() == nil {
					t.Errorf("%s: %s", text, got)
					cancel()
				}
			}
			repeat := func(texts ...string) {
				work.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						text := texts[i%len(texts)]
						if _, err := Collect(db.Query(ctx, text)); err != nil {
							fail(text, err.Error())
						}
					}
				})
			}
			repeat("UPDATE acc SET v = v + 1 - 2 * (id % 2)",
				"INSERT INTO acc VALUES (300, 5), (301, -5), (302, 0)",
				"DELETE FROM acc WHERE id > 250")
			repeat("CREATE TABLE other (a bigint, b text)", "INSERT INTO other VALUES (1, 'x')", "DROP TABLE other",
				"CREATE TABLE other (b bigint, c text, a text)", "INSERT INTO other VALUES (1, 'x', 'y')", "DROP TABLE other")
			for i := range 14 {
				text, want := "SELECT SUM(v) FROM acc", "0"
				switch i % 7 {
				case 1:
					text = "SELECT (SELECT COUNT(*) FROM acc) - (SELECT COUNT(*) FROM acc WHERE v <= 0 OR v > 0)"
				case 2:
					text, want = "SELECT SUM(x.v - y.v) FROM acc AS x JOIN acc AS y ON x.id = y.id WHERE x.id <= 200", "0"
				case 3:
					text, want = "SELECT v FROM acc ORDER BY id LIMIT 0", ""
				case 4:
					text, want = "SELECT a FROM other", "*"
				case 5:
					text, want = "SELECT o.b, COUNT(*) FROM other AS o, acc WHERE id = 1 GROUP BY o.b", "*"
				case 6:
					text = "SELECT COUNT(*) - (SELECT COUNT(*) FROM acc) FROM acc"
				}
				work.Go(func() {
					for ctx.Err() == nil {
						got := said(Collect(db.Query(ctx, text)))
						gone := want == "*" && (!strings.HasPrefix(got, "!") || strings.Contains(got, `"other" does not exist`))
						if got != want && !gone {
							fail(text, got)
						}
					}
				})
			}
			work.Wait()
			if got := said(do(t, db, "SELECT SUM(v) FROM acc"), nil); got != "0" {
				t.Errorf("the sum is %s", got)
			}
			do(t, db, "DROP TABLE IF EXISTS acc, other")
			nothingLeft(t, db)
		})
	}
}

// A statement that is cancelled, or takes too long, changes nothing; nor does one of a DB that is closed.
func TestChangesThatEndEarly(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t AS SELECT g AS v FROM generate_series(1, 1000) AS q (g)")
		over, cancel := context.WithCancel(context.Background())
		cancel()
		for _, text := range []string{"INSERT INTO t VALUES (1)", "UPDATE t SET v = 0", "DELETE FROM t", "DROP TABLE t", "TRUNCATE t", "CREATE TABLE u (a bigint)"} {
			if _, err := Collect(db.Query(over, text)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", text, err)
			}
		}
		do(t, db, "SET statement_timeout = '20ms'")
		const long = "INSERT INTO t SELECT MAX(s) FROM (SELECT SUM(x::double precision) OVER (ORDER BY x ROWS BETWEEN 100000 PRECEDING AND 1 FOLLOWING) AS s FROM generate_series(1, 300000) g(x)) w"
		if _, err := Collect(db.Query(context.Background(), long)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", long, err)
		}
		do(t, db, "RESET statement_timeout")
		if got := said(do(t, db, "SELECT COUNT(*), SUM(v) FROM t"), nil); got != "1000|500500" {
			t.Errorf("the table has %s", got)
		}
		if got := said(do(t, db, "SHOW TABLES"), nil); got != "t" {
			t.Errorf("the tables are %s", got)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"INSERT INTO t VALUES (1)", "UPDATE t SET v = 0", "DELETE FROM t", "DROP TABLE t", "TRUNCATE t", "CREATE TABLE u (a bigint)"} {
			if _, err := Collect(db.Query(context.Background(), text)); !errors.Is(err, ErrClosed) {
				t.Errorf("%s after Close: %v", text, err)
			}
		}
	})
}

// Parameters are values of the columns that they are for.
func TestParametersOfChanges(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t (a integer, b numeric(10,2), c text, d date, e timestamp, f real, g boolean)")
		day := time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)
		do(t, db, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)", 7, "12.345", "x", day, day, 0.5, true)
		do(t, db, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)", nil, nil, nil, nil, nil, nil, nil)
		do(t, db, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)", "8", 1.005, "", "2024-03-01", "2024-03-01 01:02:03", "NaN", "f")
		do(t, db, "UPDATE t SET c = $1, b = b + $2 WHERE a = $3", "y", 1, 7)
		if got := said(do(t, db, "SELECT * FROM t"), nil); got != "7|13.35|y|2024-02-29|2024-02-29 13:14:15|0.5|true;NULL|NULL|NULL|NULL|NULL|NULL|NULL;8|1.01||2024-03-01|2024-03-01 01:02:03|NaN|false" {
			t.Errorf("got %s", got)
		}
		for _, wrong := range []any{"x", int64(1) << 31, true, day, 1e20} {
			if _, err := Collect(db.Query(context.Background(), "INSERT INTO t (a) VALUES ($1)", wrong)); err == nil {
				t.Errorf("%v is taken for an integer", wrong)
			}
		}
		if got := said(do(t, db, "DELETE FROM t WHERE a = $1 OR a IS NULL RETURNING a, $2::text || 'q'", 8, "p"), nil); got != "NULL|pq;8|pq" {
			t.Errorf("got %s", got)
		}
	})
}

// A table whose rows come and go stays small.
func TestRowsThatHaveGoneTakeNoRoom(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE queue (v bigint)")
	for i := range 300 {
		do(t, db, "INSERT INTO queue SELECT g FROM generate_series(1, 20) AS q (g)")
		do(t, db, "DELETE FROM queue WHERE v < 20")
		do(t, db, "UPDATE queue SET v = 0")
		if i%3 == 2 {
			do(t, db, "DELETE FROM queue")
		}
	}
	rows := 0
	for _, c := range db.entry("queue").Table.Load().Chunks {
		rows += c.Rows
	}
	if rows > 200 {
		t.Errorf("the table keeps %d rows, of which %s are there", rows, said(do(t, db, "SELECT COUNT(*) FROM queue"), nil))
	}
}

// An index is one of the rows that there are, and goes with its table.
func TestIndexesOfTablesThatChange(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t (k bigint PRIMARY KEY CHECK (k > 0), v bigint)")
		do(t, db, "INSERT INTO t SELECT g, g FROM generate_series(1, 5000) AS q (g)")
		do(t, db, "CREATE INDEX i ON t (k)")
		do(t, db, "SELECT v FROM t WHERE k = 3")
		part := db.indexes.All()[0].Parts
		do(t, db, "INSERT INTO t VALUES (6000, 1) RETURNING k")
		if got := said(do(t, db, "SELECT v FROM t WHERE k = 6000"), nil); got != "1" {
			t.Errorf("got %s", got)
		}
		for s, p := range part {
			if db.indexes.All()[0].Parts[s] != p {
				t.Error("the index of rows that have not changed was made again")
			}
		}
		do(t, db, "UPDATE t SET k = 7000 WHERE k = 3")
		if got := said(do(t, db, "SELECT v FROM t WHERE k = 7000 OR k = 3"), nil); got != "3" {
			t.Errorf("got %s", got)
		}
		do(t, db, "DELETE FROM t WHERE k = 7000")
		if got := said(do(t, db, "SELECT COUNT(*) FROM t WHERE k >= 5000"), nil); got != "2" {
			t.Errorf("got %s", got)
		}
		do(t, db, "TRUNCATE t")
		if got := said(do(t, db, "SELECT COUNT(*) FROM t WHERE k >= 5000"), nil); got != "0" {
			t.Errorf("got %s", got)
		}
		do(t, db, "DROP TABLE t")
		if got := said(do(t, db, "SHOW INDEXES"), nil); got != "" {
			t.Errorf("after DROP TABLE there are the indexes %s", got)
		}
		if n := db.indexes.Bytes(db.inMemory()); n != 0 {
			t.Errorf("after DROP TABLE indexes take %d bytes", n)
		}
	})
}

// What statements that change tables answer, one after the other; of an error how it begins.
func TestChanges(t *testing.T) {
	long := strings.Repeat("abcdefghij", 8)
	for name, script := range map[string][][2]string{
		"names": {
			{`CREATE TABLE "select" ("from" int, "Where" text DEFAULT 'it''s "q"', "a b" int CHECK ("a b" > 0), "é" text)`, ""},
			{`INSERT INTO "select" ("from", "a b") VALUES (1, 2), (2, NULL) RETURNING *`, `1|it's "q"|2|NULL;2|it's "q"|NULL|NULL`},
			{`INSERT INTO "select" ("from", "a b") VALUES (1, 0)`, `!new row for relation "select" violates check constraint`},
			{`UPDATE "select" AS s SET "é" = "Where" || s."from" WHERE "a b" = 2 RETURNING s."é", É`, `it's "q"1|it's "q"1`},
			{`UPDATE "select" AS s SET s."é" = 'x'`, "!a column that takes a value is written alone"},
			{`INSERT INTO "select" ("select"."é") VALUES ('x')`, "!a column that takes a value is written alone"},
			{`DELETE FROM "select" AS s WHERE "select"."a b" = 2`, "!there is no table select in this query's FROM"},
			{`UPDATE "select" SET nope = 1`, `!column "nope" does not exist; the columns are "from", "Where", "a b", "é" (`},
			{`UPDATE "select" SET "from" = "select".nope`, `!column "nope" does not exist; the columns are "from", "Where", "a b", "é" (`},
			{`CREATE TABLE ` + long + ` (` + long + ` int)`, ""},
			{`INSERT INTO ` + long + ` (` + long + `) VALUES (1)`, ""},
			{`SELECT ` + long + ` FROM ` + long, "1"},
		},
		"drop": {
			{`CREATE TABLE "T" (a int)`, ""},
			{`DROP TABLE "t"`, `!table "t" does not exist`},
			{`DROP TABLE IF EXISTS "t", nope`, ""},
			{`CREATE TABLE tables (a int)`, ""},
			{`DROP TABLE information_schema.tables`, "!there is no table information_schema.tables that can be dropped"},
			{`DROP TABLE "T", nope`, `!table "nope" does not exist`},
			{`SELECT * FROM information_schema.tables`, "public|T|BASE TABLE;public|tables|BASE TABLE"},
			{`DROP TABLE public.tables, T`, ""},
			{`SHOW TABLES`, ""},
		},
		"with": { // names none of the tables that change
			{"CREATE TABLE t AS SELECT g AS a, 0 AS b FROM generate_series(1, 3) AS q (g)", ""},
			{"WITH t AS (SELECT 2 AS a) UPDATE t SET b = 7 WHERE a IN (SELECT a FROM t) RETURNING a, b", "2|7"},
			{"WITH t AS (SELECT 2 AS a) DELETE FROM t WHERE a = 3 RETURNING *", "3|0"},
			{"WITH t AS (SELECT 9 AS a) INSERT INTO t SELECT a, a FROM t RETURNING *", "9|9"},
			{"WITH w AS (SELECT 9 AS a) UPDATE t SET b = w.a + 1 FROM w WHERE t.a = w.a RETURNING t.*", "9|10"},
			{"WITH w AS (DELETE FROM t RETURNING a) SELECT * FROM w", "!WITH is supported for SELECT and VALUES only"},
			{"SELECT * FROM t ORDER BY a", "1|0;2|7;9|10"},
		},
		"the table itself": {
			{"CREATE TABLE one (a int)", ""},
			{"INSERT INTO one VALUES (1), (2), (NULL)", ""},
			{"UPDATE one SET a = a + 10 WHERE a IN (SELECT * FROM one WHERE a > 1) RETURNING *", "12"},
			{"UPDATE one SET a = (SELECT COUNT(*) FROM (SELECT * FROM one AS x NATURAL JOIN one AS y) AS q) WHERE a = 12 RETURNING *", "2"},
			{"UPDATE one SET a = y.a + 1 FROM one AS y WHERE one.a = y.a RETURNING *", "2|1;3|2"},
			{"UPDATE one SET a = 1 FROM one AS y (p, q)", `!table "y" has 1 columns available but 2 columns specified`},
			{"UPDATE one SET a = 1 FROM one", `!table name "one" is specified more than once`},
			{"INSERT INTO one SELECT * FROM one RETURNING *", "2;3;NULL"},
			{"INSERT INTO one SELECT a FROM one WHERE 1 = 0 RETURNING *", ""},
			{"UPDATE one SET a = 5 WHERE 1 = 0 RETURNING *", ""},
			{"DELETE FROM one WHERE a IS NULL OR a = 2 RETURNING a IS NULL", "false;true;false;true"},
			{"DELETE FROM one RETURNING SUM(a) OVER ()", "!window functions, aggregates and subqueries in RETURNING are not supported"},
			{"DELETE FROM one RETURNING COUNT(*)", "!window functions, aggregates and subqueries in RETURNING are not supported"},
			{"SELECT * FROM one", "3;3"},
		},
		"types": {
			{"CREATE TABLE t (a smallint, b integer, c bigint, d numeric(5,2), e real, f double precision, g boolean, h date, i timestamp, j varchar(3) NOT NULL DEFAULT '')", ""},
			{"INSERT INTO t VALUES (32767, 2147483647, 9223372036854775807, 999.99, '-0', 'NaN', true, '2020-02-29', '2020-01-01 12:34:56.789012', '')", ""},
			{"INSERT INTO t VALUES (-32768, -2147483648, -9223372036854775808, -999.99, 'NaN', '-Infinity', false, '0001-01-01', '9999-12-31', 'äöü')", ""},
			{"INSERT INTO t (a) VALUES (32768)", "!smallint out of range"},
			{"INSERT INTO t (b) VALUES (1), (2147483648)", "!integer out of range"},
			{"INSERT INTO t (d) VALUES (999.995)", "!numeric field overflow"},
			{"INSERT INTO t (e) VALUES (1e39)", "!1000000000000000000000000000000000000000 is out of range for type real"},
			{"INSERT INTO t (h) VALUES ('2021-02-29')", "!invalid input syntax for type date"},
			{"INSERT INTO t (g) VALUES (1)", `!column "g" is of type boolean but expression is of type integer`},
			{"INSERT INTO t (b) SELECT j FROM t", `!column "b" is of type integer but expression is of type character varying`},
			{"INSERT INTO t (j) VALUES ('abcd')", "!value too long for type character varying(3): column \"j\" of relation \"t\""},
			{"UPDATE t SET j = NULL", `!null value in column "j" of relation "t" violates not-null constraint`},
			{"UPDATE t SET a = a + 1", "!smallint out of range"},
			{"UPDATE t SET d = d * 10", "!numeric field overflow"},
			{"SELECT * FROM t", "32767|2147483647|9223372036854775807|999.99|0|NaN|true|2020-02-29|2020-01-01 12:34:56.789012|;-32768|-2147483648|-9223372036854775808|-999.99|NaN|-Infinity|false|0001-01-01|9999-12-31 00:00:00|äöü"},
			{"SELECT column_name, is_nullable FROM information_schema.columns WHERE column_name > 'h'", "i|YES;j|NO"},
			{"DELETE FROM t WHERE e = 'NaN' OR f = 'NaN'", ""},
			{"INSERT INTO t (b) VALUES ('12'), (12.5), (-0.5) RETURNING b, j", "12|;13|;-1|"},
		},
		"definitions": {
			{"CREATE TABLE e ()", "!a table has at least one column"},
			{"CREATE TABLE e (a int DEFAULT b, b int)", `!column "b" does not exist`},
			{"CREATE TABLE e (a int DEFAULT 'abc')", "!invalid input syntax for type integer"},
			{"CREATE TABLE e (a int CHECK (x > 0))", `!column "x" does not exist; did you mean a?`},
			{"CREATE TABLE e (a int, UNIQUE (a, a))", `!column "a" appears twice in a key`},
			{"CREATE TABLE e (a int DEFAULT 1 / 0, b text)", ""},
			{"INSERT INTO e (b) VALUES ('x')", "!division by zero"},
			{"INSERT INTO e VALUES (1)", ""},
			{"SELECT * FROM e", "1|NULL"},
			{"CREATE TABLE u (a real UNIQUE, b int, c text, UNIQUE (b, c))", ""},
			{"INSERT INTO u (a) VALUES (0), ('-0')", `!duplicate key value violates unique constraint "u_a_key": key (a)=(0) already exists`},
			{"INSERT INTO u (b, c) VALUES (1, NULL), (1, NULL), (NULL, 'x'), (NULL, 'x'), (1, 'x')", ""},
			{"INSERT INTO u (b, c) VALUES (1, 'x')", `!duplicate key value violates unique constraint "u_b_c_key": key (b, c)=(1, x) already exists`},
			{"UPDATE u SET b = 1", `!duplicate key value violates unique constraint "u_b_c_key"`},
			{"UPDATE u SET b = 2 - b RETURNING *", "NULL|1|NULL;NULL|1|NULL;NULL|NULL|x;NULL|NULL|x;NULL|1|x"},
		},
		"create as": {
			{"CREATE TABLE q AS SELECT 1 AS a, 'x' AS b, NULL AS c, date '2020-01-01' AS d, SUM(g), COUNT(*) FROM generate_series(1, 3) AS s (g)", ""},
			{"SELECT * FROM q", "1|x|NULL|2020-01-01|6|3"},
			{"CREATE TABLE q (a) AS SELECT 1", `!relation "q" already exists`},
			{"CREATE TABLE IF NOT EXISTS q AS SELECT 1 / 0", ""},
			{"CREATE TABLE r AS SELECT 1, 2", `!column "?column?" specified more than once; give the select items names`},
			{"CREATE TABLE r AS SELECT SUM(x) AS s FROM (VALUES (9223372036854775807), (9223372036854775807)) AS v (x)", "!a column cannot have the value 18446744073709551614"},
			{"CREATE TABLE r (x, y) AS VALUES (1, 'a'), (2, NULL)", ""},
			{"INSERT INTO r SELECT x + 1000000, y || repeat('z', 3) FROM r RETURNING *", "1000001|azzz;1000002|NULL"},
			{"CREATE TABLE n AS SELECT * FROM r WHERE 1 = 0", ""},
			{"SELECT COUNT(*), MAX(y) FROM n", "0|NULL"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			everyBackend(t, func(t *testing.T, db *DB) {
				for _, step := range script {
					got := said(Collect(db.Query(context.Background(), step[0])))
					if got != step[1] && !(strings.HasPrefix(step[1], "!") && strings.HasPrefix(got, step[1])) {
						t.Errorf("%s\n gives %s\n  want %s", step[0], got, step[1])
					}
				}
			})
		})
	}
}

// BenchmarkInsertRow is an INSERT of one row into a table that grows by them.
func BenchmarkInsertRow(b *testing.B) {
	for name, def := range map[string]string{"plain": "k bigint, s text", "key": "k bigint PRIMARY KEY, s text", "check": "k bigint CHECK (k > 0), s text"} {
		b.Run(name, func(b *testing.B) {
			db, err := Open(Options{Backend: "cpu", Calibrations: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			ctx := context.Background()
			if _, err := db.Exec(ctx, "CREATE TABLE t ("+def+")"); err != nil {
				b.Fatal(err)
			}
			for i := 1; b.Loop(); i++ {
				if _, err := db.Exec(ctx, "INSERT INTO t VALUES ($1, 'a text')", i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What has no rows to aggregate says where that is.
func TestAggregatesInChanges(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE t (a int PRIMARY KEY, n int)")
	for text, where := range map[string]string{
		"UPDATE t SET n = SUM(n)":                                                            "UPDATE (line 1, column 18)",
		"UPDATE t SET n = 1 WHERE SUM(n) > 1":                                                "WHERE (line 1, column 26)",
		"DELETE FROM t WHERE MAX(n) > 1":                                                     "WHERE (line 1, column 21)",
		"INSERT INTO t VALUES (1, 2), (COUNT(*), 3)":                                         "VALUES (line 1, column 31)",
		"INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET n = SUM(t.n)":             "UPDATE (line 1, column 63)",
		"INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET n = 1 WHERE SUM(t.n) > 1": "WHERE (line 1, column 71)",
		"ALTER TABLE t ALTER COLUMN n TYPE bigint USING MAX(n)":                              "USING (line 1, column 48)",
		"CREATE TABLE u (a int CHECK (MAX(a) > 0))":                                          "the definition of a table",
	} {
		if got, want := said(Collect(db.Query(context.Background(), text))), "!aggregate functions are not allowed in "+where; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
