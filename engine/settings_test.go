package engine

import (
	"context"
	"errors"
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
		{"SHOW ALL", []string{
			"[backend cpu what computes the answer: auto, classic, fused, compute, cpu or both]",
			"[disable_rule  rules that plans do without, as 'push filter, unnest'; SHOW RULES lists them]",
			"[host_memory 2147483648 bytes for tables in host memory, and for sorting; 0 for no limit]",
			"[join auto the algorithm of joins: auto, perfect, hash, merge, loops or index; perfect is hash where keys are not dense, index on cpu is auto where there is none]",
			"[statement_timeout 0 ends a statement that takes longer: milliseconds, or as '1.5s', '2min'; 0 for no limit]"}},
		{"SET disable_rule = 'Push  filter,unnest'", nil},
		{"SHOW disable_rule", []string{"[unnest, push filter]"}},
		{"SET disable_rule = 'pull filter'", []string{`invalid value for disable_rule: no rule "pull filter": take some of unnest, inline, prune, push into, limit into, factor, infer filter, push filter, push semi, group distinct, top rows, push limit (line 1, column 5)`}},
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
		{"SHOW work_mem", []string{`unrecognized configuration parameter "work_mem"; there are backend, disable_rule, host_memory, join, statement_timeout (line 1, column 6)`}},
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
	if _, err := db.Exec(ctx, "SET statement_timeout = '1us'"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, "SELECT COUNT(*) FROM typed WHERE big > 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if _, err := db.Exec(ctx, "RESET statement_timeout"); err != nil {
		t.Errorf("RESET: %v", err)
	}
	if _, err := db.Exec(ctx, "SELECT COUNT(*) FROM typed WHERE big > 1"); err != nil {
		t.Error(err)
	}
}
