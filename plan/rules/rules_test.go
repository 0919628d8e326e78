package rules_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
)

// A set of rules is read from their names and written as them, in the order of the rules.
func TestParseOff(t *testing.T) {
	var all []string
	for _, r := range rules.Rules {
		if all = append(all, r.Name); r.Does == "" || strings.ContainsAny(r.Name, ",_") {
			t.Errorf("rule %q: %q", r.Name, r.Does)
		}
	}
	for text, want := range map[string]string{"": "", " , ": "", "PUSH  LIMIT,factor": "factor, push limit", strings.Join(all, ","): strings.Join(all, ", ")} {
		if off, err := rules.ParseOff(text); err != nil || off.String() != want {
			t.Errorf("%q is %q (%v), want %q", text, off, err, want)
		}
	}
	if _, err := rules.ParseOff("factor, push_limit"); err == nil || !strings.Contains(err.Error(), `"push_limit"`) || !strings.HasSuffix(err.Error(), strings.Join(all, ", ")) {
		t.Error(err)
	}
}

// A rule that is off leaves the tree as it is, and the others do what they did.
func TestOff(t *testing.T) {
	tab := plantest.Flights(t)
	where := &plan.Filter{Input: &plan.Scan{Table: "flights", Columns: tab.Fields}, Where: plantest.Compare(plantest.Col(tab, "a"), expr.GT, plantest.Num(0))}
	items := []plan.Item{{Name: "a", E: &expr.Column{Index: 0, Name: "a", T: plantest.Col(tab, "a").T}}}
	tree := &plan.Limit{Input: &plan.Project{Input: &plan.Distinct{Input: &plan.Project{Input: where, Items: items}}, Items: items}, Count: 3}
	for text, want := range map[string]string{
		"":                           "Project Limit Project Aggregate Filter Scan",
		"push limit":                 "Limit Project Project Aggregate Filter Scan",
		"group distinct":             "Project Limit Distinct Project Filter Scan",
		"top rows, push filter":      "Project Limit Project Aggregate Filter Scan",
		"push limit, group distinct": "Limit Project Distinct Project Filter Scan",
	} {
		off, err := rules.ParseOff(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		plan.Walk(off.Rewrite(tree), func(n plan.Node, _ int) {
			name, _, _ := strings.Cut(n.String(), "(")
			got = append(got, strings.Fields(name)[0])
		})
		if strings.Join(got, " ") != want {
			t.Errorf("without %q: %v, want %s", text, got, want)
		}
	}
}
