package compute_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Random queries over columns of every type, with arithmetic that may fail and sums
// of floats among them, give the oracle's answers. The arithmetic is of few shapes,
// since each costs a program.
func TestRandomArithmeticAgreesWithTheOracle(t *testing.T) {
	fields := []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "b", Type: table.Type{Kind: table.Integer}},
		{Name: "x", Type: table.Type{Kind: table.Double}}, {Name: "y", Type: table.Type{Kind: table.Real}},
		{Name: "m", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}}
	knobs := plantest.Default()
	knobs.Shapes = plantest.Shapes{N: 4, Seed: 3}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		run := func(q *physical.Query) ([]table.Value, error) { return answer(g, d, q) }
		compared := 0
		rapid.Check(t, func(t *rapid.T) {
			tab := plantest.TableOf(t, "t", fields, knobs)
			for range 2 {
				if gltest.CompareWithOracle(t, g, tab, plantest.Query(t, tab, knobs), run) {
					compared++
				}
			}
		})
		if compared == 0 {
			t.Error("no query was compared")
		}
	})
}
