package stats_test

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

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
