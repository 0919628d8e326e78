package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Settings are those that the DB was opened with until SET, and again from RESET on.
func TestSettings(t *testing.T) {
	db := openTypedOn(t, 5, Options{Backend: "cpu", StatementTimeout: time.Minute})
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SHOW backend", []string{"[cpu]"}},
		{"SHOW statement_timeout", []string{"[1min]"}},
		{"SHOW host_memory", []string{"[0]"}},
		{"SET backend TO classic", nil},
		{"SHOW BACKEND", []string{"[classic]"}},
		{"RESET backend", nil},
		{"SHOW backend", []string{"[cpu]"}},
		{"SET SESSION statement_timeout = 1500", nil},
		{"SHOW statement_timeout", []string{"[1500ms]"}},
		{"SET statement_timeout = '2 s'", nil},
		{"SHOW statement_timeout", []string{"[2s]"}},
		{"SET statement_timeout TO '0.5h'", nil},
		{"SHOW statement_timeout", []string{"[30min]"}},
		{"SET statement_timeout = 0", nil},
		{"SHOW statement_timeout", []string{"[0]"}},
		{"SET host_memory = '2GiB'", nil},
		{"SET assignment = 'device,cpu, both'", nil},
		{"SHOW ALL", []string{
			"[assignment device, cpu, both who runs the operators of a statement on backend both: auto, as is predicted to be the fastest, or cpu, device or both; of a list the first word is for the first join, and the last one for all that are left]",
			"[backend cpu what computes the answer: auto, classic, fused, compute, cpu or both]",
			"[disable_rule  rules that plans do without, as 'push filter, unnest'; SHOW RULES lists them]",
			"[host_memory 2147483648 bytes for tables in host memory, and for sorting; 0 for half of what is free, once a statement has no room in that]",
			"[join auto the algorithm of joins: auto, perfect, hash, merge, loops or index; perfect is hash where keys are not dense, index on cpu is auto where there is none]",
			"[statement_timeout 0 ends a statement that takes longer: milliseconds, or as '1.5s', '2min'; 0 for no limit]"}},
		{"SET assignment = 'cpu, auto'", []string{"invalid value for assignment: the assignment auto stands alone (line 1, column 5)"}},
		{"SET assignment = gpu", []string{`invalid value for assignment: no assignment "gpu": take one of auto, cpu, device, both (line 1, column 5)`}},
		{"RESET assignment", nil},
		{"SHOW assignment", []string{"[auto]"}},
		{"SET disable_rule = 'Push  filter,unnest'", nil},
		{"SHOW disable_rule", []string{"[unnest, push filter]"}},
		{"SET disable_rule = 'pull filter'", []string{`invalid value for disable_rule: no rule "pull filter": take some of unnest, inline, prune, push into, limit into, factor, infer filter, push filter, push semi, group distinct, top rows, push aggregate, push limit (line 1, column 5)`}},
		{"SHOW disable_rule", []string{"[unnest, push filter]"}},
		{"SET disable_rule = ''", nil},
		{"SHOW disable_rule", []string{"[]"}},
		{"SET join = merge", nil},
		{"SHOW join", []string{"[merge]"}},
		{"SET join = nested", []string{`invalid value for join: no join "nested": take one of auto, perfect, hash, merge, loops, index (line 1, column 5)`}},
		{"RESET join", nil},
		{"SET statement_timeout TO DEFAULT", nil},
		{"SHOW statement_timeout", []string{"[1min]"}},
		{"RESET ALL", nil},
		{"SHOW host_memory", []string{"[0]"}},
		{"SET backend = gpu", []string{`invalid value for backend: no backend "gpu": take one of auto, classic, fused, compute, cpu, both (line 1, column 5)`}},
		{"SET statement_timeout = 'soon'", []string{`invalid value for statement_timeout: "soon" is no time: write milliseconds, or a number with the unit "us", "ms", "s", "min", "h" or "d", as in '2s' (line 1, column 5)`}},
		{"SET statement_timeout = -1", []string{`invalid value for statement_timeout: "-1" is no time: write milliseconds, or a number with the unit "us", "ms", "s", "min", "h" or "d", as in '2s' (line 1, column 5)`}},
		{"SHOW work_mem", []string{`unrecognized configuration parameter "work_mem"; there are assignment, backend, disable_rule, host_memory, join, statement_timeout (line 1, column 6)`}},
		{"SET all = 1", []string{`syntax error at or near "all" (line 1, column 5)`}},
		{"SHOW backend", []string{"[cpu]"}},
	} {
		if diff := cmp.Diff(c.want, words(db.Query(context.Background(), c.sql))); diff != "" {
			t.Errorf("%s: %s", c.sql, diff)
		}
	}
}

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

