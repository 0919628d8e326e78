package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
)

// script runs statements one after another in a session, and gives what each answers, or its error.
func script(s *engine.Session, text string) (list []string) {
	for rows, err := range s.Each(context.Background(), text) {
		var got []string
		if err == nil {
			var answer *engine.Result
			if answer, err = engine.Collect(rows, nil); err == nil {
				for _, r := range answer.Rows {
					got = append(got, strings.Trim(fmt.Sprint(r), "[]"))
				}
			}
		}
		if err != nil {
			got = []string{err.Error()}
		}
		list = append(list, strings.Join(got, ", "))
	}
	return list
}

// An EXECUTE takes no copy of the script that it stands in, nor of what is before its PREPARE.
func TestExecuteInLongScript(t *testing.T) {
	s := nestedDB(t, "cpu").Session()
	defer s.Close()
	text := "/*" + strings.Repeat("\n", 1<<20) + "*/ CREATE TABLE p (a int); PREPARE put AS INSERT INTO p VALUES ($1);" + strings.Repeat(" EXECUTE put(1);", 100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := script(s, text+" SELECT SUM(a) FROM p; EXECUTE put('x')")
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 50 {
		t.Errorf("%d MiB were allocated", took)
	}
	if want := `invalid input syntax for type integer: "x" (line 1048577, column 65)`; got[102] != "100" || got[103] != want {
		t.Errorf("%q", got[102:])
	}
}

// VACUUM takes the places of deleted rows, and reads answer the same; CHECKPOINT and ANALYZE change nothing.
func TestUpkeep(t *testing.T) {
	db := nestedDB(t, "cpu")
	s := db.Session()
	defer s.Close()
	got := script(s, `CREATE TABLE gone AS SELECT x FROM generate_series(1, 100000) g(x); DELETE FROM gone WHERE x % 3 = 0; VACUUM (FULL) gone; VACUUM ANALYZE; ANALYZE gone; CHECKPOINT;
SELECT COUNT(*), MAX(x), SUM(x) FROM gone; UPDATE gone SET x = -x WHERE x = 1; SELECT MIN(x) FROM gone; VACUUM "GONE"; BEGIN; VACUUM; ROLLBACK`)
	want := []string{"", "", "", "", "", "", "66667 100000 3333366667", "", "-1", `table GONE does not exist; did you mean gone? (line 2, column 112)`, "", "VACUUM cannot run inside a transaction block: COMMIT comes first", ""}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A Go value for a parameter that PREPARE declares, or whose type it infers, is assigned to that type. A parameter of a statement without PREPARE has
// the type of its Go value, as [Parameter] says.
func TestAssignedParameters(t *testing.T) {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Query(t.Context(), "EXECUTE put(1)"); err == nil || !strings.Contains(err.Error(), "EXECUTE is for a session") {
		t.Errorf("outside of a session: %v", err)
	}
	s := db.Session()
	defer s.Close()
	collect := func(text string, args ...any) (*engine.Result, error) {
		rows, err := s.Query(t.Context(), text, args...)
		return engine.Collect(rows, err)
	}
	for _, text := range []string{"CREATE TABLE a (i int, d numeric(9,2))", "INSERT INTO a VALUES (1, 1.5), (2, 2.5), (3, 3.5)",
		"PREPARE declared(int, text) AS SELECT $1 * 2, $2", "PREPARE inferred AS SELECT d FROM a WHERE i = $1", "PREPARE shared AS SELECT i FROM a WHERE i > $1 ORDER BY i",
		"PREPARE put AS UPDATE a SET d = $1 WHERE i = $2 RETURNING d"} {
		if _, err := collect(text); err != nil {
			t.Fatal(text, err)
		}
	}
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"EXECUTE declared", []any{1.5, "x"}, "[4|x]"},
		{"EXECUTE declared", []any{2.5, 7}, "[4|7]"}, // half to even, as of a double precision
		{"EXECUTE declared($1, $2)", []any{2.5, "y"}, "[4|y]"},
		{"EXECUTE declared($2, $1)", []any{"z", 3}, "[6|z]"},
		{"EXECUTE declared", []any{nil, nil}, "[NULL|NULL]"},
		{"EXECUTE declared", []any{1e10, "x"}, "integer out of range"},
		{"EXECUTE declared", []any{true, "x"}, "parameter $1 of type boolean cannot be coerced"},
		{"EXECUTE declared", []any{1}, "wrong number of parameters"},
		{"EXECUTE inferred", []any{1.6}, "[2.50]"},
		{"EXECUTE inferred", []any{2}, "[2.50]"},
		{"EXECUTE inferred", []any{2.5}, "[2.50]"},
		{"EXECUTE inferred", []any{int64(1) << 40}, "integer out of range"},
		{"EXECUTE shared", []any{1.5}, "[3]"},
		{"SELECT i FROM a WHERE i > $1 ORDER BY i", []any{1.5}, "[2 3]"},
		{"EXECUTE shared", []any{1.5}, "[3]"},
		{"SELECT $1 * 2", []any{0.25}, "[0.5]"},
		{"SELECT i FROM a ORDER BY i LIMIT $1", []any{1.5}, "[1 2]"},
		{"EXECUTE put", []any{1.005, 1.2}, "[1.01]"},
		{"EXECUTE put", []any{2.005, 2.2}, "[2.01]"},
		{"EXECUTE put", []any{1e10, 2.2}, "does not fit"},
	} {
		answer, err := collect(c.text, c.args...)
		got := fmt.Sprint(err)
		if err == nil {
			var rows []string
			for _, r := range answer.Rows {
				var texts []string
				for _, v := range r {
					texts = append(texts, v.String())
				}
				rows = append(rows, strings.Join(texts, "|"))
			}
			got = fmt.Sprint(rows)
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s with %v: %s, want %s", c.text, c.args, got, c.want)
		}
	}
}
