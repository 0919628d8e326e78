package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/sql"
)

// Statements that are like others before but for their values, in texts and as parameters, do what they do when they are parsed and
// bound. A comment in them makes sure that they are parsed.
func TestStatementsLikeOthers(t *testing.T) {
	ctx := context.Background()
	repeats := 0
	rapid.Check(t, func(t *rapid.T) {
		var of [2]*Session
		var dbs [2]*DB
		for i := range of {
			db, err := Open(Options{Backend: "cpu"})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			dbs[i], of[i] = db, db.Session()
		}
		both := func(text string, args ...any) {
			if f, ok := sql.FormOf(text); ok && of[0].DB().plans.get(f.Text) != nil || of[0].DB().plans.get(text) != nil {
				repeats++
			}
			var said [2]string
			for i, text := range []string{text, text + " /* as it is */"} {
				r, err := Collect(of[i].Query(ctx, text, args...))
				said[i] = said2(r, err)
			}
			if said[0] != said[1] {
				t.Fatalf("%s %v:\n%s\nwhere it is bound:\n%s", text, args, said[0], said[1])
			}
		}
		both("CREATE TABLE t (k BIGINT PRIMARY KEY, a SMALLINT, s VARCHAR DEFAULT 'none', m DECIMAL(6,2), f DOUBLE PRECISION, d DATE, b BOOLEAN, n INTEGER NOT NULL DEFAULT 3, g SERIAL, CHECK (n < 1000))")
		integer := rapid.OneOf(rapid.Map(rapid.IntRange(0, 30), func(i int) string { return fmt.Sprint(i) }), rapid.SampledFrom([]string{"-5", "007", "40000", "3000000000", "123456789012345678", "1234567890123456789", "12345678901234567890", "1.5", ".5", "1e3", "0x1f", "1_000", "NULL", "- 3", "+4", "DEFAULT", "'7'", "1 + 2"}))
		text := rapid.SampledFrom([]string{"'a'", "'b'", "''", "'it''s'", "'7'", "'2020-02-30'", "'2020-02-28'", "'1,5'", "'true'", "E'a\\n'", "'a' 'b'", "'a'\n'b'", "'x\\y'", "'é'", "$$x$$", "NULL", "5", "'now'", "'--'", "'/*'", "'a;b'", "DATE '2020-01-01'", "DEFAULT"})
		either := rapid.OneOf(integer, text)
		column := rapid.SampledFrom([]string{"k", "a", "s", "m", "f", "d", "b", "n"})
		key := rapid.OneOf(rapid.Map(rapid.IntRange(0, 30), func(i int) string { return fmt.Sprint(i) }), either)
		argument := rapid.OneOf(rapid.Map(rapid.IntRange(0, 30), func(i int) any { return i }), rapid.SampledFrom([]any{nil, "a", "7", "2020-02-28", "2020-02-30", 1.5, 40000, true, time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC), int64(1) << 60}))
		for range rapid.IntRange(10, 60).Draw(t, "statements") {
			end := rapid.SampledFrom([]string{"", "", ";", " ; ", "\n"}).Draw(t, "end")
			switch rapid.IntRange(0, 17).Draw(t, "kind") {
			case 0, 1:
				both(fmt.Sprintf("INSERT INTO t (k, %s) VALUES (%s, %s)", column.Draw(t, "column"), key.Draw(t, "k"), either.Draw(t, "v")) + end)
			case 2:
				both(fmt.Sprintf("INSERT INTO t (k, a, s) VALUES (%s, %s, %s), (%s, 4, %s)", key.Draw(t, "k"), integer.Draw(t, "a"), text.Draw(t, "s"), key.Draw(t, "k2"), text.Draw(t, "s2")) + end)
			case 3:
				both(fmt.Sprintf("INSERT INTO t (k, a, s) VALUES (%s, %s, %s) ON CONFLICT (k) DO UPDATE SET a = excluded.a, s = t.s || '+', n = %s", key.Draw(t, "k"), integer.Draw(t, "a"), text.Draw(t, "s"), rapid.SampledFrom([]string{"t.n", "5"}).Draw(t, "n")) + end)
			case 4:
				both(fmt.Sprintf("insert into t (k, m, d) values (%s, %s, %s) on conflict do nothing", key.Draw(t, "k"), integer.Draw(t, "m"), text.Draw(t, "d")) + end)
			case 5, 6:
				both(fmt.Sprintf("UPDATE t SET %s = %s WHERE k = %s", column.Draw(t, "column"), either.Draw(t, "v"), key.Draw(t, "k")) + end)
			case 7:
				both(fmt.Sprintf("UPDATE t SET a = a + %s, m = m * %s WHERE k = %s AND a < %s", integer.Draw(t, "a"), integer.Draw(t, "m"), key.Draw(t, "k"), integer.Draw(t, "below")) + end)
			case 8:
				both(fmt.Sprintf("UPDATE t SET n = n / %s WHERE k = %s AND %s = %s", integer.Draw(t, "by"), key.Draw(t, "k"), column.Draw(t, "column"), either.Draw(t, "v")) + end)
			case 9:
				both(fmt.Sprintf("DELETE FROM t WHERE k = %s AND (s <> %s OR a BETWEEN 1 AND %s)", key.Draw(t, "k"), text.Draw(t, "s"), integer.Draw(t, "a")) + end)
			case 10:
				both("INSERT INTO t (k, a, s, d) VALUES ($1, $2, $3, $4)", argument.Draw(t, "$1"), argument.Draw(t, "$2"), argument.Draw(t, "$3"), argument.Draw(t, "$4"))
			case 11:
				both("UPDATE t SET s = $1, a = a + $2 WHERE k = $3", argument.Draw(t, "$1"), argument.Draw(t, "$2"), argument.Draw(t, "$3"))
			case 14, 15:
				both(fmt.Sprintf("SELECT %s FROM t WHERE k = %s%s%s", rapid.SampledFrom([]string{"*", "k, s", "a + 1, upper(s), 5", "m / a", "CASE WHEN a > 3 THEN s END"}).Draw(t, "items"), key.Draw(t, "k"),
					rapid.SampledFrom([]string{"", " AND a > 2", " AND s = 'a'", " AND 10 / n > 2"}).Draw(t, "and"), rapid.SampledFrom([]string{"", " LIMIT 1", " LIMIT 0", " LIMIT 1 OFFSET 1"}).Draw(t, "limit")) + end)
			case 16:
				both("SELECT a, s, $2 FROM t WHERE k = $1", argument.Draw(t, "$1"), argument.Draw(t, "$2"))
			case 17:
				both("SELECT a, s FROM t WHERE k = $1 AND a > $2", argument.Draw(t, "$1"), argument.Draw(t, "$2"))
			case 12:
				both(rapid.SampledFrom([]string{"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT p", "ROLLBACK TO p"}).Draw(t, "transaction"))
			case 13:
				both(rapid.SampledFrom([]string{"ALTER TABLE t ADD COLUMN z INTEGER DEFAULT 4", "ALTER TABLE t DROP COLUMN z", "ALTER TABLE t RENAME COLUMN a TO aa", "ALTER TABLE t RENAME COLUMN aa TO a", "CREATE TABLE u AS SELECT 1 AS k", "DROP TABLE u",
					"ALTER TABLE t ALTER COLUMN n SET DEFAULT 8", "ALTER TABLE t ADD UNIQUE (a)", "TRUNCATE t", "DELETE FROM t WHERE k = 3 RETURNING *"}).Draw(t, "definition"))
			}
			if of[0].DB().tx == nil || of[0].DB().tx.usable() == nil {
				both("SELECT * FROM t ORDER BY k")
			}
		}
	})
	if repeats == 0 {
		t.Error("no statement was like one before")
	}
}

