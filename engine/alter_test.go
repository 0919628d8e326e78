package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// ALTER TABLE binds no default that the table has had before, and those whose column is of another type.
func TestAlterBindsOneDefault(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	took := func(name, rule string) uint64 {
		var columns []string
		for i := range 200 {
			columns = append(columns, fmt.Sprintf("c%d int%s", i, rule))
		}
		var before, after runtime.MemStats
		steps(t, db, [][2]string{{fmt.Sprintf("CREATE TABLE %s (%s)", name, strings.Join(columns, ", ")), ""}})
		runtime.ReadMemStats(&before)
		for i := range 10 {
			steps(t, db, [][2]string{{fmt.Sprintf("ALTER TABLE %s ADD COLUMN d%d int DEFAULT 1", name, i), ""}})
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if none, all := took("a", ""), took("b", " DEFAULT 1"); all > 2*none {
		t.Errorf("%d bytes are allocated where columns have no defaults, %d where they have", none, all)
	}
	steps(t, db, [][2]string{
		{"ALTER TABLE b ALTER c0 TYPE date USING NULL", `!the default of column "c0" cannot be of type date; ALTER COLUMN c0 DROP DEFAULT comes first (line 1, column 21)`},
		{"ALTER TABLE b ALTER c1 SET DEFAULT (SELECT 1)", "!cannot use subquery in DEFAULT expression (line 1, column 28)"},
		{"ALTER TABLE b ALTER c1 SET DEFAULT 'x'", `!invalid input syntax for type integer: "x"`},
		{"ALTER TABLE b RENAME c1 TO d", ""},
		{"INSERT INTO b (c0) VALUES (5)", ""},
		{"SELECT c0, d, c2, d9 FROM b", "5|1|1|1"},
	})
}
