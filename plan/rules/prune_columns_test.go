package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// A subquery gives the columns alone that are read, one at least, below a LIMIT, too. It does not where that takes more than
// leaving out select items, or where the rule is off.
func TestPruneColumns(t *testing.T) {
	prune, err := rules.ParseOff("prune")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text    string
		columns []int
		off     rules.Off
		want    string
	}{
		{"SELECT k, x, s FROM t", []int{2, 0}, 0, "s k"},
		{"SELECT k, x, s FROM t", nil, 0, "k"},
		{"SELECT k, x FROM t", []int{1, 0}, 0, "k x"}, // all are read
		{"SELECT k, x, s FROM t LIMIT 3", []int{1}, 0, "x"},
		{"SELECT k, SUM(x) AS n FROM t GROUP BY k", []int{1}, 0, "n"},
		{"SELECT DISTINCT k, x FROM t", []int{0}, 0, "k x"},
		{"SELECT k, x, s FROM t", []int{2}, prune, "k x s"},
	} {
		stmts, err := sql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		n, err := stmts[0].Bind(joinable())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, f := range rules.PruneColumns(n, c.columns, c.off).Fields() {
			got += map[bool]string{true: " "}[i > 0] + f.Name
		}
		if got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.text, c.columns, got, c.want)
		}
	}
}
