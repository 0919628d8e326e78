package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// A query in FROM or WITH that only filters and joins, and is read once, becomes part of the query around it.
func TestInline(t *testing.T) {
	off, err := rules.ParseOff("inline")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, want string }{
		{"(SELECT k, x + 1 AS y FROM t WHERE x > 0) d WHERE y > 1", "Filter((x + 1) > 1) [Filter(x > 0) [Scan]]"},
		{"(SELECT t.k FROM t JOIN u ON t.k = u.k) d, v WHERE d.k = v.k", "Filter(k = k) [Join [Join [Scan Scan] Scan]]"},
		{"w WHERE x = 1", "Filter(x = 1) [Filter(k > 1) [Scan]]"},
		// What is computed on a side whose columns may become NULL, what groups or has a limit, and what is read twice stays apart.
		{"v LEFT JOIN (SELECT k, x + 1 AS y FROM t) d ON v.k = d.k", "left join [Scan Derived [Project [Scan]]]"},
		{"v LEFT JOIN (SELECT k, x FROM t) d ON v.k = d.k", "left join [Scan Scan]"},
		{"(SELECT k, COUNT(*) AS n FROM t GROUP BY k) d", "Derived [Project [Aggregate [Scan]]]"},
		{"(SELECT k FROM t LIMIT 2) d", "Derived [Limit(2) [Project [Scan]]]"},
		{"w a, w b WHERE a.k = b.k", "Filter(k = k) [Join [Derived [Project [Filter(k > 1) [Scan]]] Derived [Project [Filter(k > 1) [Scan]]]]]"},
	} {
		bound := func() plan.Node {
			stmts, err := sql.Parse("WITH w AS (SELECT k, x FROM t WHERE k > 1) SELECT COUNT(*) FROM " + c.from)
			if err != nil {
				t.Fatal(err)
			}
			n, err := stmts[0].Bind(joinable())
			if err != nil {
				t.Fatalf("%s: %v", c.from, err)
			}
			return n
		}
		if got := apart(rules.Inline(bound(), 0).Inputs()[0].Inputs()[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.from, got, c.want)
		}
		if n := bound(); rules.Inline(n, off) != n {
			t.Errorf("%s: the rule is off", c.from)
		}
	}
}
