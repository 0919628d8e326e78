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
		rows = append(rows, joined(row))
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
	db.backends.Release()
	if n := db.snapshots.Len(); n != 0 {
		t.Errorf("%d snapshots are in use", n)
	}
	d, _, err := db.backends.Now()
	if err != nil {
		t.Fatal(err)
	}
	if d != nil {
		if left := d.Contents()[0].Columns; len(left) != 0 {
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
			do(t, db, "ALTER TABLE t ADD d int DEFAULT 7 CHECK (d > 0), DROP s CASCADE")
			do(t, db, "INSERT INTO t SELECT k, 1, 1 FROM t ON CONFLICT (k) DO UPDATE SET v = 2")
			do(t, db, "TRUNCATE u")
			do(t, db, "DROP TABLE t, u")
			nothingLeft(t, db)
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