// What a session SETs is its own; RESET takes the DB's again. A transaction's SET is undone with it, or with a savepoint, and SET LOCAL ends
// with it in any case.
func TestSettingsOfSessions(t *testing.T) {
	var notes []string
	db := openTypedOn(t, 5, Options{Backend: "cpu", Note: func(text string) { notes = append(notes, text) }})
	one, other := db.Session(), db.Session()
	ask := func(s *Session, sql string) string {
		for rows, err := range s.Each(t.Context(), sql) {
			return strings.Join(words(rows, err), " ")
		}
		return ""
	}
	for i, c := range []struct {
		s         *Session
		sql, want string
	}{
		{one, "SHOW join", "[auto]"},
		{one, "SET join = merge", ""},
		{one, "SHOW join", "[merge]"},
		{other, "SHOW join", "[auto]"},
		{other, "SET join = nested", "invalid value for join: no join \"nested\": take one of auto, perfect, hash, merge, loops, index (line 1, column 5)"},
		{other, "SET SESSION statement_timeout = '3s'", ""},
		{one, "SHOW statement_timeout", "[0]"},
		{other, "SHOW statement_timeout", "[3s]"},
		// A transaction that is rolled back, and one that is committed.
		{one, "BEGIN", ""},
		{one, "SET join = loops", ""},
		{one, "SET LOCAL statement_timeout = '1h'", ""},
		{one, "SHOW join", "[loops]"},
		{one, "SHOW statement_timeout", "[1h]"},
		{one, "ROLLBACK", ""},
		{one, "SHOW join", "[merge]"},
		{one, "SHOW statement_timeout", "[0]"},
		{one, "BEGIN", ""},
		{one, "SET LOCAL join = hash", ""},
		{one, "SET statement_timeout = '2h'", ""},
		{one, "SHOW join", "[hash]"},
		{one, "DISCARD ALL", "DISCARD ALL cannot run inside a transaction block: COMMIT or ROLLBACK comes first"},
		{one, "SHOW join", "current transaction is aborted, commands ignored until end of transaction block: roll it back, or back to a savepoint"},
		{one, "ROLLBACK", ""},
		{one, "BEGIN", ""},
		{one, "SET LOCAL join = hash", ""},
		{one, "SET statement_timeout = '2h'", ""},
		{one, "COMMIT", ""},
		{one, "SHOW join", "[merge]"},
		{one, "SHOW statement_timeout", "[2h]"},
		// SET after SET LOCAL stays; one of a savepoint is undone with it.
		{one, "BEGIN", ""},
		{one, "SET LOCAL join = hash", ""},
		{one, "SAVEPOINT a", ""},
		{one, "SET join = loops", ""},
		{one, "SET LOCAL statement_timeout TO DEFAULT", ""},
		{one, "SHOW join", "[loops]"},
		{one, "SHOW statement_timeout", "[0]"},
		{one, "ROLLBACK TO a", ""},
		{one, "SHOW join", "[hash]"},
		{one, "SHOW statement_timeout", "[2h]"},
		{one, "SET join = perfect", ""},
		{one, "SET LOCAL statement_timeout = 7", ""},
		{one, "RELEASE a", ""},
		{one, "SHOW join", "[perfect]"},
		{one, "COMMIT", ""},
		{one, "SHOW join", "[perfect]"},
		{one, "SHOW statement_timeout", "[2h]"},
		{one, "RESET join", ""},
		{one, "SHOW join", "[auto]"},
		{one, "SHOW statement_timeout", "[2h]"},
		// Outside of a transaction SET LOCAL changes nothing.
		{one, "SET LOCAL join = hash", ""},
		{one, "SHOW join", "[auto]"},
		{one, "SET LOCAL join = nested", "invalid value for join: no join \"nested\": take one of auto, perfect, hash, merge, loops, index (line 1, column 11)"},
		// The first SET of a session in a transaction.
		{other, "DISCARD ALL", ""},
		{other, "SHOW statement_timeout", "[0]"},
		{other, "BEGIN", ""},
		{other, "SET statement_timeout = 5000", ""},
		{other, "COMMIT", ""},
		{other, "SHOW statement_timeout", "[5s]"},
		{other, "RESET ALL", ""},
		{other, "SHOW statement_timeout", "[0]"},
	} {
		if got := ask(c.s, c.sql); got != c.want {
			t.Errorf("%d: %s: %q, not %q", i, c.sql, got, c.want)
		}
	}
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
