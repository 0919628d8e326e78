package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// talk runs a script in which each line begins with a session's name, and may end with what is said, behind =>; of an error
// that is a part of it, behind an exclamation mark.
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

// A transaction reads the tables as they were when it began, with its own changes; others see these once it has committed.
func TestTransactions(t *testing.T) {
	for name, script := range map[string]string{
		"snapshot": `
			a: CREATE TABLE t (id bigint PRIMARY KEY, v bigint CHECK (v <> 7), s text NOT NULL DEFAULT 'x')
			a: INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)
			a: BEGIN
			b: UPDATE t SET v = 11 WHERE id = 1
			a: SELECT id, v FROM t => 1|10;2|20;3|30
			a: UPDATE t SET v = v + 1 WHERE id = 2 RETURNING id, v => 2|21
			a: INSERT INTO t VALUES (4, 40)
			a: DELETE FROM t WHERE id = 3
			a: UPDATE t SET v = 41 WHERE id = 4
			a: SELECT id, v, s FROM t => 1|10|x;2|21|x;4|41|x
			a: SELECT COUNT(*) AS n, SUM(v) AS s FROM t WHERE v > 10 => 2|62
			b: SELECT id, v FROM t => 1|11;2|20;3|30
			a: COMMIT
			b: SELECT id, v FROM t => 1|11;2|21;4|41`,
		"the first that commits wins": `
			a: CREATE TABLE t AS SELECT g AS id, 0 AS v FROM generate_series(1, 5) AS q(g)
			a: BEGIN
			b: START TRANSACTION
			a: UPDATE t SET v = 1 WHERE id = 3
			b: UPDATE t SET v = 2 WHERE id > 2
			b: COMMIT
			a: COMMIT => !could not serialize access due to concurrent update: another transaction has changed a row of table "t"
			a: SELECT SUM(v) AS s FROM t => 6`,
		"an update of a row that is deleted": `
			a: CREATE TABLE t AS SELECT g AS id, 0 AS v FROM generate_series(1, 5) AS q(g)
			a: BEGIN ISOLATION LEVEL REPEATABLE READ
			a: UPDATE t SET v = 1 WHERE id = 3
			b: DELETE FROM t WHERE id = 3
			a: END => !could not serialize
			a: SELECT id FROM t => 1;2;4;5`,
		"rows that were deleted are taken away": `
			a: CREATE TABLE t AS SELECT g AS id, 0 AS v FROM generate_series(1, 9) AS q(g)
			a: DELETE FROM t WHERE id = 2
			a: BEGIN
			a: UPDATE t SET v = 1 WHERE id IN (1, 9)
			a: INSERT INTO t VALUES (10, 5), (11, 6)
			a: DELETE FROM t WHERE id = 10
			b: DELETE FROM t WHERE id BETWEEN 3 AND 7
			b: INSERT INTO t VALUES (12, 0)
			b: INSERT INTO t VALUES (13, 0), (14, 0), (15, 0)
			b: DELETE FROM t WHERE id > 12
			a: COMMIT
			a: SELECT id, v FROM t => 1|1;8|0;9|1;12|0;11|6`,
		"keys": `
			a: CREATE TABLE t (id bigint PRIMARY KEY, v bigint)
			a: INSERT INTO t VALUES (1, 1)
			a: BEGIN
			a: INSERT INTO t VALUES (2, 2)
			b: INSERT INTO t VALUES (2, 3)
			a: COMMIT => !duplicate key value violates unique constraint "t_pkey": key (id)=(2) already exists
			a: BEGIN
			a: UPDATE t SET id = 5 WHERE id = 1
			b: UPDATE t SET id = 5 WHERE id = 2
			a: COMMIT => !duplicate key value
			a: BEGIN
			a: INSERT INTO t VALUES (8, 8), (9, 9)
			a: DELETE FROM t WHERE id = 9
			b: INSERT INTO t VALUES (9, 0)
			a: COMMIT
			a: SELECT id FROM t => 1;5;9;8`,
		"a failed statement": `
			a: CREATE TABLE t (id bigint PRIMARY KEY)
			a: BEGIN
			a: INSERT INTO t VALUES (1)
			a: INSERT INTO t VALUES (1) => !duplicate key
			a: SELECT * FROM t => !current transaction is aborted
			a: INSERT INTO t VALUES (2) => !current transaction is aborted
			a: COMMIT => !rolled back
			a: SELECT COUNT(*) AS n FROM t => 0
			a: BEGIN
			a: SELECT nothing FROM t => !does not exist
			a: ROLLBACK
			a: INSERT INTO t VALUES (3)
			a: BEGIN
			a: SELECT 1 / (id - 3) FROM t => !division by zero
			a: SELECT 1 AS x => !current transaction is aborted
			a: ABORT`,
		"definitions": `
			a: BEGIN
			a: CREATE TABLE t (id bigint)
			a: INSERT INTO t VALUES (1)
			b: SELECT * FROM t => !does not exist
			a: SELECT * FROM t => 1
			a: COMMIT
			b: SELECT * FROM t => 1
			a: BEGIN
			a: DROP TABLE t
			b: SELECT * FROM t => 1
			a: SELECT * FROM t => !does not exist
			a: ROLLBACK
			a: BEGIN
			a: DROP TABLE t
			a: CREATE TABLE t (id bigint, s text)
			a: INSERT INTO t VALUES (5, 's')
			b: SELECT * FROM t => 1
			a: COMMIT
			b: SELECT * FROM t => 5|s
			a: BEGIN
			a: TRUNCATE t
			b: INSERT INTO t VALUES (6, 't')
			a: COMMIT => !which this one drops, truncates or redefines
			a: BEGIN
			a: INSERT INTO t VALUES (7, 'u')
			b: DROP TABLE t
			a: COMMIT => !has dropped, truncated or redefined
			a: BEGIN
			a: CREATE TABLE t (id bigint)
			b: CREATE TABLE t (id bigint)
			a: COMMIT => !another transaction has created table "t"
			a: BEGIN
			a: CREATE TABLE u (id bigint)
			a: DROP TABLE u
			a: TRUNCATE t
			a: INSERT INTO t VALUES (1), (2)
			a: UPDATE t SET id = 3 WHERE id = 1
			a: COMMIT
			b: SELECT * FROM t => 3;2`,
		"read only": `
			a: CREATE TABLE t (id bigint)
			a: BEGIN READ ONLY
			a: SELECT COUNT(*) AS n FROM t => 0
			a: INSERT INTO t VALUES (1) => !read-only
			a: ROLLBACK
			a: BEGIN ISOLATION LEVEL SERIALIZABLE => !SERIALIZABLE is not supported
			a: COMMIT AND CHAIN => !AND CHAIN`,
		"savepoints": `
			a: SAVEPOINT s => !SAVEPOINT can only be used in transaction blocks
			a: ROLLBACK TO s => !ROLLBACK TO can only be used in transaction blocks
			a: CREATE TABLE t (id bigint PRIMARY KEY, v text)
			a: INSERT INTO t VALUES (1, 'a'), (2, 'b')
			a: BEGIN
			a: UPDATE t SET v = 'c' WHERE id = 1
			a: SAVEPOINT one
			a: INSERT INTO t VALUES (3, 'd')
			a: CREATE TABLE u AS SELECT * FROM t
			a: ALTER TABLE t ADD COLUMN w int DEFAULT 7
			a: SAVEPOINT two
			a: DROP TABLE u
			a: DELETE FROM t
			a: ROLLBACK TO SAVEPOINT two
			a: SELECT * FROM t => 1|c|7;2|b|7;3|d|7
			a: SELECT COUNT(*) AS n FROM u => 3
			a: SELECT 1 / 0 AS x => !division by zero
			a: SELECT 1 AS x => !current transaction is aborted
			a: SAVEPOINT three => !current transaction is aborted
			a: ROLLBACK TO one
			a: SELECT * FROM t => 1|c;2|b
			a: SELECT * FROM u => !table "u" does not exist
			a: ROLLBACK TO one
			a: ROLLBACK TO two => !savepoint "two" does not exist
			a: ROLLBACK TO one
			a: SAVEPOINT one
			a: UPDATE t SET v = 'x'
			a: RELEASE one
			a: SELECT * FROM t => 1|x;2|x
			a: ROLLBACK TO one
			a: SELECT * FROM t => 1|c;2|b
			a: TRUNCATE t
			a: ROLLBACK TO one
			b: INSERT INTO t VALUES (3, 'e')
			b: UPDATE t SET v = 'f' WHERE id = 2
			a: RELEASE SAVEPOINT one
			a: INSERT INTO t VALUES (4, 'g') ON CONFLICT DO NOTHING
			a: COMMIT
			b: SELECT * FROM t ORDER BY id => 1|c;2|f;3|e;4|g
			a: BEGIN
			a: SAVEPOINT s
			a: UPDATE t SET v = 'y' WHERE id = 2
			b: UPDATE t SET v = 'z' WHERE id = 2
			a: ROLLBACK TO s
			a: UPDATE t SET v = 'y' WHERE id = 1
			a: COMMIT
			a: SELECT * FROM t ORDER BY id => 1|y;2|z;3|e;4|g`,
		"write skew is not a conflict": `
			a: CREATE TABLE t AS SELECT g AS id, 1 AS v FROM generate_series(1, 2) AS q(g)
			a: BEGIN
			b: BEGIN
			a: UPDATE t SET v = 0 WHERE id = 1 AND (SELECT SUM(v) FROM t) = 2
			b: UPDATE t SET v = 0 WHERE id = 2 AND (SELECT SUM(v) FROM t) = 2
			a: COMMIT
			b: COMMIT
			a: SELECT SUM(v) AS s FROM t => 0`,
	} {
		t.Run(name, func(t *testing.T) { talk(t, open(t, Options{Backend: "cpu"}), script) })
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
