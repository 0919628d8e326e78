package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Tables that are resident answer as those of cpu do after changes of some of their rows. So they do where a cursor still
// reads what was there before, so that it is copied.
func TestChangesOfResidentTables(t *testing.T) {
	ctx := context.Background()
	open := func(backend string) *DB {
		db, err := Open(Options{Backend: backend, Calibrations: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	scalar, others := open("cpu"), map[string]*DB{}
	for _, name := range []string{"classic", "fused", "compute"} {
		others[name] = open(name)
	}
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
		name := rapid.SampledFrom([]string{"classic", "fused", "compute"}).Draw(t, "backend")
		dbs := []*DB{scalar, others[name]}
		both := func(text string) (answers [2]string) {
			for i, db := range dbs {
				answers[i] = said(Collect(db.Query(ctx, text)))
			}
			if answers[0] != answers[1] {
				t.Fatalf("%s: %s gives %s, cpu %s", text, name, answers[1], answers[0])
			}
			return answers
		}
		both("DROP TABLE IF EXISTS t")
		both(fmt.Sprintf("CREATE TABLE t AS SELECT g AS k, g * 7919 %% 1000 AS v, CASE WHEN g %% 5 > 0 THEN g * 31 %% 70000 END AS n, 'w' || g %% 40 AS s FROM generate_series(1, %d) AS q (g)", number("rows", 100, 12_000)))
		ask := func() {
			both("SELECT COUNT(*), COUNT(n), SUM(v), MIN(n), MAX(v) FROM t WHERE v < 400 AND s <> 'w3'")
			both("SELECT COUNT(*), SUM(k), MEDIAN(n) FROM t WHERE n >= 100 OR n IS NULL")
		}
		ask()
		for range number("changes", 1, 5) {
			var cursor *Rows
			if number("a cursor", 0, 3) == 0 {
				var err error
				if cursor, err = dbs[1].Query(ctx, "SELECT k, v FROM t WHERE v < 900"); err != nil {
					t.Fatal(err)
				}
				cursor.Next()
			}
			mod := number("of", 2, 400)
			where := fmt.Sprintf(" WHERE k %% %d = %d", mod, number("rest", 0, mod-1))
			both([]string{
				fmt.Sprintf("UPDATE t SET v = v + %d", number("more", -300, 300)) + where,
				"UPDATE t SET n = NULL" + where,
				"UPDATE t SET n = k % 70000, v = 0" + where,
				fmt.Sprintf("UPDATE t SET s = 'w%d'", number("word", 0, 45)) + where,
				"DELETE FROM t" + where,
				"INSERT INTO t SELECT k + 20000, v, n, s FROM t" + where,
			}[number("change", 0, 5)])
			if number("ask", 0, 2) > 0 {
				ask()
			}
			if cursor != nil {
				if err := cursor.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		ask()
	})
}

// Tables that share columns, since one was made of all rows of the other, change each by itself.
func TestSharedColumnsChangeApart(t *testing.T) {
	db, err := Open(Options{Backend: "cpu", Calibrations: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(t, db, "CREATE TABLE a (k bigint, v bigint)")
	do(t, db, "INSERT INTO a SELECT g, g FROM generate_series(1, 100) AS q (g)")
	for i, name := range []string{"b", "c"} { // of columns that a change has written, the second time
		do(t, db, "UPDATE a SET v = 1000 WHERE k = 1")
		do(t, db, "CREATE TABLE "+name+" AS SELECT v, k FROM a")
		do(t, db, "UPDATE a SET v = 2000 WHERE k <= 2")
		do(t, db, "UPDATE "+name+" SET v = 3000 WHERE k = 3")
		for text, want := range map[string]string{"SELECT SUM(v), MAX(v) FROM " + name: fmt.Sprint(1000+3000+5050-1-3+i*1998, "|3000"), "SELECT SUM(v) FROM a": fmt.Sprint(4000 + 5050 - 3)} {
			if got := said(Collect(db.Query(context.Background(), text))); got != want {
				t.Errorf("%s gives %s, want %s", text, got, want)
			}
		}
	}
}

// An UPDATE to texts that a large chunk does not have moves these rows behind the last, and changes nothing else. Nothing of the
// chunk's columns is uploaded. Keys, transactions and RETURNING know no difference, and a table of which most rows have moved has no
// deleted ones.
func TestUpdatesThatMoveRows(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "compute"} {
		db, err := Open(Options{Backend: backend, Calibrations: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		sent := func() (n int64) {
			if d, _, _ := db.backends.Now(); d != nil && len(d.GPUs) > 0 {
				g := d.GPUs[0]
				_ = g.Context.Do(ctx, func() error { n = g.Store.Sent(); return nil })
			}
			return n
		}
		chunks := func() (n, deleted int) {
			for _, c := range db.entry("t").Table.Load().Chunks {
				n, deleted = n+1, deleted+c.Deleted
			}
			return n, deleted
		}
		is := func(db *DB, query, want string) {
			t.Helper()
			if got := said(Collect(db.Query(ctx, query))); got != want {
				t.Errorf("%s: %s is %s, want %s", backend, query, got, want)
			}
		}
		const sum = "SELECT COUNT(*), SUM(v), MIN(s), MAX(s), COUNT(*) FILTER (WHERE s >= 'k') FROM t WHERE v > -1000"
		do(t, db, "CREATE TABLE t (k text PRIMARY KEY, s text NOT NULL, v bigint CHECK (v < 50000))")
		do(t, db, "INSERT INTO t SELECT 'k' || g, 's' || g % 7000, g FROM generate_series(0, 19999) AS q (g)")
		is(db, sum, "20000|199990000|s0|s999|20000")
		do(t, db, "SELECT COUNT(*) FROM t WHERE k > 'k3'")
		before := sent()
		is(db, "UPDATE t SET s = 'a' || s WHERE k IN ('k7', 'k7007', 'k11') RETURNING k, s", "k7|as7;k11|as11;k7007|as7")
		is(db, "UPDATE t SET v = -v WHERE k = 'k7007' RETURNING v, s", "-7007|as7")
		is(db, "UPDATE t SET k = 'n' || k WHERE k = 'k5' RETURNING k", "nk5")
		if n, deleted := chunks(); n < 2 || deleted != 4 {
			t.Errorf("%s: %d chunks, %d rows deleted", backend, n, deleted)
		}
		is(db, sum, "19999|199982993|as11|s999|19997")
		is(db, "SELECT k, s, v FROM t WHERE k IN ('k7', 'k11', 'nk5', 'k5', 'k6') ORDER BY k", "k11|as11|11;k6|s6|6;k7|as7|7;nk5|s5|5")
		if n := sent() - before; n > 20_500 { // which rows are there, the first time
			t.Errorf("%s: %d bytes were uploaded", backend, n)
		}
		for text, want := range map[string]string{"UPDATE t SET k = 'k7' WHERE k = 'k9'": "duplicate", "UPDATE t SET k = 'new' WHERE k IN ('k8', 'k9')": "duplicate", "UPDATE t SET k = 'k7' WHERE k = 'nk5'": "duplicate",
			"UPDATE t SET s = 'b' || s, v = 60000 WHERE k = 'k9'": "check", "UPDATE t SET k = NULL, s = 'b' WHERE k = 'k9'": "not-null"} {
			if _, err := db.Exec(ctx, text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
		do(t, db, "UPDATE t SET k = 'k5' WHERE k = 'nk5'")
		_, before5 := chunks()
		is(db, "INSERT INTO t VALUES ('k30', 'upsert', 1), ('fresh', 'fresh', 0), ('k31', 's31', 2) ON CONFLICT (k) DO UPDATE SET s = excluded.s RETURNING k, s, v", "k30|upsert|30;fresh|fresh|0;k31|s31|31")
		if _, deleted := chunks(); deleted != before5+1 { // k31 stays
			t.Errorf("%s: %d rows are deleted, and %d before", backend, deleted, before5)
		}
		is(db, "SELECT k, s, v FROM t WHERE k IN ('k30', 'k31', 'fresh') ORDER BY k", "fresh|fresh|0;k30|upsert|30;k31|s31|31")
		do(t, db, "DELETE FROM t WHERE k = 'fresh'")
		tx, err := db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		do(t, tx.db, "UPDATE t SET s = 'tx' || s WHERE k = 'k100'")
		do(t, tx.db, "UPDATE t SET s = 'twice' || s WHERE k = 'k100'")
		do(t, db, "UPDATE t SET s = 'other' WHERE k = 'k200'")
		do(t, db, "INSERT INTO t VALUES ('more', 'more', 1)")
		if err := tx.Commit(ctx); err != nil {
			t.Error(err)
		}
		is(db, "SELECT k, s FROM t WHERE k IN ('k100', 'k200', 'more') ORDER BY k", "k100|twicetxs100;k200|other;more|more")
		if tx, err = db.Begin(ctx, TxOptions{}); err != nil {
			t.Fatal(err)
		}
		do(t, tx.db, "UPDATE t SET s = 'tx' || s WHERE k = 'k300'")
		do(t, db, "UPDATE t SET s = 'other' WHERE k = 'k300'")
		if err := tx.Commit(ctx); !errors.Is(err, ErrConflict) {
			t.Errorf("%s: %v", backend, err)
		}
		if tx, err = db.Begin(ctx, TxOptions{}); err != nil { // whose rows have the keys that were theirs
			t.Fatal(err)
		}
		do(t, tx.db, "UPDATE t SET s = 'tx' || s WHERE k = 'k300'")
		do(t, tx.db, "DELETE FROM t WHERE k = 'k301'")
		do(t, tx.db, "INSERT INTO t VALUES ('k301', 'k301', 301), ('one', 'more', -1)")
		do(t, db, "UPDATE t SET s = 'o' || s WHERE k = 'k302'")
		if err := tx.Commit(ctx); err != nil {
			t.Error(err)
		}
		is(db, "SELECT k, s, v FROM t WHERE v BETWEEN 300 AND 302 OR k IN ('k301', 'one') ORDER BY k", "k300|txother|300;k301|k301|301;k302|os302|302;one|more|-1")
		if tx, err = db.Begin(ctx, TxOptions{}); err != nil {
			t.Fatal(err)
		}
		do(t, tx.db, "UPDATE t SET s = 'tx' || s WHERE k = 'k310'")
		do(t, tx.db, "INSERT INTO t VALUES ('two', 'two', 2)")
		do(t, db, "INSERT INTO t VALUES ('two', 'too', 2)")
		if err := tx.Commit(ctx); !errors.Is(err, ErrConflict) {
			t.Errorf("%s: %v", backend, err)
		}
		do(t, db, "DELETE FROM t WHERE k = 'two'")
		_, struck := chunks()
		is(db, "INSERT INTO t VALUES ('two', 'two', -2), ('k320', '', 0) ON CONFLICT (k) DO UPDATE SET s = 'up' || t.s RETURNING k, s, v", "two|two|-2;k320|ups320|320")
		if _, deleted := chunks(); deleted != struck+1 {
			t.Errorf("%s: %d rows are deleted, not one more than %d", backend, deleted, struck)
		}
		do(t, db, "DELETE FROM t WHERE k IN ('one', 'two')")
		if tx, err = db.Begin(ctx, TxOptions{}); err != nil { // which keeps the numbers of rows, however many move
			t.Fatal(err)
		}
		for i := range 110 {
			do(t, tx.db, fmt.Sprintf("UPDATE t SET s = s || '/%d' WHERE v / 130 = %d", i, 150-i))
		}
		do(t, tx.db, "DELETE FROM t WHERE k = 'k19999'")
		do(t, tx.db, "UPDATE t SET s = s || '!' WHERE v = 19500")
		do(t, db, "INSERT INTO t VALUES ('k20000', 'k20000', 19999)")
		do(t, db, "UPDATE t SET v = v - 1 WHERE k = 'k20000'")
		if err := tx.Commit(ctx); err != nil {
			t.Error(err)
		}
		is(db, "SELECT k, s, v FROM t WHERE v > 19996 OR s LIKE '%/79' AND v % 130 = 1 OR s LIKE '%!' ORDER BY v", "k9231|s2231/79|9231;k19500|s5500/0!|19500;k19997|s5997|19997;k19998|s5998|19998;k20000|k20000|19998")
		for i := range 80 {
			do(t, db, fmt.Sprintf("UPDATE t SET s = s || '.%d' WHERE v / 130 = %d", i, i))
		}
		if _, deleted := chunks(); deleted > 10_100 {
			t.Errorf("%s: %d rows are deleted", backend, deleted)
		}
		is(db, "SELECT COUNT(*), COUNT(DISTINCT k), COUNT(*) FILTER (WHERE s LIKE '%.%'), SUM(v) FROM t", "20001|20001|10400|199975986")
	}
}
