package rules_test

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// A semi join goes to the side that its condition reads, as deep as that is.
func TestPushSemi(t *testing.T) {
	scan := func(name string) plan.Node {
		return &plan.Scan{Table: name, Columns: []table.Field{{Name: name, Type: table.Type{Kind: table.BigInt}}}}
	}
	column := func(i int) expr.Expr { return &expr.Column{Index: i, T: table.Type{Kind: table.BigInt}} }
	equal := func(l, r int) expr.Expr { return &expr.Compare{Op: expr.EQ, L: column(l), R: column(r)} }
	var text func(plan.Node) string
	text = func(n plan.Node) string {
		j, ok := n.(*plan.Join)
		if !ok {
			return n.String()
		}
		at := ""
		for _, c := range expr.Columns(j.On) {
			at += string(rune('0' + c))
		}
		return j.Kind.String() + at + "(" + text(j.Left) + " " + text(j.Right) + ")"
	}
	three := &plan.Join{Left: &plan.Join{Left: scan("a"), Right: scan("b"), On: equal(0, 1)}, Right: scan("c"), On: equal(1, 2)}
	for on, want := range map[expr.Expr]string{
		equal(0, 3): "inner12(inner01(semi01(Scan(a) Scan(d)) Scan(b)) Scan(c))",
		equal(1, 3): "inner12(inner01(Scan(a) semi01(Scan(b) Scan(d))) Scan(c))",
		equal(2, 3): "inner12(inner01(Scan(a) Scan(b)) semi01(Scan(c) Scan(d)))",
		&expr.And{Kids: []expr.Expr{equal(0, 3), equal(2, 3)}}: "semi023(inner12(inner01(Scan(a) Scan(b)) Scan(c)) Scan(d))",
	} {
		if got := text(rules.PushSemi(&plan.Join{Kind: plan.Semi, Left: three, Right: scan("d"), On: on})); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	outer := &plan.Join{Kind: plan.LeftOuter, Left: scan("a"), Right: scan("b"), On: equal(0, 1)}
	if got := text(rules.PushSemi(&plan.Join{Kind: plan.Semi, Left: outer, Right: scan("d"), On: equal(0, 2)})); got != "semi02(left01(Scan(a) Scan(b)) Scan(d))" {
		t.Errorf("above an outer join: %s", got)
	}
}
