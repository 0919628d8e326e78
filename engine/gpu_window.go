package engine

import (
	"context"
	"errors"
	"time"

	"github.com/stencildb/stencildb/cpu/window"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/gpujoin"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// window computes the functions of a subplan's window over the rows of its input. It does so on the device if the backend
// is one, and notes which backend did it.
func (x *settling) window(ctx context.Context, s *plan.Subplan, t *table.Table, n *plan.Window) (out *table.Table, err error) {
	start := time.Now()
	by := &Executor{Backend: "cpu"}
	defer func() {
		sum := x.stats[s]
		sum.Elapsed, sum.Backend = sum.Elapsed+time.Since(start), by.Backend
		x.stats[s], x.windows[s] = sum, by
	}()
	if x.db.Backend() == "compute" {
		t = t.Compacted()
		x.unpins = append(x.unpins, x.db.pinned(t))
		out, err = x.windowOnDevice(ctx, t, n, by)
		if !plan.IsDeclined(err) {
			return out, err
		}
		by.Why = "compute declines: " + err.Error()
	}
	return window.Compute(ctx, t, n)
}

// windowOnDevice is window on the first device, which has the whole table for it. What it has no room for is declined.
func (x *settling) windowOnDevice(ctx context.Context, t *table.Table, n *plan.Window, by *Executor) (out *table.Table, err error) {
	var opening time.Duration
	took := &querystats.Collector{}
	err = x.db.view().On(ctx, "compute", &opening, func(b backends.Backend) (err error) {
		took.Start(b.Name(), opening)
		opening = 0
		g := b.(*backends.Passes).GPUs[0]
		run := &gpujoin.Noting{Runner: g.GL, G: g, Of: func(*pass.Pass) *table.Table { return t }}
		var made *table.Table
		err = g.Start(ctx, &physical.Query{Table: t}, run, took, func(run pass.Runner) (err error) {
			made, err = relational.Window(run, g.Computes, t, n)
			return err
		})()
		if err == nil { // else the device may still be at it
			out = made
			by.Backend, by.Device, by.Steps = b.Name(), g.Context.Caps().Renderer, run.Steps
			for i := range by.Steps {
				if x.explain == nil || !x.explain.GLSL {
					by.Steps[i].GLSL, by.Steps[i].Fixed = "", false
				}
			}
		}
		return err
	})
	if errors.As(err, new(*textures.BudgetError)) {
		err = &plan.Declined{Why: err.Error()}
	}
	stats := took.Snapshot()
	x.total.Include(stats)
	return out, err
}
