package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// talk runs a script in which each line begins with a session's name. A line may end with what is said, behind =>, or with a
// part of an error, behind an exclamation mark.
func talk(t *testing.T, db *DB, script string) {
	t.Helper()
	sessions := map[string]*Session{}
	for line := range strings.Lines(script) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		s := sessions[name]
		if s == nil {
			s = db.Session()
			defer s.Close()
			sessions[name] = s
		}
		text, want, _ := strings.Cut(text, " => ")
		got := said(Collect(s.Query(context.Background(), text)))
		if got != want && !(strings.HasPrefix(want, "!") && strings.HasPrefix(got, "!") && strings.Contains(got, want[1:])) {
			t.Fatalf("%s: %s: got %s, want %s", name, text, got, want)
		}
	}
}

// On every backend a transaction sees its own tables, and nothing of them stays on a device.
func TestTransactionsOnBackends(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		talk(t, db, `
			a: CREATE TABLE t AS SELECT g AS id, g % 10 AS v FROM generate_series(1, 1000) AS q(g)
			a: SELECT SUM(id) AS s FROM t WHERE v = 3 => 49800
			a: BEGIN
			a: DELETE FROM t WHERE id > 500
			a: UPDATE t SET id = id + 1 WHERE v = 3
			a: INSERT INTO t SELECT id + 5000, v FROM t WHERE id < 100
			b: SELECT SUM(id) AS s FROM t WHERE v = 3 => 49800
			a: SELECT COUNT(*) AS n, SUM(id) AS s FROM t WHERE v = 3 => 60|62940
			b: UPDATE t SET v = 11 WHERE id > 900
			a: ROLLBACK
			a: SELECT COUNT(*) AS n, SUM(id) AS s FROM t WHERE v < 11 => 900|405450
			a: BEGIN
			a: INSERT INTO t VALUES (0, 12)
			a: SELECT COUNT(*) AS n FROM t WHERE v >= 11 => 101
			b: INSERT INTO t VALUES (0, 13)
			a: COMMIT
			b: SELECT COUNT(*) AS n FROM t WHERE v >= 11 => 102
			b: DROP TABLE t`)
		nothingLeft(t, db)
	})
}

// The Go API: errors.Is tells a conflict; a transaction that is over takes nothing more.
func TestTxAPI(t *testing.T) {
	ctx, db := context.Background(), open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE t AS SELECT 1 AS id, 0 AS v")
	begin := func() *Tx {
		t.Helper()
		tx, err := db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	a, b := begin(), begin()
	for i, tx := range []*Tx{a, b} {
		if st, err := tx.Exec(ctx, "UPDATE t SET v = $1 WHERE id = 1", i+1); err != nil || st.Changed != 1 {
			t.Fatal(st, err)
		}
	}
	if err := b.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(ctx); !errors.Is(err, ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	if _, err := a.Query(ctx, "SELECT 1"); !errors.Is(err, errTxOver) {
		t.Errorf("%v, want that it is over", err)
	}
	if err := errors.Join(a.Commit(ctx), b.Commit(ctx)); err == nil {
		t.Error("a transaction ends twice")
	}
	if err := errors.Join(a.Rollback(), b.Rollback()); err != nil {
		t.Error(err)
	}
	if got := said(Collect(db.Query(ctx, "SELECT v FROM t"))); got != "2" {
		t.Errorf("v is %s", got)
	}
	if _, err := db.Query(ctx, "BEGIN"); err == nil || !strings.Contains(err.Error(), "session") {
		t.Errorf("BEGIN outside of a session: %v", err)
	}
	cursor, err := begin().Query(ctx, "SELECT id FROM t")
	if err != nil || !cursor.Next() {
		t.Fatal(err)
	}
	cursor.Close()
	if len(db.commits.open) != 1 || len(db.commits.history) != 0 {
		t.Errorf("%d transactions are open, %d commits noted", len(db.commits.open), len(db.commits.history))
	}
}

// A script's transaction that is open at its end is rolled back, which is said; another session goes on beside it.
func TestScriptsHaveASession(t *testing.T) {
	var notes []string
	db := open(t, Options{Backend: "cpu", Note: func(text string) { notes = append(notes, text) }})
	for script, want := range map[string]string{
		"CREATE TABLE t AS SELECT 1 AS x; BEGIN; INSERT INTO t VALUES (2); COMMIT; BEGIN; INSERT INTO t VALUES (3); SELECT SUM(x) AS s FROM t": "6 the open transaction is rolled back: end it with COMMIT to keep what it has changed",
	} {
		last := ""
		for rows, err := range db.Each(context.Background(), script) {
			last = said(Collect(rows, err))
		}
		if got := strings.Join(append([]string{last}, notes...), " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := said(Collect(db.Query(context.Background(), "SELECT SUM(x) AS s FROM t"))); got != "3" {
		t.Errorf("the sum is %s", got)
	}
	notes = nil
	talk(t, db, `
		a: COMMIT
		a: BEGIN
		a: BEGIN
		a: ROLLBACK`)
	if len(notes) != 2 {
		t.Errorf("notes: %q", notes)
	}
}
