package fused_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/plantest"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

func device(ctx *glctx.Context) predicates.Device { return predicates.DeviceOf(ctx.Caps()) }

// Random tables of every type and random queries over them: the answer is the
// scalar oracle's, or an error where the oracle has one.
func TestRandomQueriesAgreeWithTheOracle(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rapid.Check(t, func(t *rapid.T) {
			knobs := plantest.Default()
			if rapid.Bool().Draw(t, "exact") {
				knobs = plantest.Exact()
			}
			tab := plantest.Table(t, knobs)
			compareWithOracle(t, ctx, g, tab, plantest.Query(t, tab, knobs))
		})
	})
}

func compareWithOracle(t *rapid.T, ctx *glctx.Context, g *pass.GL, tab *table.Table, q *expr.Query) {
	p, err := plan.NewQuery(tab, q)
	if err != nil {
		return // refused: package plan's tests say when
	}
	if aggregates.Supported(p) != nil {
		return
	}
	want, wantErr := cpu.Scalar(context.Background(), tab, q)
	got, err := fused.Run(g, device(ctx), p)
	g.End()
	if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
		return // subnormal doubles
	}
	where := ""
	if q.Where != nil {
		where = q.Where.String()
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("WHERE %s: %v: error %v, the oracle has %v", where, q.Aggs, err, wantErr)
	}
	if err != nil {
		return
	}
	for i := range want {
		if got[i].String() != want[i].String() {
			t.Fatalf("WHERE %s: %v is %v, the oracle has %v", where, q.Aggs[i], got[i], want[i])
		}
	}
}
