package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/sql"
)

// Statements that are like others before but for their values, in texts and as parameters, do what they do when they are parsed and bound, which a comment
// in them makes sure of.
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
			if f, ok := sql.FormOf(text); ok && of[0].DB().tables.form(f.Text) != nil || of[0].DB().tables.form(text) != nil {
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
			switch rapid.IntRange(0, 13).Draw(t, "kind") {
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

// said2 is an answer with the number of rows that changed, or the error with its place.
func said2(r *Result, err error) string {
	if err != nil {
		return strings.ReplaceAll(err.Error(), " /* as it is */", "")
	}
	return fmt.Sprint(r.Stats.Changed, " ", said(r, nil))
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
