package stats_test

import (
	"math"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// Estimates are near the rows that there are, for each kind of node.
func TestEstimates(t *testing.T) {
	self := func(i int) int { return i }
	mod := func(n int) func(int) int { return func(i int) int { return i * 7919 % n } }
	users, user := plantest.Numbered(t, "user", 1000, self, mod(10), mod(50)) // a key, a country of 10, an age of 50
	again := &plan.Scan{Table: "user", As: "again", Columns: user.Columns}
	orders, order := plantest.Numbered(t, "order", 20_000, self, mod(1000), mod(8))                         // a key, a user, a shop of 8
	lines, line := plantest.Numbered(t, "line", 6000, mod(1500), func(i int) int { return i / 1500 }, self) // an order, its line
	tables := map[string]*table.Table{"user": users, "order": orders, "line": lines}
	col := func(i int) expr.Expr { return &expr.Column{Index: i, T: plantest.BigInt} }
	is := func(i int, v int64) expr.Expr { return plantest.Compare(col(i), expr.EQ, plantest.Num(v)) }
	equal := func(l, r int) expr.Expr { return plantest.Compare(col(l), expr.EQ, col(r)) }
	join := func(kind plan.JoinKind, l, r plan.Node, on ...expr.Expr) *plan.Join {
		return &plan.Join{Kind: kind, Left: l, Right: r, On: plan.Conjunction(on)}
	}
	group := func(in plan.Node, keys ...expr.Expr) *plan.Aggregate {
		return &plan.Aggregate{Input: in, Keys: keys, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
	}
	young := &plan.Filter{Input: user, Where: plantest.Compare(col(2), expr.LT, plantest.Num(5))}
	both := join(plan.Inner, user, order, equal(0, 4))
	subquery := &plan.Derived{Of: &plan.Subplan{Tree: &plan.Project{Input: group(order, col(1)), Items: []plan.Item{{Name: "u", E: &expr.AggRef{Index: 0, Key: col(1), T: plantest.BigInt}}}}}, As: "d"}
	for i, c := range []struct {
		node plan.Node
		rows float64
	}{
		{user, 1000},
		{young, 100},
		{&plan.Filter{Input: order, Where: is(2, 3)}, 2500},
		{&plan.Filter{Input: order, Where: plantest.And(is(2, 3), plantest.Compare(col(0), expr.LT, plantest.Num(10_000)))}, 1250},
		{&plan.Filter{Input: order, Where: is(0, 3)}, 1},
		{&plan.Filter{Input: order, Where: &expr.In{X: col(0), List: []*expr.Const{plantest.Num(1), plantest.Num(2), plantest.Num(3)}}}, 3},
		{both, 20_000},
		{join(plan.Inner, young, order, equal(0, 4)), 2000},
		{join(plan.Inner, join(plan.Inner, young, order, equal(0, 4)), line, equal(3, 6)), 600},
		{join(plan.Inner, join(plan.Inner, user, order, equal(0, 4)), again, equal(4, 6), equal(0, 6)), 20_000}, // the second follows
		{join(plan.LeftOuter, user, order, equal(0, 4)), 20_000},
		{join(plan.LeftOuter, order, line, equal(0, 3)), 24_500},
		{join(plan.FullOuter, order, line, equal(0, 3)), 24_500},
		{join(plan.RightOuter, order, line, equal(0, 3)), 6000},
		{join(plan.Semi, order, line, equal(0, 3)), 1500},
		{join(plan.Anti, order, line, equal(0, 3)), 18_500},
		{join(plan.Semi, user, order, equal(0, 4)), 1000},
		{join(plan.Semi, order, young, equal(1, 3)), 2000},
		{join(plan.Inner, user, user), 1_000_000},
		{join(plan.Inner, user, order, plantest.Compare(col(0), expr.LT, col(4))), 10_000_000},
		{group(order, col(1)), 1000},
		{group(order), 1},
		{group(order, col(1), col(2)), 8000},
		{group(both, col(0), col(1), col(2)), 1000},
		{group(both, col(3), col(0), col(1)), 20_000}, // an order has one user
		{group(user, plantest.Arith(col(2), expr.Mod, plantest.Num(5))), 5},
		{&plan.Filter{Input: group(order, col(1)), Where: plantest.Compare(&expr.AggRef{Index: 1, T: plantest.BigInt}, expr.GT, plantest.Num(20))}, 500},
		{&plan.Limit{Input: order, Offset: 5, Count: 10}, 10},
		{&plan.Limit{Input: user, Offset: 990, Count: 100}, 10},
		{&plan.Distinct{Input: &plan.Project{Input: order, Items: []plan.Item{{Name: "s", E: col(2)}}}}, 8},
		{&plan.Concat{Of: []plan.Node{user, order}}, 21_000},
		{subquery, 1000},
		{join(plan.Inner, user, subquery, equal(0, 3)), 1000},
		{&plan.Filter{Input: user, Where: &expr.Const{V: table.Bool(false)}}, 0},
		{&plan.Filter{Input: user, Where: &expr.Outer{X: is(0, 1), Level: 1}}, 333},
	} {
		e := &stats.Estimates{Table: func(s *plan.Scan) *table.Table { return tables[s.Table] }}
		if got := e.Rows(c.node); math.Max((got+1)/(c.rows+1), (c.rows+1)/(got+1)) > 1.3 {
			t.Errorf("%d: %s: %.1f rows, not %.0f", i, c.node, got, c.rows)
		}
	}
	unknown := &stats.Estimates{Table: func(s *plan.Scan) *table.Table { return nil }}
	if got := unknown.Rows(join(plan.Inner, young, order, equal(0, 4))); !(got > 0) {
		t.Errorf("tables of which nothing is known: %v rows", got)
	}
}
