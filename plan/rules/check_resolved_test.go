package rules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// What is read of a query around one that has none is an error before anything runs, wherever it stands.
func TestCheckResolved(t *testing.T) {
	whole := table.Type{Kind: table.BigInt}
	column := &expr.Column{Name: "k", T: whole, P: 7}
	outer := &expr.Outer{X: column, Level: 1}
	scan := &plan.Scan{Table: "t", Columns: []table.Field{{Name: "k", Type: whole}}}
	select1 := func(e expr.Expr, in plan.Node) *plan.Project {
		return &plan.Project{Input: in, Items: []plan.Item{{Name: "k", E: e}}}
	}
	lateral := &plan.Derived{Of: &plan.Subplan{Tree: select1(outer, scan)}, Lateral: true}
	derived := &plan.Derived{Of: &plan.Subplan{Tree: select1(outer, scan)}}
	value := func(e expr.Expr) expr.Expr {
		return &expr.Subquery{Kind: expr.Value, Of: &plan.Subplan{Tree: select1(e, scan)}, T: whole, N: 1}
	}
	for name, c := range map[string]struct {
		tree plan.Node
		want string
	}{
		"item":         {select1(outer, scan), "k is a column of the query around this one"},
		"condition":    {select1(column, &plan.Filter{Input: scan, Where: &expr.Compare{Op: expr.EQ, L: column, R: outer}}), "k is a column of the query around this one"},
		"query":        {select1(column, derived), "k is a column of the query around this one"},
		"key":          {&plan.Aggregate{Input: scan, Keys: []expr.Expr{outer}}, "k is a column of the query around this one"},
		"two levels":   {select1(value(&expr.Outer{X: column, Level: 2}), scan), "k is a column of the query around this one"},
		"of the FROM":  {select1(column, lateral), "this LATERAL"},
		"of no test":   {select1(&expr.SubColumn{Name: "k", T: whole}, scan), "ANY or ALL of this subquery"},
		"resolved":     {select1(value(outer), scan), ""},
		"around a row": {select1(column, &plan.Join{Left: scan, Right: lateral}), ""},
	} {
		err := func() (err error) {
			defer func() { err, _ = recover().(error) }()
			rules.Unnest(c.tree, 0)
			return nil
		}()
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case err == nil || !errors.As(err, new(*expr.Error)) || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}
