package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A statement is refused where some row makes a check FALSE. The error names a check that the row makes FALSE, and no other check is
// before that for this row.
func TestSeveralChecks(t *testing.T) {
	const columns = 3
	rapid.Check(t, func(rt *rapid.T) {
		db := open(t, Options{Backend: "cpu"})
		defer db.Close()
		type check struct{ col, op, limit, long int }
		ops := []string{"<", ">", "<>"}
		checks := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) check {
			return check{rapid.IntRange(0, columns-1).Draw(r, "column"), rapid.IntRange(0, 2).Draw(r, "operator"), rapid.IntRange(0, 6).Draw(r, "limit"), rapid.SampledFrom([]int{0, 0, 0, 200}).Draw(r, "length")}
		}), 1, 8).Draw(rt, "checks")
		var list []string
		for i, c := range checks {
			list = append(list, fmt.Sprintf("CONSTRAINT c%d CHECK (x%d%s %s %d)", i, c.col, strings.Repeat(" + 0", c.long), ops[c.op], c.limit))
		}
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(-1, 7), columns, columns), 1, 5).Draw(rt, "rows") // -1 for NULL
		may := map[string]bool{}
		var values []string
		for _, row := range rows {
			first := slices.IndexFunc(checks, func(c check) bool {
				v := row[c.col]
				return v >= 0 && !(c.op == 0 && v < c.limit || c.op == 1 && v > c.limit || c.op == 2 && v != c.limit)
			})
			if first >= 0 {
				may[fmt.Sprintf("c%d", first)] = true
			}
			var cells []string
			for _, v := range row {
				cells = append(cells, strings.ReplaceAll(fmt.Sprint(v), "-1", "NULL"))
			}
			values = append(values, "("+strings.Join(cells, ", ")+")")
		}
		do(t, db, "CREATE TABLE t (x0 int, x1 int, x2 int, "+strings.Join(list, ", ")+")")
		do(t, db, "CREATE TABLE u (x0 int, x1 int, x2 int)")
		do(t, db, "INSERT INTO u VALUES "+strings.Join(values, ", "))
		add := "ADD " + strings.Join(list, ", ADD ")
		for _, text := range []string{"INSERT INTO t VALUES " + strings.Join(values, ", "), "ALTER TABLE u " + add} {
			_, err := db.Exec(context.Background(), text)
			ok := err == nil && len(may) == 0
			for name := range may {
				ok = ok || err != nil && strings.Contains(err.Error(), fmt.Sprintf("check constraint %q", name))
			}
			if !ok {
				rt.Fatalf("%s of %s: %v, want one of %v", text, list, err, may)
			}
		}
	})
}

// BenchmarkChecks inserts a row into a table of eight checks.
func BenchmarkChecks(b *testing.B) {
	db, err := Open(Options{Backend: "cpu", Calibrations: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	text := "CREATE TABLE t (a int, b int, c int, d int, CHECK (a > 0), CHECK (b > 0), CHECK (c > 0), CHECK (d > 0), CHECK (a < 9), CHECK (b < 9), CHECK (c < 9), CHECK (d <> a))"
	for b.Loop() {
		if _, err := db.Exec(context.Background(), text); err != nil {
			b.Fatal(err)
		}
		text = "INSERT INTO t VALUES (1, 2, 3, 4)"
	}
}
