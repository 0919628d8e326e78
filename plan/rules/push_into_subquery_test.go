package rules_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// apart is a tree on one line, with those of the subplans that it reads.
func apart(n plan.Node) string {
	name, _, _ := strings.Cut(n.String(), "(")
	switch n := n.(type) {
	case *plan.Filter, *plan.Limit:
		name = n.String()
	case *plan.Join:
		if n.Kind != plan.Inner {
			name = n.Kind.String() + " join"
		}
	}
	var below []string
	for _, in := range n.Inputs() {
		below = append(below, apart(in))
	}
	if d, ok := n.(*plan.Derived); ok {
		below = append(below, apart(d.Of.Tree))
	}
	if below == nil {
		return name
	}
	return name + " [" + strings.Join(below, " ") + "]"
}

// Conditions go into a subquery as far as the rows that they leave out make no difference to others.
func TestPushIntoSubquery(t *testing.T) {
	for _, c := range []struct{ from, want string }{
		{"(SELECT k, x FROM t) d WHERE k > 1", "Derived [Project [Filter(k > 1) [Scan]]]"},
		{"(SELECT k, SUM(x) AS s FROM t WHERE x > 0 GROUP BY k) d WHERE k > 1 AND s < 9 AND s > k",
			"Derived [Project [Filter(SUM(x) < 9) [Filter(SUM(x) > CAST(k AS numeric(18,0))) [Aggregate [Filter(x > 0) [Filter(k > 1) [Scan]]]]]]]"},
		{"(SELECT COUNT(*) AS n FROM t) d WHERE n > 1", "Derived [Project [Filter(COUNT(*) > 1) [Aggregate [Scan]]]]"},
		{"(SELECT DISTINCT k, x FROM t ORDER BY k) d WHERE x = 2", "Derived [Sort [Distinct [Project [Filter(x = 2) [Scan]]]]]"},
		{"(SELECT k FROM t UNION ALL SELECT x FROM u) d WHERE k = 2", "Derived [Project [Derived [Concat [Project [Filter(k = 2) [Scan]] Project [Filter(x = 2) [Scan]]]]]]"},
		{"(SELECT k FROM t EXCEPT SELECT x FROM u) d WHERE k = 2",
			"Derived [Project [Filter((SUM(side) > 0) AND (SUM(side) = 0)) [Aggregate [Derived [Concat [Project [Derived [Project [Filter(k = 2) [Scan]]]] Project [Derived [Project [Filter(x = 2) [Scan]]]]]]]]]]"},
		// Below LIMIT and DISTINCT ON they would let in other rows; 1 / x may fail for rows that nobody asked for.
		{"(SELECT k FROM t LIMIT 3) d WHERE k = 2", "Filter(k = 2) [Derived [Limit(3) [Project [Scan]]]]"},
		{"(SELECT DISTINCT ON (k) k, x FROM t ORDER BY k) d WHERE x = 2", "Filter(x = 2) [Derived [Project [Sort [Scan]]]]"},
		{"(SELECT k, MAX(1 / x) AS x FROM t GROUP BY k) d WHERE 1 / k > 2", "Filter((1 / k) > 2) [Derived [Project [Aggregate [Scan]]]]"},
		// What is read twice stays whole.
		{"w JOIN w AS v ON w.k = v.x WHERE w.k > 1", "Join [Filter(w.k > 1) [Derived [Project [Aggregate [Scan]]]] Derived [Project [Aggregate [Scan]]]]"},
	} {
		stmts, err := sql.Parse("WITH w AS (SELECT k, MAX(x) AS x FROM t GROUP BY k) SELECT COUNT(*) FROM " + c.from)
		if err != nil {
			t.Fatal(err)
		}
		n, err := stmts[0].Bind(joinable())
		if err != nil {
			t.Errorf("%s: %v", c.from, err)
			continue
		}
		n = plan.Rewrite(n, rules.PushFilter)
		n = rules.PushIntoSubquery(n, rules.CountReaders(n), 0)
		if got := apart(n.Inputs()[0].Inputs()[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.from, got, c.want)
		}
	}
}
