package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
)

func TestFactor(t *testing.T) {
	const joined = " [Join(cross) [Scan(t) Scan(u)]]"
	for _, c := range []struct{ from, want string }{
		{"t, u WHERE t.k = u.k AND t.x = 1 OR t.k = u.k AND t.x = 2",
			"Filter((t.k = u.k) AND ((t.x = 1) OR (t.x = 2)))" + joined},
		{"t, u WHERE t.k = u.k AND t.x = 1 AND u.s = 'a' OR t.k = u.k AND t.x = 2 AND u.s = 'b'",
			"Filter((t.k = u.k) AND ((t.x = 1) OR (t.x = 2)) AND ((u.s = 'a') OR (u.s = 'b')) AND (((t.x = 1) AND (u.s = 'a')) OR ((t.x = 2) AND (u.s = 'b'))))" + joined},
		// A table that one operand has no condition over is not filtered.
		{"t, u WHERE t.x = 1 AND u.s = 'a' OR t.x = 2",
			"Filter(((t.x = 1) OR (t.x = 2)) AND (((t.x = 1) AND (u.s = 'a')) OR (t.x = 2)))" + joined},
		// One that is a part of the other operands decides them.
		{"t, u WHERE t.k = u.k OR t.k = u.k AND t.x = 2", "Filter(t.k = u.k)" + joined},
		{"t a, t b WHERE a.x = 1 AND b.x = 2 OR a.x = 2 AND b.x = 1",
			"Filter(((a.x = 1) OR (a.x = 2)) AND ((b.x = 2) OR (b.x = 1)) AND (((a.x = 1) AND (b.x = 2)) OR ((a.x = 2) AND (b.x = 1)))) [Join(cross) [Scan(t AS a) Scan(t AS b)]]"},
		{"t a, t b WHERE a.x < b.x AND a.k = 1 OR b.x < a.x AND a.k = 1", "Filter((a.k = 1) AND ((a.x < b.x) OR (b.x < a.x))) [Join(cross) [Scan(t AS a) Scan(t AS b)]]"},
		// Conditions that may raise an error are evaluated in their order.
		{"t, u WHERE t.x = 0 AND u.x > 1 OR 1 / t.x = 1 AND u.x > 1", "Filter(((t.x = 0) AND (u.x > 1)) OR (((1 / t.x) = 1) AND (u.x > 1)))" + joined},
		{"t WHERE k = 1 AND x = 1 OR k = 1 AND x = 2", "Filter(((k = 1) AND (x = 1)) OR ((k = 1) AND (x = 2))) [Scan(t)]"},
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
		n = plan.Rewrite(n, rules.Factor)
		if got := nested(n.Inputs()[0].Inputs()[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.from, got, c.want)
		}
	}
}
