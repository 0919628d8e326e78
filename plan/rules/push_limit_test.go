package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// A LIMIT goes below a select list of columns and constants; what is computed of a row that OFFSET passes over may have an error.
func TestPushLimit(t *testing.T) {
	whole := table.Type{Kind: table.BigInt}
	scan := &plan.Scan{Table: "t", Columns: []table.Field{{Name: "k", Type: whole}}}
	k := &expr.Column{Index: 0, Name: "k", T: whole}
	one := &expr.Const{V: table.Int(1), P: -1}
	for _, c := range []struct {
		items []plan.Item
		want  string
	}{
		{[]plan.Item{{Name: "k", E: k}, {Name: "one", E: one}}, "Project [Limit(3 OFFSET 2) [Scan]]"},
		{[]plan.Item{{Name: "k", E: k}, {Name: "n", E: &expr.Arith{Op: expr.Div, L: one, R: k, T: whole}}}, "Limit(3 OFFSET 2) [Project [Scan]]"},
	} {
		l := &plan.Limit{Input: &plan.Project{Input: scan, Items: c.items}, Offset: 2, Count: 3}
		n := rules.PushLimit(l)
		if got := apart(n); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		plan.Walk(n, func(n plan.Node, _ int) {
			if l, ok := n.(*plan.Limit); ok && l.String() != "Limit(3 OFFSET 2)" {
				t.Errorf("it is %s", l)
			}
		})
	}
	if n := rules.PushLimit(&plan.Limit{Input: scan, Count: 1}); apart(n) != "Limit(1) [Scan]" {
		t.Errorf("above a scan: %s", apart(n))
	}
}
