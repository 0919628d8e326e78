package aggregates_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// Random queries over random tables of every type. The graphics pipeline gives the scalar oracle's
// answer, or an error where the oracle has one.
func TestRandomQueriesAgreeWithTheOracle(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		classic := func(q *physical.Query) ([]table.Value, error) {
			return aggregates.Run(g, predicates.LimitsOf(ctx.Caps()), q)
		}
		compared := 0
		rapid.Check(t, func(t *rapid.T) {
			knobs := plantest.Default()
			if rapid.Bool().Draw(t, "exact") {
				knobs = plantest.Exact()
			}
			tab := plantest.Table(t, knobs)
			for range 5 {
				if gltest.CompareWithOracle(t, g, tab, plantest.Query(t, tab, knobs), classic) {
					compared++
				}
			}
		})
		if compared == 0 {
			t.Error("no query was compared")
		}
	})
}
