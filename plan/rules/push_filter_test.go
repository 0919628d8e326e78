package rules_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// joinable is a catalog of tables t, u and v with columns k, x and s.
func joinable() sql.Catalog {
	names := []string{"t", "u", "v"}
	return sql.Catalog{Names: names, Table: func(i int) (*table.Table, error) {
		return table.NewBuilder(names[i], []table.Field{
			{Name: "k", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.BigInt}}, {Name: "s", Type: table.Type{Kind: table.Varchar}},
		}, 0).Table(), nil
	}}
}

func TestPushFilter(t *testing.T) {
	for _, c := range []struct{ from, want string }{
		{"t, u WHERE t.k = u.k AND t.x > 1 AND u.s = 'a'",
			"Join(inner, t.k = u.k) [Filter(t.x > 1) [Scan(t)] Filter(u.s = 'a') [Scan(u)]]"},
		{"t, u, v WHERE t.k = v.k AND t.x = u.x",
			"Join(inner, t.k = v.k) [Join(inner, t.x = u.x) [Scan(t) Scan(u)] Scan(v)]"},
		{"t a JOIN t b ON a.k = b.k AND a.x < b.x AND b.x < 3",
			"Join(inner, (a.k = b.k) AND (a.x < b.x)) [Scan(t AS a) Filter(b.x < 3) [Scan(t AS b)]]"},
		// What may be NULL stays, and so does what decides who stands alone.
		{"t LEFT JOIN u ON t.k = u.k AND t.x = 1 AND u.x = 2 WHERE t.s = 'a' AND u.s IS NULL",
			"Filter(u.s IS NULL) [Join(left, (t.k = u.k) AND (t.x = 1)) [Filter(t.s = 'a') [Scan(t)] Filter(u.x = 2) [Scan(u)]]]"},
		{"t RIGHT JOIN u ON t.k = u.k AND t.x = 1 AND u.x = 2 WHERE u.s = 'a'",
			"Join(right, (t.k = u.k) AND (u.x = 2)) [Filter(t.x = 1) [Scan(t)] Filter(u.s = 'a') [Scan(u)]]"},
		{"t FULL JOIN u ON t.k = u.k AND t.x = 1 WHERE u.s IS NULL",
			"Filter(u.s IS NULL) [Join(full, (t.k = u.k) AND (t.x = 1)) [Scan(t) Scan(u)]]"},
		// A condition that NULL does not satisfy makes an inner join of an outer one.
		{"t LEFT JOIN u ON t.k = u.k WHERE u.x + 1 > 2", "Filter((u.x + 1) > 2) [Join(left, t.k = u.k) [Scan(t) Scan(u)]]"}, // may overflow: it stays
		{"t LEFT JOIN u ON t.k = u.k WHERE u.x BETWEEN 2 AND 3 OR u.s LIKE 'a'",
			"Join(inner, t.k = u.k) [Scan(t) Filter((u.x BETWEEN 2 AND 3) OR (u.s LIKE 'a')) [Scan(u)]]"},
		{"t LEFT JOIN u ON t.k = u.k WHERE u.x IN (2, 3) AND t.s = u.s",
			"Join(inner, (t.s = u.s) AND (t.k = u.k)) [Scan(t) Filter(u.x IN (2, 3)) [Scan(u)]]"},
		{"t FULL JOIN u ON t.k = u.k WHERE u.x > 2", "Join(right, t.k = u.k) [Scan(t) Filter(u.x > 2) [Scan(u)]]"},
		{"t FULL JOIN u ON t.k = u.k WHERE u.x > 2 AND t.x = 1", "Join(inner, t.k = u.k) [Filter(t.x = 1) [Scan(t)] Filter(u.x > 2) [Scan(u)]]"},
		// What may raise an error is not evaluated for more rows than before.
		{"t, u WHERE t.k = u.k AND 1 / u.x > 0", "Filter((1 / u.x) > 0) [Join(inner, t.k = u.k) [Scan(t) Scan(u)]]"},
		// Conditions go through several joins, with the columns' numbers there.
		{"(t LEFT JOIN u ON t.k = u.k) JOIN v ON v.k = t.k WHERE u.x = 1 AND v.s = 'b'",
			"Join(inner, v.k = t.k) [Join(inner, t.k = u.k) [Scan(t) Filter(u.x = 1) [Scan(u)]] Filter(v.s = 'b') [Scan(v)]]"},
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
		n = plan.Rewrite(n, rules.PushFilter)
		if got := nested(n.Inputs()[0].Inputs()[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.from, got, c.want)
		}
	}
}

// nested is a tree on one line.
func nested(n plan.Node) string {
	var below []string
	for _, in := range n.Inputs() {
		below = append(below, nested(in))
	}
	if below == nil {
		return n.String()
	}
	return n.String() + " [" + strings.Join(below, " ") + "]"
}
