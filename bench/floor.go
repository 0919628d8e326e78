package bench

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Floor is what the least possible passes over a table of that many records take, in
// milliseconds: nothing that visits each of them can be faster. Measured before and
// after the cases of the table; the smaller medians.
type Floor struct {
	Rows int `json:"rows"`
	// DrawMS is a quad with a depth test and a count, and no texture, from an idle
	// device to an idle device; EachMS is what each of many such quads takes that
	// follow each other (the paper's empty quads of section 6.2).
	DrawMS float64 `json:"draw_ms"`
	EachMS float64 `json:"draw_each_ms"`
	// BareMS is EachMS of quads without the guard program of package pass; 0 where it has none.
	BareMS float64 `json:"draw_bare_ms,omitempty"`
	// DispatchMS is a dispatch of one work group that does nothing.
	DispatchMS float64 `json:"dispatch_ms"`
	// CopyMS is a copy on the device of one attribute of 32 bits.
	CopyMS float64 `json:"copy_ms"`
	// Runs is the number of runs of the medians, the smallest of them.
	Runs int `json:"runs"`
}

const (
	floorRuns  = 15          // at least; at most as many as the paper's
	floorTime  = time.Second // for more
	floorDraws = 19          // quads in a row: the paper's number
)

// measureFloor adds the floor of the device over the table, where one is used; the
// second time it keeps the smaller times, since what disturbs the machine for a while only
// adds.
func (f *field) measureFloor(ctx context.Context) error {
	if f.rig == nil {
		return nil
	}
	floor, err := f.rig.floor(ctx, f.rows)
	if err != nil {
		return err
	}
	list := &f.report.Floors
	if last := len(*list) - 1; last >= 0 && (*list)[last].Rows == f.rows {
		old := (*list)[last]
		floor = Floor{f.rows, min(old.DrawMS, floor.DrawMS), min(old.EachMS, floor.EachMS), min(old.BareMS, floor.BareMS),
			min(old.DispatchMS, floor.DispatchMS), min(old.CopyMS, floor.CopyMS), min(old.Runs, floor.Runs)}
		*list = (*list)[:last]
	}
	*list = append(*list, floor)
	return nil
}

// floor measures the floor over tables of that many rows: medians, the device idle before
// and after. The first run, which compiles and allocates, does not count.
func (r *rig) floor(ctx context.Context, rows int) (f Floor, err error) {
	f.Rows, f.Runs = rows, paperRuns
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
			for start := time.Now(); len(times) <= floorRuns || len(times) <= paperRuns && time.Since(start) < floorTime; {
				var out Outcome
				if err := r.timed(ctx, &out, m.do); err != nil {
					return err
				}
				times = append(times, inMS(out.Wall))
			}
			*m.ms, f.Runs = median(times[1:]), min(f.Runs, len(times)-1)
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

// floorOf is the floor of a system over a table, 0 for those off the device.
func (r *Report) floorOf(system string, rows int) float64 {
	i := slices.IndexFunc(r.Floors, func(f Floor) bool { return f.Rows == rows })
	switch {
	case i < 0 || figureBackends[system] == "":
		return 0
	case system == "compute":
		return max(r.Floors[i].DispatchMS, r.Floors[i].CopyMS)
	}
	return r.Floors[i].DrawMS
}

// Tie is two systems, next to each other by their medians, that a run was too noisy to
// rank: the 95 % interval of the ratio of their times holds 1.
type Tie struct {
	Case
	A  string  `json:"a"`
	B  string  `json:"b"`
	Lo float64 `json:"lo"` // of the interval of the time of b over that of a; 0, 0 for too few rounds
	Hi float64 `json:"hi"`
}

// finishFigures sets what results of a suite with figures have beside the others'.
func (r *Report) finishFigures() {
	for i := range r.Results {
		x := &r.Results[i]
		if floor := r.floorOf(x.System, x.Rows); floor > 0 {
			x.OfFloor = x.MedianMS / floor
		}
	}
	for _, c := range r.cases() {
		r.Ties = append(r.Ties, r.tiesOf(c)...)
	}
	r.Headlines = r.headlines()
}

// tiesOf compares the neighbours of a case.
func (r *Report) tiesOf(c Case) (ties []Tie) {
	var list []Result
	for _, x := range r.Results {
		if x.Case == c {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b Result) int { return cmp.Compare(a.MedianMS, b.MedianMS) })
	for i := 1; i < len(list); i++ {
		a, b := &list[i-1], &list[i]
		if lo, hi := ratioInterval(a.MS, b.MS); hi == 0 || lo <= 1 && hi >= 1 {
			ties = append(ties, Tie{c, a.System, b.System, lo, hi})
		}
	}
	return ties
}
