package rules_test

import (
	"math"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
)

// A Sort below a Limit is for its rows and those that it passes over.
func TestTopN(t *testing.T) {
	tab := plantest.Flights(t)
	sort := &plan.Sort{Input: &plan.Scan{Table: "flights", Columns: tab.Fields}, Keys: []expr.SortKey{{E: plantest.Col(tab, "delay")}}, Limit: -1}
	project := &plan.Project{Input: sort, Items: []plan.Item{{Name: "a", E: plantest.Col(tab, "a")}}}
	for _, c := range []struct {
		in   plan.Node
		want int64
	}{
		{&plan.Limit{Input: sort, Count: 10}, 10},
		{&plan.Limit{Input: project, Count: 10, Offset: 5}, 15},
		{&plan.Limit{Input: project, Count: 0}, 0},
		{&plan.Limit{Input: project, Count: -1, Offset: 5}, -1},
		{&plan.Limit{Input: project, Count: math.MaxInt64, Offset: 1}, -1},
		{&plan.Limit{Input: &plan.Filter{Input: sort, Where: plantest.Compare(plantest.Col(tab, "a"), 0, plantest.Num(1))}, Count: 1}, -1}, // which drops rows
		{project, -1},
	} {
		plan.Walk(rules.TopN(c.in), func(n plan.Node, _ int) {
			if s, ok := n.(*plan.Sort); ok && s.Limit != c.want {
				t.Errorf("%s over %s: for the first %d, want %d", c.in, s, s.Limit, c.want)
			}
		})
	}
	if sort.Limit != -1 {
		t.Error("the rule has changed its input")
	}
}
