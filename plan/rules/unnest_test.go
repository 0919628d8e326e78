package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// EXISTS and IN become semi and anti joins. A subquery of one value that reads nothing around it stays. One that compares with
// columns around it is grouped by its own and joined. Without the rule it is joined to the different values of these.
func TestUnnest(t *testing.T) {
	off, err := rules.ParseOff("unnest")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		where, want string
		off         rules.Off
	}{
		{"EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.x > 1)", "semi join [Scan Filter(x > 1) [Scan]]", 0},
		{"NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.x <> t.x)", "anti join [Scan Scan]", 0},
		{"k IN (SELECT x FROM u)", "semi join [Scan Scan]", 0},
		{"k IN (SELECT SUM(x) FROM u GROUP BY k)", "semi join [Scan Derived [Project [Aggregate [Scan]]]]", 0},
		{"x > (SELECT MAX(x) FROM u)", "Filter(x > ((subquery 1))) [Scan]", 0},
		{"x > (SELECT MAX(x) FROM u WHERE u.k = t.k)", "Filter(x > \"MAX(x)\") [left join [Scan Derived [Project [Aggregate [Derived [Project [Filter(k IS NOT NULL) [Scan]]]]]]]]", 0},
		{"x > (SELECT COUNT(*) FROM u WHERE u.k = t.k)", "Filter(x > coalesce(\"COUNT(*)\", 0)) [left join [Scan Derived [Project [Aggregate [Derived [Project [Filter(k IS NOT NULL) [Scan]]]]]]]]", 0},
		{"EXISTS (SELECT 1 FROM u WHERE u.k = t.k)", "Filter(coalesce(\"COUNT(*)\", 0) > 0) [left join [Scan Derived [Project [Aggregate [Derived [Project [Filter(k = k) [Join [Scan Derived [Project [Aggregate [Scan]]]]]]]]]]]]", off},
	} {
		stmts, err := sql.Parse("SELECT COUNT(*) FROM t WHERE " + c.where)
		if err != nil {
			t.Fatal(err)
		}
		catalog := joinable()
		catalog.Off = c.off
		n, err := stmts[0].Bind(catalog)
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
			continue
		}
		if got := apart(n.Inputs()[0].Inputs()[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.where, got, c.want)
		}
	}
}
