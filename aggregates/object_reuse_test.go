package aggregates_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// TestRepeatedQueriesCreateNoObjects runs a query with a list and every kind of
// aggregate again and again.
func TestRepeatedQueriesCreateNoObjects(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(9, 10)), 2000, 700, 1<<30, true)
	x := &expr.Column{Index: 1, Name: "s", T: integer}
	in := &expr.In{X: x}
	for v := range 40 {
		in.List = append(in.List, &expr.Const{V: table.Int(int64(3 * v % 17))})
	}
	var aggs []expr.Aggregate
	for _, k := range []expr.AggKind{expr.Count, expr.Sum, expr.Min, expr.Max, expr.Percentile} {
		aggs = append(aggs, expr.Aggregate{Kind: k, Col: 0, Name: "x", Arg: integer, F: 0.5})
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		first := 0
		for i := range 4 {
			q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: in, Aggs: aggs})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := aggregates.Run(g, predicates.LimitsOf(ctx.Caps()), q); err != nil {
				t.Fatal(err)
			}
			g.End()
			if i == 0 {
				first = ctx.Created()
			}
		}
		if n := ctx.Created() - first; n != 0 {
			t.Errorf("three more runs of a query create %d objects", n)
		}
	})
}
