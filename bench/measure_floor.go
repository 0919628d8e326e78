package bench

import (
	"context"
	"time"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

const (
	floorRuns  = 15          // at least; at most as many as the paper's
	floorTime  = time.Second // for more
	floorDraws = 19          // quads in a row: the paper's number
)

// floor measures the floor over tables of that many rows: medians, the device idle before
// and after. The first run, which compiles and allocates, does not count.
func (r *timedDevice) floor(ctx context.Context, rows int) (f report.Floor, err error) {
	f.Rows, f.Runs = rows, report.PaperRuns
	guarded := !r.Context.Caps().Software
	err = r.scope(ctx, func() error {
		from, to := textures.ScratchBlock(&textures.Scratch{Words: rows}), textures.ScratchBlock(&textures.Scratch{Words: rows})
		for _, m := range []struct {
			ms *float64
			do func() error
		}{
			{&f.DrawMS, func() error { return emptyQuads(r.GL, rows, 1) }},
			{&f.EachMS, func() error { return emptyQuads(r.GL, rows, floorDraws) }},
			{&f.BareMS, func() error { return emptyQuads(withoutGuard(r.GL), rows, floorDraws) }},
			{&f.DispatchMS, func() error {
				_, err := r.GL.Run(&pass.Pass{Op: pass.RenderQuad{}, Program: emptyProgram, Dispatch: &pass.Dispatch{Groups: [2]int{1, 1}}})
				return err
			}},
			{&f.CopyMS, func() error {
				r.Store.Begin()
				return r.Store.Copy(to, from)
			}},
		} {
			if m.ms == &f.BareMS && !guarded {
				continue
			}
			var times []float64
			for start := time.Now(); len(times) <= floorRuns || len(times) <= report.PaperRuns && time.Since(start) < floorTime; {
				var out meter.Outcome
				if err := r.timed(ctx, &out, m.do); err != nil {
					return err
				}
				times = append(times, meter.Milliseconds(out.Wall))
			}
			*m.ms, f.Runs = report.Median(times[1:]), min(f.Runs, len(times)-1)
		}
		f.EachMS, f.BareMS = f.EachMS/floorDraws, f.BareMS/floorDraws
		return nil
	})
	return f, err
}

var emptyProgram = shaders.ComposeCompute("empty.comp", nil, nil, "layout(local_size_x = 64) in;\nvoid main() {}\n")

// emptyQuads draws n quads over the records and waits for their counts.
func emptyQuads(run pass.Runner, rows, n int) error {
	target := textures.TargetRef{Shape: textures.ShapeOf(rows), Format: textures.D24S8}
	counts := make([]pass.Count, n)
	for i := range counts {
		var err error
		counts[i], err = run.Run(&pass.Pass{Op: pass.RenderQuad{}, Target: target, Quad: 0.5,
			Depth: pass.Depth{Test: true, Func: pass.GEqual}, Count: true})
		if err != nil {
			return err
		}
	}
	for _, c := range counts {
		if _, err := c.Wait(); err != nil {
			return err
		}
	}
	return nil
}
