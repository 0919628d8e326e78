package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// Each query of a UNION ALL below a LIMIT has a limit. It has where the rows of both are read once and no row can raise an
// error.
func TestPushLimitIntoUnion(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT k FROM t UNION ALL SELECT x FROM u LIMIT 3 OFFSET 2", "Project [Limit(3 OFFSET 2) [Derived [Concat [Project [Limit(5) [Scan]] Project [Limit(5) [Scan]]]]]]"},
		{"SELECT k FROM t UNION ALL SELECT x FROM u UNION ALL SELECT k FROM v LIMIT 1", "Project [Limit(1) [Derived [Concat [Project [Limit(1) [Scan]] Project [Limit(1) [Scan]] Project [Limit(1) [Scan]]]]]]"},
		{"SELECT k FROM t UNION ALL (SELECT x FROM u LIMIT 9) LIMIT 4", "Project [Limit(4) [Derived [Concat [Project [Limit(4) [Scan]] Limit(4) [Project [Scan]]]]]]"},
		{"SELECT k FROM t UNION ALL (SELECT x FROM u OFFSET 2) LIMIT 4", "Project [Limit(4) [Derived [Concat [Project [Limit(4) [Scan]] Limit(4) [Limit(OFFSET 2) [Project [Scan]]]]]]]"},
		{"SELECT k FROM t UNION ALL SELECT 1 / x FROM u LIMIT 4", "Project [Limit(4) [Derived [Concat [Project [Limit(4) [Scan]] Project [Scan]]]]]"},
		{"SELECT k FROM t UNION ALL SELECT x FROM u ORDER BY 1 LIMIT 4", "Project [Limit(4) [Sort [Derived [Project [Derived [Concat [Project [Scan] Project [Scan]]]]]]]]"},
		{"SELECT k FROM t UNION SELECT x FROM u LIMIT 4", "Limit(4) [Project [Aggregate [Derived [Concat [Project [Scan] Project [Scan]]]]]]"},
		{"WITH w AS (SELECT k FROM t UNION ALL SELECT x FROM u) SELECT a.k FROM w a JOIN w b ON a.k = b.k LIMIT 4", "Project [Limit(4) [Join [Derived [Project [Derived [Concat [Project [Scan] Project [Scan]]]]] Derived [Project [Derived [Concat [Project [Scan] Project [Scan]]]]]]]]"},
	} {
		n := limits(t, c.text)
		if n != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, n, c.want)
		}
	}
}

// limits is a statement's tree after the rule, with that of the subplan it reads.
func limits(t *testing.T, text string) string {
	stmts, err := sql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	n, err := stmts[0].Bind(joinable())
	if err != nil {
		t.Fatal(err)
	}
	n = plan.Rewrite(n, rules.PushLimit)
	return apart(rules.PushLimitIntoUnion(n, rules.CountReaders(n), 0))
}

// The rows of a chain of UNIONs become different ones once, where those to the right are constants.
func TestUnionOfRows(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT k FROM t UNION SELECT 1 UNION ALL SELECT 1 UNION SELECT 2", "Project [Aggregate [Derived [Concat [Project [Derived [Concat [Project [Aggregate [Derived [Concat [Project [Scan] Project [Values]]]]] Project [Values]]]] Project [Values]]]]]"},
		{"SELECT k FROM t UNION SELECT 1 UNION SELECT 2 UNION SELECT 3", "Project [Aggregate [Derived [Concat [Project [Scan] Project [Values] Project [Values] Project [Values]]]]]"},
		{"SELECT k FROM t UNION SELECT 1 UNION SELECT x FROM u", "Project [Aggregate [Derived [Concat [Project [Aggregate [Derived [Concat [Project [Scan] Project [Values]]]]] Project [Scan]]]]]"},
		{"(SELECT k FROM t UNION SELECT 1 LIMIT 1) UNION SELECT 2", "Project [Aggregate [Derived [Concat [Limit(1) [Project [Aggregate [Derived [Concat [Project [Scan] Project [Values]]]]]] Project [Values]]]]]"},
	} {
		if n := limits(t, c.text); n != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, n, c.want)
		}
	}
}
