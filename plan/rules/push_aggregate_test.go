package rules_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
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

// Grouping first pays where a key has many rows, the groups are few, and the join leaves most rows.
func TestGroupingPays(t *testing.T) {
	big, scan := plantest.Numbered(t, "big", 20_000, func(i int) int { return i % 50 }, func(i int) int { return i % 4000 }, func(i int) int { return i })
	small, other := plantest.Numbered(t, "small", 50, func(i int) int { return i }, func(i int) int { return i % 10 })
	twice, several := plantest.Numbered(t, "twice", 100, func(i int) int { return i / 2 }, func(i int) int { return i % 10 })
	few, part := plantest.Numbered(t, "few", 2000, func(i int) int { return i % 20 })
	tables := map[string]*table.Table{"big": big, "small": small, "twice": twice, "few": few}
	e := &stats.Estimates{Table: func(s *plan.Scan) *table.Table { return tables[s.Table] }}
	col := func(i int) expr.Expr { return &expr.Column{Index: i, T: plantest.BigInt} }
	join := func(l, r plan.Node, on ...expr.Expr) plan.Node {
		return &plan.Join{Left: l, Right: r, On: plan.Conjunction(on)}
	}
	equal := plantest.Compare(col(0), expr.EQ, col(3))
	half := &plan.Filter{Input: scan, Where: plantest.Compare(col(2), expr.LT, plantest.Num(15_000))}
	rare := &plan.Filter{Input: scan, Where: plantest.Compare(col(2), expr.LT, plantest.Num(500))}
	for i, c := range []struct {
		rows plan.Node
		keys []expr.Expr
		in   plan.Node
		want [2]bool // by keys, and of all rows
	}{
		{scan, []expr.Expr{col(0)}, join(scan, other, equal), [2]bool{true, false}},
		{scan, []expr.Expr{col(0)}, join(scan, several, equal), [2]bool{true, true}}, // a row has several partners
		{half, []expr.Expr{col(0)}, join(half, other, equal), [2]bool{true, false}},
		{scan, []expr.Expr{col(0), &expr.Arith{Op: expr.Mod, L: col(2), R: plantest.Num(7), T: plantest.BigInt}}, join(scan, other, equal), [2]bool{true, false}},
		{scan, []expr.Expr{col(0), &expr.Arith{Op: expr.Mod, L: col(2), R: plantest.Num(7000), T: plantest.BigInt}}, join(scan, other, equal), [2]bool{}}, // too many groups
		{scan, []expr.Expr{col(1)}, join(scan, other, plantest.Compare(col(1), expr.EQ, col(3))), [2]bool{}},                                              // each of a few rows
		{rare, []expr.Expr{col(0)}, join(rare, other, equal), [2]bool{}},                                                                                  // few are left to group
		{scan, []expr.Expr{col(0)}, join(scan, &plan.Filter{Input: other, Where: plantest.Compare(col(0), expr.LT, plantest.Num(10))}, equal), [2]bool{}}, // few have partners
		{part, []expr.Expr{col(0)}, join(part, other, plantest.Compare(col(0), expr.EQ, col(1))), [2]bool{}},                                              // a small table
	} {
		if got := [2]bool{e.GroupingPays(c.rows, c.keys, &plan.Aggregate{Input: c.in, Keys: []expr.Expr{col(4)}}), e.GroupingPays(c.rows, c.keys, &plan.Aggregate{Input: c.in})}; got != c.want {
			t.Errorf("case %d: %t, want %t", i, got, c.want)
		}
	}
}