// The second statement of each pair is like the first, and means another thing where a value is not only a value in its place.
func TestStatementsLikeOthersInPairs(t *testing.T) {
	ctx := context.Background()
	for _, pair := range [][2]string{
		{"SELECT k, a FROM t WHERE k = 3 LIMIT 1", "SELECT k, a FROM t WHERE k = 3 LIMIT 0"},
		{"SELECT k, a FROM t WHERE k = 3 AND s LIKE 'a%'", "SELECT k, a FROM t WHERE k = 3 AND s LIKE 'b%'"},
		{"SELECT k, a FROM t WHERE k = 3 AND a IN (1, 2)", "SELECT k, a FROM t WHERE k = 3 AND a IN (3, 4)"},
		{"SELECT k, 'x', DATE '2020-01-01' FROM t WHERE k = 3", "SELECT k, 'y', DATE '2021-01-01' FROM t WHERE k = 4"},
		{"SELECT k, left(s, 1) FROM t WHERE k = 3", "SELECT k, left(s, 0) FROM t WHERE k = 3"},
		{"SELECT k, round(d / 3.0, 1) FROM t WHERE k = 3", "SELECT k, round(d / 3.0, 2) FROM t WHERE k = 3"},
		{"SELECT k FROM t WHERE k = 3 AND EXISTS (SELECT 1 FROM t WHERE a = 3)", "SELECT k FROM t WHERE k = 3 AND EXISTS (SELECT 1 FROM t WHERE a = 300)"},
		{"SELECT k FROM t WHERE k = 3 AND 1 = 1", "SELECT k FROM t WHERE k = 3 AND 1 = 2"},
		{"SELECT k FROM t WHERE k = 3 AND k = 3", "SELECT k FROM t WHERE k = 3 AND k = 4"},
		{"SELECT k FROM t WHERE k = 3 OR k = 4", "SELECT k FROM t WHERE k = 5 OR k = 6"},
		{"INSERT INTO t VALUES (100, -5, 'a', 1)", "INSERT INTO t VALUES (101, -6, 'a', 1)"},
		{"INSERT INTO t VALUES (100, 1 + 2, 'a', 1)", "INSERT INTO t VALUES (101, 3 + 4, 'a', 1)"},
		{"INSERT INTO t VALUES (100, 1, 'a'\n'b', 1)", "INSERT INTO t VALUES (101, 1, 'c'\n'd', 1)"},
		{"INSERT INTO t VALUES (100, 1, 'a' || 'b', 1)", "INSERT INTO t VALUES (101, 1, 'c' || 'd', 1)"},
		{"INSERT INTO t VALUES (100, CAST('1' AS INTEGER), 'a', 1)", "INSERT INTO t VALUES (101, CAST('2' AS INTEGER), 'a', 1)"},
		{"INSERT INTO t VALUES (3, 1, 'a', 1) ON CONFLICT (k) DO UPDATE SET a = 5", "INSERT INTO t VALUES (3, 1, 'a', 1) ON CONFLICT (k) DO UPDATE SET a = 6"},
		{"INSERT INTO t VALUES (3, 1, 'a', 1) ON CONFLICT (k) DO UPDATE SET a = 5 WHERE t.a > 1", "INSERT INTO t VALUES (3, 1, 'a', 1) ON CONFLICT (k) DO UPDATE SET a = 5 WHERE t.a > 100"},
		{"INSERT INTO t SELECT 100, 1, 'a', 1", "INSERT INTO t SELECT 101, 2, 'b', 2"},
		{"INSERT INTO t VALUES (100, 1, 'a', 1) RETURNING a + 1", "INSERT INTO t VALUES (101, 1, 'a', 1) RETURNING a + 2"},
		{"INSERT INTO t VALUES (100, 1, 'a', 1)", "INSERT INTO t VALUES (101, 40000, 'a', 1)"},
		{"INSERT INTO t VALUES (100, '1', 'a', '1.5')", "INSERT INTO t VALUES (101, 'x', 'a', '1.5')"},
		{"UPDATE t SET a = a + 1, d = d / 2 WHERE k = 3", "UPDATE t SET a = a + 100, d = d / 0 WHERE k = 3"},
		{"UPDATE t SET a = 1 WHERE k = 3", "UPDATE t SET a = 40000 WHERE k = 3"},
		{"UPDATE t SET a = 2, s = 'b' WHERE k = 3 AND a BETWEEN 0 AND 10", "UPDATE t SET a = 3, s = 'cc' WHERE k = 4 AND a BETWEEN 100 AND 200"},
		{"UPDATE t SET a = CASE WHEN a > 1 THEN 2 ELSE 3 END WHERE k = 3", "UPDATE t SET a = CASE WHEN a > 100 THEN 2 ELSE 5 END WHERE k = 3"},
		{"DELETE FROM t WHERE k = 3 AND NOT a > 4", "DELETE FROM t WHERE k = 4 AND NOT a > 3"},
		{"DELETE FROM t WHERE k = 3 AND s = 'name 3'", "DELETE FROM t WHERE k = 4 AND s = 'name 5'"},
		{"DELETE FROM t WHERE k = 3", "DELETE FROM t WHERE k = 99999999999"},
		{"SELECT k FROM u WHERE n = 'name 3' AND 'a' < n", "SELECT k FROM u WHERE n = 'name 4' AND 'z' < n"},
		{"UPDATE u SET k = k + 1 WHERE n = 'name 3'", "UPDATE u SET k = k + 2 WHERE n = 'name 40'"},
		{"DELETE FROM u WHERE n = 'name 3' AND n <> ''", "DELETE FROM u WHERE n = '' AND n <> 'name 3'"},
		{"SELECT n || 'a', 'b' FROM u WHERE n = 'name 3'", "SELECT n || 'c', 'd' FROM u WHERE n = 'name 4'"},
	} {
		var said [2]string
		for i, end := range []string{"", " /* as it is */"} {
			db, err := Open(Options{Backend: "cpu"})
			if err != nil {
				t.Fatal(err)
			}
			do(t, db, "CREATE TABLE t (k BIGINT PRIMARY KEY, a SMALLINT, s VARCHAR, d DECIMAL(8,2))")
			do(t, db, "INSERT INTO t SELECT g, g, 'name ' || g, g * 1.25 FROM generate_series(1, 9) AS q (g)")
			do(t, db, "CREATE TABLE u (n VARCHAR PRIMARY KEY, k BIGINT)")
			do(t, db, "INSERT INTO u SELECT s, k FROM t")
			for _, text := range []string{pair[0], pair[1], pair[0], "SELECT * FROM t ORDER BY k", "SELECT * FROM u ORDER BY n"} {
				said[i] += said2(Collect(db.Query(ctx, text+end))) + "\n"
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if said[0] != said[1] {
			t.Errorf("%s\n%s\n%s\nwhere they are bound:\n%s", pair[0], pair[1], said[0], said[1])
		}
	}
}

// These are bound once for all that are like them.
func TestStatementsLikeOthersAreKept(t *testing.T) {
	ctx := context.Background()
	db, err := Open(Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(t, db, "CREATE TABLE t (k BIGINT PRIMARY KEY, a SMALLINT, s VARCHAR, d DECIMAL(8,2), at TIMESTAMP DEFAULT now())")
	do(t, db, "CREATE TABLE u (n VARCHAR PRIMARY KEY, k BIGINT)")
	for text, kept := range map[string]bool{
		"INSERT INTO t (k, a, s, d) VALUES (1, 2, 'a', 1.5), (3, 4, NULL, 6)":  false, // which reads the clock
		"INSERT INTO t VALUES (5, 6, 'a', 7, TIMESTAMP '2020-01-01 00:00:00')": false,
		"INSERT INTO t VALUES (8, 6, 'a', 7, '2020-01-01 00:00:00')":           true,
		"INSERT INTO u VALUES ('a', 1), ('b', 2)":                              true,
		"INSERT INTO u VALUES ('d', 1) ON CONFLICT DO NOTHING":                 true,
		"UPDATE t SET a = a + 1, s = 'x' WHERE k = 1":                          true,
		"UPDATE u SET k = 5 WHERE n = 'a'":                                     true,
		"DELETE FROM u WHERE n = 'a' AND k < 7":                                true,
		"SELECT * FROM t WHERE k = 1":                                          true,
		"SELECT k, upper(s), d > 1.5 FROM t WHERE k = 1":                       true,
		"SELECT k, left(s, 1) FROM t WHERE k = 1":                              false, // a function may make another thing of a value
		"SELECT k FROM u WHERE 'a' = n":                                        true,
		"SELECT k FROM u WHERE n = 'a' LIMIT 1":                                false,
		"SELECT a FROM t WHERE a = 1":                                          false, // no key
	} {
		if _, err := db.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		f, ok := sql.FormOf(text)
		if got := ok && db.plans.get(f.Text) != nil; got != kept {
			t.Errorf("%s is kept: %v", text, got)
		}
	}
	for _, text := range []string{"SELECT * FROM t WHERE k = 12", "INSERT INTO u VALUES ('x', 12)", "INSERT INTO u VALUES ('x', 13) ;"} { // the last fails
		rows, err := db.Query(ctx, text)
		of := (*StatementError)(nil)
		switch sql := strings.TrimSuffix(text, " ;"); {
		case errors.As(err, &of):
			if of.SQL != sql || sql == text {
				t.Errorf("%s: an error of %q: %v", text, of.SQL, err)
			}
		case err != nil:
			t.Error(err)
		case rows.SQL() != sql || rows.Close() != nil:
			t.Errorf("%s: rows of %q", text, rows.SQL())
		}
	}
	for _, text := range []string{"INSERT INTO u VALUES ($1, $2)", "UPDATE u SET n = $1 WHERE n = $2", "SELECT k FROM u WHERE n = $1 AND n <> $2"} {
		if _, err := db.Exec(ctx, text, "c", "5"); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if db.plans.get(text) == nil {
			t.Errorf("%s is not kept", text)
		}
	}
}

// said2 is an answer with its columns and the number of rows that changed, or the error with its place.
func said2(r *Result, err error) string {
	if err != nil {
		return strings.ReplaceAll(err.Error(), " /* as it is */", "")
	}
	return fmt.Sprint(r.Stats.Changed, " ", r.Columns, " ", said(r, nil))
}

// The default of a column that reads the clock is that of each statement.
func TestStatementsLikeOthersReadTheClock(t *testing.T) {
	ctx := context.Background()
	db, err := Open(Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(t, db, "CREATE TABLE t (k BIGINT PRIMARY KEY, at TIMESTAMP DEFAULT now())")
	for i := range 3 {
		do(t, db, fmt.Sprintf("INSERT INTO t (k) VALUES (%d)", i))
		time.Sleep(2 * time.Millisecond)
	}
	if got := said(Collect(db.Query(ctx, "SELECT COUNT(DISTINCT at) FROM t"))); got != "3" {
		t.Errorf("there are %s times", got)
	}
}
