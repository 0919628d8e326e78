package stats_test

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// The range and the uniqueness of a key are those of the column that it comes from, through the nodes that hand it on.
func TestKeysOfNodes(t *testing.T) {
	users, user := plantest.Numbered(t, "user", 1000, func(i int) int { return 5 * i }, func(i int) int { return i % 10 })
	col := func(i int) expr.Expr { return &expr.Column{Index: i, T: plantest.BigInt} }
	key := func(i int) expr.Expr { return &expr.AggRef{Index: i, Key: col(i), T: plantest.BigInt} }
	item := func(e expr.Expr) plan.Item { return plan.Item{Name: "c", E: e} }
	some := &plan.Filter{Input: user, Where: plantest.Compare(col(1), expr.LT, plantest.Num(5))}
	groups := &plan.Aggregate{Input: user, Keys: []expr.Expr{col(1), col(0)}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
	derived := func(n plan.Node) plan.Node { return &plan.Derived{Of: &plan.Subplan{Tree: n}} }
	for _, c := range []struct {
		name   string
		n      plan.Node
		keys   []expr.Expr
		span   float64 // 0 for none
		unique bool
	}{
		{"a key", user, []expr.Expr{col(0)}, 4996, true},
		{"a column that is none", user, []expr.Expr{col(1)}, 10, false},
		{"with another column", user, []expr.Expr{col(1), col(0)}, 10, true},
		{"below a filter", some, []expr.Expr{col(0)}, 4996, true},
		{"below a limit of a sort", &plan.Limit{Input: &plan.Sort{Input: user, Limit: -1}, Count: 3}, []expr.Expr{col(0)}, 4996, true},
		{"of a select list", &plan.Project{Input: some, Items: []plan.Item{item(col(1)), item(col(0))}}, []expr.Expr{col(1)}, 4996, true},
		{"computed", &plan.Project{Input: user, Items: []plan.Item{item(plantest.Arith(col(0), expr.Add, col(1)))}}, []expr.Expr{col(0)}, 0, false},
		{"of groups by another one, too", groups, []expr.Expr{key(1)}, 4996, false},
		{"all keys of groups", derived(groups), []expr.Expr{col(0), col(1)}, 10, true},
		{"an aggregate", groups, []expr.Expr{&expr.AggRef{Index: 2, T: plantest.BigInt}}, 0, false},
		{"of a semi join", &plan.Join{Kind: plan.Semi, Left: user, Right: some}, []expr.Expr{col(0)}, 4996, true},
		{"of a join, which may repeat it", &plan.Join{Left: user, Right: some}, []expr.Expr{col(0)}, 4996, false},
		{"of a join's right side", &plan.Join{Left: user, Right: some}, []expr.Expr{col(3)}, 10, false},
		{"of a window's input", &plan.Window{Input: user}, []expr.Expr{col(0)}, 4996, false},
		{"of rows of constants", &plan.Values{Columns: user.Columns}, []expr.Expr{col(0)}, 0, false},
		{"no key", user, nil, 0, false},
	} {
		e := &stats.Estimates{Table: func(*plan.Scan) *table.Table { return users }}
		if unique := e.UniqueKey(c.n, c.keys); unique != c.unique {
			t.Errorf("%s: unique %v", c.name, unique)
		}
		if len(c.keys) == 0 {
			continue
		}
		if span, ok := e.KeyRange(c.n, c.keys[0]); span != c.span || ok != (c.span > 0) {
			t.Errorf("%s: a range of %v, %v; want %v", c.name, span, ok, c.span)
		}
	}
}
