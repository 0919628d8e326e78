package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// A condition that no row meets leaves nothing of joins below it, and of a join that keeps unmatched rows the side of these.
func TestFoldFalse(t *testing.T) {
	scan := func(name string) plan.Node {
		return &plan.Scan{Table: name, Columns: []table.Field{{Name: name, Type: table.Type{Kind: table.BigInt}}}}
	}
	no, null := &expr.Const{V: table.Bool(false)}, &expr.Const{V: table.Null(table.Type{Kind: table.Boolean})}
	join := func(kind plan.JoinKind, on expr.Expr) *plan.Join {
		return &plan.Join{Kind: kind, Left: scan("a"), Right: scan("b"), On: on}
	}
	text := func(n plan.Node) (out string) {
		plan.Walk(n, func(n plan.Node, _ int) { out += n.String() + " " })
		return out
	}
	for _, c := range []struct {
		n    plan.Node
		want string
	}{
		{&plan.Filter{Input: join(plan.Inner, nil), Where: no}, "Derived "},
		{&plan.Filter{Input: join(plan.FullOuter, nil), Where: null}, "Derived "},
		{&plan.Filter{Input: scan("a"), Where: no}, "Filter(false) Scan(a) "},
		{&plan.Filter{Input: join(plan.Inner, nil), Where: &expr.Const{V: table.Bool(true)}}, "Filter(true) Join(cross) Scan(a) Scan(b) "},
		{join(plan.Inner, null), "Derived "},
		{join(plan.Semi, no), "Derived "},
		{join(plan.Anti, no), "Scan(a) "},
		{join(plan.LeftOuter, no), "Join(left, false) Scan(a) Derived "},
		{join(plan.RightOuter, no), "Join(right, false) Derived Scan(b) "},
		{join(plan.FullOuter, no), "Join(full, false) Scan(a) Scan(b) "},
	} {
		got := rules.FoldFalse(c.n)
		if text(got) != c.want {
			t.Errorf("of %sis made %s, want %s", text(c.n), text(got), c.want)
		}
		if len(got.Fields()) != len(c.n.Fields()) {
			t.Errorf("%s has the columns %v, want %v", text(got), got.Fields(), c.n.Fields())
		}
	}
}
