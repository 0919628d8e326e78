package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Tables that are resident answer as those of cpu do after changes of some of their rows, whether a cursor still reads what
// was there before, so that it is copied, or not.
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

// A key of a large table is looked up, and is right after rows have come, changed and gone.
func TestKeysOfLargeTables(t *testing.T) {
	db, err := Open(Options{Backend: "cpu", Calibrations: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(t, db, "CREATE TABLE t (a bigint, b text, c bigint, PRIMARY KEY (a), UNIQUE (b, c))")
	do(t, db, "INSERT INTO t SELECT g * 3, 'b' || g % 9000, g FROM generate_series(1, 10000) AS q (g)")
	for _, step := range [][2]string{
		{"INSERT INTO t VALUES (30, 'x', 1)", "a"}, {"INSERT INTO t VALUES (31, 'x', 1)", ""}, {"INSERT INTO t VALUES (32, 'x', 1)", "b, c"},
		{"INSERT INTO t VALUES (34, 'b1', 1)", "b, c"}, {"INSERT INTO t VALUES (34, 'b1', NULL), (35, 'b1', NULL)", ""}, {"INSERT INTO t VALUES (34, 'y', 2)", "a"},
		{"INSERT INTO t VALUES (1, 'z', 1), (2, 'z', 1)", "b, c"}, {"DELETE FROM t WHERE a = 300", ""}, {"INSERT INTO t VALUES (300, 'b100', 100)", ""},
		{"INSERT INTO t VALUES (300, 'n', 0)", "a"}, {"UPDATE t SET a = 303 WHERE a = 300", "a"}, {"UPDATE t SET a = 1 WHERE a = 300", ""}, {"INSERT INTO t VALUES (300, 'n', 0)", ""},
		{"UPDATE t SET a = a + 1 WHERE a IN (3000, 3003)", ""}, {"UPDATE t SET a = 3003 WHERE a = 3001", ""}, {"UPDATE t SET a = a + 3 WHERE a IN (6000, 6003)", "a"}, {"UPDATE t SET c = 200, b = 'b200' WHERE a = 9000", "b, c"},
		{"UPDATE t SET c = 200, b = 'b200' WHERE a = 600", ""}, {"UPDATE t SET a = CASE a WHEN 9 THEN 12 ELSE 9 END WHERE a IN (9, 12)", ""},
	} {
		_, err := db.Exec(context.Background(), step[0])
		want := ""
		if step[1] != "" {
			want = "key (" + step[1] + ")"
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step[0], err, want)
		}
	}
	if got := said(Collect(db.Query(context.Background(), "SELECT COUNT(*), COUNT(DISTINCT a) FROM t"))); got != "10004|10004" {
		t.Error(got)
	}
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
