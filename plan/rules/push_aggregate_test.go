package rules_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

// whole is nested with what subplans have in it.
func whole(n plan.Node) string {
	if d, ok := n.(*plan.Derived); ok {
		return d.String() + " [" + whole(d.Of.Tree) + "]"
	}
	var below []string
	for _, in := range n.Inputs() {
		below = append(below, whole(in))
	}
	if below == nil {
		return n.String()
	}
	return n.String() + " [" + strings.Join(below, " ") + "]"
}

// Rows are grouped by what joins, conditions and keys read of them, and the aggregates are made of those of the groups.
func TestPushAggregate(t *testing.T) {
	always := func(plan.Node, []expr.Expr, *plan.Aggregate) bool { return true }
	for _, c := range []struct{ sql, want string }{
		{"SELECT u.x, SUM(t.x) FROM t JOIN u ON t.k = u.k GROUP BY u.x",
			`Project(u.x AS x, SUM("SUM(t.x)") AS sum) [Aggregate(SUM("SUM(t.x)") GROUP BY u.x) [Join(inner, t.k = u.k) [` +
				`Derived(t) [Project(t.k AS k, SUM(t.x) AS "SUM(t.x)") [Aggregate(SUM(t.x) GROUP BY t.k) [Scan(t)]]] Scan(u)]]]`},
		{"SELECT SUM(t.x) / COUNT(*) FROM u JOIN t ON t.k = u.k WHERE t.s = 'a' HAVING COUNT(*) > 1",
			`Project(SUM("SUM(t.x)") / CAST(coalesce(CAST(SUM("COUNT(*)") AS bigint), 0) AS numeric(18,0))) [Filter(coalesce(CAST(SUM("COUNT(*)") AS bigint), 0) > 1) [` +
				`Aggregate(SUM("SUM(t.x)"), SUM("COUNT(*)")) [Join(inner, t.k = u.k) [Scan(u) ` +
				`Derived(t) [Project(t.k AS k, SUM(t.x) AS "SUM(t.x)", COUNT(*) AS "COUNT(*)") [Aggregate(SUM(t.x), COUNT(*) GROUP BY t.k) [Filter(t.s = 'a') [Scan(t)]]]]]]]]`},
		// A sum and an average share what they are made of; keys that are computed of the rows alone are keys of theirs.
		{"SELECT t.x % 3, u.s, SUM(t.x), AVG(t.x) FROM t JOIN u ON t.k = u.k AND t.s > u.s GROUP BY 1, 2",
			`Project("t.x % 3", u.s AS s, SUM("SUM(t.x)") AS sum, SUM("SUM(t.x)") / SUM("COUNT(t.x)") AS avg) [` +
				`Aggregate(SUM("SUM(t.x)"), SUM("COUNT(t.x)") GROUP BY "t.x % 3", u.s) [Join(inner, (t.k = u.k) AND (t.s > u.s)) [` +
				`Derived(t) [Project(t.k AS k, t.s AS s, t.x % 3 AS "t.x % 3", SUM(t.x) AS "SUM(t.x)", COUNT(t.x) AS "COUNT(t.x)") [Aggregate(SUM(t.x), COUNT(t.x) GROUP BY t.k, t.s, t.x % 3) [Scan(t)]]] Scan(u)]]]`},
		// Extremes may be of any table, and counts of other ones count groups' rows.
		{"SELECT MIN(t.x), MAX(u.x), COUNT(u.x), COUNT(*) FILTER (WHERE t.x > 1) FROM t JOIN u ON t.k = u.k",
			`Project(MIN("MIN(t.x)") AS min, MAX(u.x) AS max, coalesce(CAST(SUM("COUNT(*)") FILTER (WHERE u.x IS NOT NULL) AS bigint), 0) AS count, ` +
				`coalesce(CAST(SUM("COUNT(*) FILTER (WHERE t.x > 1)") AS bigint), 0) AS count) [` +
				`Aggregate(MIN("MIN(t.x)"), MAX(u.x), SUM("COUNT(*)") FILTER (WHERE u.x IS NOT NULL), SUM("COUNT(*) FILTER (WHERE t.x > 1)")) [Join(inner, t.k = u.k) [` +
				`Derived(t) [Project(t.k AS k, MIN(t.x) AS "MIN(t.x)", COUNT(*) AS "COUNT(*)", COUNT(*) FILTER (WHERE t.x > 1) AS "COUNT(*) FILTER (WHERE t.x > 1)") [` +
				`Aggregate(MIN(t.x), COUNT(*), COUNT(*) FILTER (WHERE t.x > 1) GROUP BY t.k) [Scan(t)]]] Scan(u)]]]`},
		// The side that an outer join keeps.
		{"SELECT u.s, SUM(t.x) FROM u RIGHT JOIN t ON t.k = u.k GROUP BY u.s",
			`Project(u.s AS s, SUM("SUM(t.x)") AS sum) [Aggregate(SUM("SUM(t.x)") GROUP BY u.s) [Join(right, t.k = u.k) [Scan(u) ` +
				`Derived(t) [Project(t.k AS k, SUM(t.x) AS "SUM(t.x)") [Aggregate(SUM(t.x) GROUP BY t.k) [Scan(t)]]]]]]`},
		{"SELECT u.s, SUM(t.x) FROM u LEFT JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT u.s, SUM(t.x) FROM u FULL JOIN t ON t.k = u.k GROUP BY u.s", ""},
		// What is not made of sums and extremes of one table.
		{"SELECT u.s, COUNT(DISTINCT t.x) FROM u JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT u.s, SUM(t.x * u.x) FROM u JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT u.s, SUM(t.x), SUM(u.x) FROM u JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT u.s, SUM(t.x) FILTER (WHERE u.x > 1) FROM u JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT u.s, SUM(t.x::double precision) FROM u JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT u.s, MEDIAN(t.x) FROM u JOIN t ON t.k = u.k GROUP BY u.s", ""},
		{"SELECT MAX(t.x) FROM u CROSS JOIN t", ""}, // no rows would be a group
		{"SELECT s, SUM(x) FROM t GROUP BY s", ""},
		{"SELECT t.x FROM t JOIN u ON t.k = u.k", ""},
	} {
		stmts, err := sql.Parse(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		n, err := stmts[0].Bind(joinable())
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		n = plan.Rewrite(n, rules.PushFilter)
		got := rules.PushAggregate(n, 0, always)
		if c.want == "" {
			c.want = whole(n)
		}
		if whole(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, whole(got), c.want)
		}
		for i, f := range n.Fields() {
			if got.Fields()[i] != f {
				t.Errorf("%s: the column %v is %v", c.sql, f, got.Fields()[i])
			}
		}
		if again := rules.PushAggregate(plan.DerivedAsScans(got), 0, always); c.want != whole(n) && strings.Count(whole(plan.DerivedAsScans(got)), "Project") != strings.Count(whole(again), "Project") {
			t.Errorf("%s: groups are grouped again: %s", c.sql, whole(again))
		}
		off, err := rules.ParseOff("push aggregate")
		if err != nil {
			t.Fatal(err)
		}
		if without := rules.PushAggregate(n, off, always); without != n {
			t.Errorf("%s: without the rule %s", c.sql, whole(without))
		}
	}
}
