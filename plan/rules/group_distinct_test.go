package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// DISTINCT over rows of a table is grouping by the select list; over groups it stays.
func TestGroupDistinct(t *testing.T) {
	tab := plantest.Flights(t)
	a := plantest.Col(tab, "a")
	items := []plan.Item{{Name: "a", E: a}, {Name: "again", E: a}, {Name: "one", E: plantest.Num(1)}}
	filter := &plan.Filter{Input: &plan.Scan{Table: "flights", Columns: tab.Fields}, Where: plantest.Compare(a, expr.GT, plantest.Num(0))}
	got := rules.GroupDistinct(&plan.Distinct{Input: &plan.Project{Input: filter, Items: items}})
	if text := got.String() + " " + got.Inputs()[0].String(); text != "Project(a, a AS again, 1 AS one) Aggregate(GROUP BY a, 1)" {
		t.Error(text)
	}
	for i, f := range got.Fields() {
		if f != []table.Field{{Name: "a", Type: a.T}, {Name: "again", Type: a.T}, {Name: "one", Type: table.Literal(1).Type}}[i] {
			t.Errorf("column %d is %v", i, f)
		}
	}
	groups := &plan.Distinct{Input: &plan.Project{Input: &plan.Aggregate{Input: filter, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}, Items: items[2:]}}
	if rules.GroupDistinct(groups) != plan.Node(groups) {
		t.Error("DISTINCT of groups has changed")
	}
}
