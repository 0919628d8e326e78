package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A statement timeout that is set holds for the next statement, and SET ends it again.
func TestSetStatementTimeout(t *testing.T) {
	db := openTyped(t, 5)
	ctx := context.Background()
	if _, err := db.Exec(ctx, "SET statement_timeout = '1ms'"); err != nil {
		t.Fatal(err)
	}
	const long = "SELECT MAX(s) FROM (SELECT SUM(x::double precision) OVER (ORDER BY x ROWS BETWEEN 100000 PRECEDING AND 1 FOLLOWING) AS s FROM generate_series(1, 300000) g(x)) w"
	if _, err := db.Exec(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if _, err := db.Exec(ctx, "RESET statement_timeout"); err != nil {
		t.Errorf("RESET: %v", err)
	}
	if _, err := db.Exec(ctx, "SELECT COUNT(*) FROM typed WHERE big > 1"); err != nil {
		t.Error(err)
	}
}

// A session that has SET nothing has the DB's settings, which RESET takes again. A transaction of the DB has settings of its own.
// What SET LOCAL does not do outside of a transaction is a note.
func TestSettingsOfSessions(t *testing.T) {
	var notes []string
	db := openTypedOn(t, 5, Options{Backend: "cpu", Note: func(text string) { notes = append(notes, text) }})
	one := db.Session()
	ask := func(s *Session, sql string) string {
		for rows, err := range s.Each(t.Context(), sql) {
			return strings.Join(words(rows, err), " ")
		}
		return ""
	}
	ask(one, "SET join = hash")
	ask(one, "SET LOCAL join = hash")
	if want := []string{"SET LOCAL can only be used in transaction blocks: BEGIN comes first"}; !slices.Equal(notes, want) {
		t.Errorf("the notes are %q", notes)
	}
	// What the DB is told is that of sessions which have SET nothing, and what RESET goes back to.
	do(t, db, "SET join = merge")
	fresh := db.Session()
	for _, s := range []*Session{fresh, one} {
		ask(s, "RESET join")
		if got := ask(s, "SHOW join"); got != "[merge]" {
			t.Errorf("the join after RESET is %s", got)
		}
	}
	if err := one.SetBackend("compute"); err != nil || one.DB().Backend() != "compute" || fresh.DB().Backend() != "cpu" || db.Backend() != "cpu" {
		t.Errorf("backends %s, %s and %s: %v", one.DB().Backend(), fresh.DB().Backend(), db.Backend(), err)
	}
	if _, err := db.Exec(t.Context(), "DISCARD ALL"); err == nil || !strings.Contains(err.Error(), "RESET ALL") {
		t.Errorf("DISCARD ALL without a session: %v", err)
	}
	tx, err := db.Begin(t.Context(), TxOptions{})
	if err == nil {
		_, err = tx.Exec(t.Context(), "SET join = loops")
	}
	if err != nil || tx.db.now().join != "loops" || db.now().join != "merge" {
		t.Errorf("a transaction's join is %s, the DB's %s: %v", tx.db.now().join, db.now().join, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// Sessions whose settings differ run side by side, also while tables change. The statements that they keep go with them, and with the DB.
func TestStatementsOfSessions(t *testing.T) {
	db, err := Open(Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(t, db, "CREATE TABLE n (k int, v int)")
	do(t, db, "INSERT INTO n SELECT x, x % 7 FROM generate_series(1, 1000) AS g(x)")
	const text = "SELECT SUM(a.v) FROM n AS a JOIN n AS b ON a.k = b.k WHERE b.v < 5 AND a.k > 0"
	const kept = "SELECT SUM(v) FROM n WHERE v < 5 AND k > 0"
	var sessions []*Session
	var all sync.WaitGroup
	for _, way := range []string{"hash", "merge", "loops", "auto"} {
		s := db.Session()
		sessions = append(sessions, s)
		all.Go(func() {
			if _, err := s.Exec(t.Context(), "PREPARE p AS "+text); err != nil {
				t.Error(err)
			}
			if way != "auto" {
				if _, err := s.Exec(t.Context(), "SET join = "+way); err != nil {
					t.Error(err)
				}
			}
			for range 10 {
				if got := words(s.Query(t.Context(), "EXECUTE p")); !slices.Equal(got, []string{"[1430]"}) {
					t.Errorf("%s: %s", way, got)
				}
				if got := words(s.Query(t.Context(), "SHOW join")); !slices.Equal(got, []string{"[" + way + "]"}) {
					t.Errorf("%s: %s", way, got)
				}
			}
			if got := fmt.Sprint(words(s.Query(t.Context(), "EXPLAIN ANALYZE "+text))); way != "auto" && !strings.Contains(got, way) {
				t.Errorf("%s: %s", way, got)
			}
		})
	}
	for range 5 {
		do(t, db, "INSERT INTO n VALUES (-1, 3)")
		do(t, db, "DELETE FROM n WHERE k < 0")
	}
	all.Wait()
	if len(db.kept) != 4 {
		t.Errorf("there are statements of %d", len(db.kept))
	}
	held := func(s *Session) bool {
		st, ok := s.DB().statements.Get(kept)
		return ok && st.latest.Load() != nil
	}
	for _, s := range sessions {
		if got := words(s.Query(t.Context(), kept)); len(got) != 1 {
			t.Error(got)
		}
		if s != sessions[3] && !held(s) {
			t.Error("a session has not kept its statement")
		}
	}
	do(t, db, "INSERT INTO n VALUES (-1, 3)")
	for _, s := range sessions {
		if held(s) {
			t.Error("a session's statement keeps a snapshot that the table has no more")
		}
	}
	for i, s := range sessions[:2] {
		if err := s.Close(); err != nil || len(db.kept) != 3-i {
			t.Errorf("%d are left: %v", len(db.kept), err)
		}
	}
	if got := words(sessions[0].Query(t.Context(), "SHOW join")); !slices.Equal(got, []string{"[auto]"}) {
		t.Errorf("the join of a session that was closed is %s", got)
	}
	last := sessions[2].DB()
	if err := db.Close(); err != nil || last.statements.Len() != 0 {
		t.Errorf("%d statements are kept of a closed DB: %v", last.statements.Len(), err)
	}
	if _, err := sessions[2].Query(t.Context(), text); err == nil {
		t.Error("a session answers once the DB is closed")
	}
}
