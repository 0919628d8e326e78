package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// Conditions on a column hold for the columns that equal it, where rows are joined.
func TestInferFilter(t *testing.T) {
	for _, c := range []struct{ from, want string }{
		{"t, u WHERE t.k = u.k AND t.k = 5", "Join(inner, t.k = u.k) [Filter(t.k = 5) [Scan(t)] Filter(u.k = 5) [Scan(u)]]"},
		{"t JOIN u ON t.k = u.k AND t.k BETWEEN 1 AND 3 JOIN v ON v.x = u.k",
			"Join(inner, v.x = u.k) [Join(inner, t.k = u.k) [Filter(t.k BETWEEN 1 AND 3) [Scan(t)] Filter(u.k BETWEEN 1 AND 3) [Scan(u)]] Filter(v.x BETWEEN 1 AND 3) [Scan(v)]]"},
		{"t, u WHERE t.k = u.k AND t.k = u.x AND 5 > t.k AND u.k <> 2",
			"Join(inner, (t.k = u.k) AND (t.k = u.x)) [Filter((5 > t.k) AND (t.k <> 2)) [Scan(t)] Filter((u.k <> 2) AND (5 > u.k) AND (5 > u.x) AND (u.x <> 2)) [Scan(u)]]"},
		{"t LEFT JOIN u ON t.k = u.k WHERE t.k IN (1, 2)", "Join(left, t.k = u.k) [Filter(t.k IN (1, 2)) [Scan(t)] Filter(u.k IN (1, 2)) [Scan(u)]]"},
		// A condition of an outer join says nothing of the rows that stand alone.
		{"t LEFT JOIN u ON t.k = u.k AND u.k = 1", "Join(left, t.k = u.k) [Scan(t) Filter(u.k = 1) [Scan(u)]]"},
		{"t FULL JOIN u ON t.k = u.k AND t.k = 1", "Join(full, (t.k = u.k) AND (t.k = 1)) [Scan(t) Scan(u)]"},
		// Nor does one that is not with constants, nor one of NULL.
		{"t, u WHERE t.k = u.k AND t.k < u.x AND t.s IS NULL", "Join(inner, (t.k = u.k) AND (t.k < u.x)) [Filter(t.s IS NULL) [Scan(t)] Scan(u)]"},
		{"t, u WHERE t.s = u.s AND t.k = 5", "Join(inner, t.s = u.s) [Filter(t.k = 5) [Scan(t)] Scan(u)]"},
		{"t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k) AND t.k > 7", "Join(semi, k = k) [Filter(k > 7) [Scan(t)] Filter(k > 7) [Scan(u)]]"},
		{"t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.k > 3) AND t.k > 7", "Join(anti, k = k) [Filter(k > 7) [Scan(t)] Filter((k > 3) AND (k > 7)) [Scan(u)]]"},
	} {
		stmts, err := sql.Parse("SELECT COUNT(*) FROM " + c.from)
		if err != nil {
			t.Fatal(err)
		}
		n, err := stmts[0].Bind(joinable())
		if err != nil {
			t.Errorf("%s: %v", c.from, err)
			continue
		}
		n = plan.Rewrite(plan.Rewrite(n, rules.InferFilter), rules.PushFilter)
		if got := nested(n.Inputs()[0].Inputs()[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.from, got, c.want)
		}
	}
}
