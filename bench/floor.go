package bench

import (
	"cmp"
	"context"
	"slices"

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
	// DispatchMS is a dispatch of one work group that does nothing.
	DispatchMS float64 `json:"dispatch_ms"`
	// CopyMS is a copy on the device of one attribute of 32 bits.
	CopyMS float64 `json:"copy_ms"`
}

const (
	floorRuns  = 15
	floorDraws = 19 // quads in a row: the paper's number
)

// floor measures the floor over tables of that many rows.
func (r *rig) floor(ctx context.Context, rows int) (f Floor, err error) {
	f.Rows = rows
	err = r.scope(ctx, func() error {
		draw := r.emptyQuads(rows)
		for _, m := range []struct {
			ms *float64
			do func() error
		}{
			{&f.DrawMS, func() error { return draw(1) }},
			{&f.EachMS, func() error { return draw(floorDraws) }},
			{&f.DispatchMS, r.emptyDispatch},
			{&f.CopyMS, r.deviceCopy(rows)},
		} {
			if *m.ms, err = r.medianOf(ctx, m.do); err != nil {
				return err
			}
		}
		f.EachMS /= floorDraws
		return nil
	})
	return f, err
}

// least takes the smaller of each time of two measurements of one floor: what disturbs
// the machine for a while only adds.
func (f Floor) least(g Floor) Floor {
	return Floor{f.Rows, min(f.DrawMS, g.DrawMS), min(f.EachMS, g.EachMS), min(f.DispatchMS, g.DispatchMS), min(f.CopyMS, g.CopyMS)}
}

// medianOf returns the median time of f, the device idle before and after. The first
// run, which compiles and allocates, does not count.
func (r *rig) medianOf(ctx context.Context, f func() error) (float64, error) {
	var times []float64
	for i := range floorRuns + 1 {
		var out Outcome
		if err := r.timed(ctx, &out, f); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, inMS(out.Wall))
		}
	}
	return median(times), nil
}

// emptyQuads draws quads over the records and waits for their counts.
func (r *rig) emptyQuads(rows int) func(n int) error {
	target := textures.TargetRef{Shape: textures.ShapeOf(rows), Format: textures.D24S8}
	return func(n int) error {
		var counts []pass.Count
		for range n {
			c, err := r.GL.Run(&pass.Pass{Op: pass.RenderQuad{}, Target: target, Quad: 0.5,
				Depth: pass.Depth{Test: true, Func: pass.GEqual}, Count: true})
			if err != nil {
				return err
			}
			counts = append(counts, c)
		}
		for _, c := range counts {
			if _, err := c.Wait(); err != nil {
				return err
			}
		}
		return nil
	}
}

var emptyProgram = shaders.ComposeCompute("empty.comp", nil, nil, "layout(local_size_x = 64) in;\nvoid main() {}\n")

func (r *rig) emptyDispatch() error {
	_, err := r.GL.Run(&pass.Pass{Op: pass.RenderQuad{}, Program: emptyProgram, Dispatch: &pass.Dispatch{Groups: [2]int{1, 1}}})
	return err
}

// deviceCopy copies working memory of the size of an attribute.
func (r *rig) deviceCopy(rows int) func() error {
	from, to := textures.ScratchBlock(&textures.Scratch{Words: rows}), textures.ScratchBlock(&textures.Scratch{Words: rows})
	return func() error {
		r.Store.Begin()
		return r.Store.Copy(to, from)
	}
}

// floorOf is the floor of a system over a table, 0 for those off the device.
func (r *Report) floorOf(system string, rows int) float64 {
	i := slices.IndexFunc(r.Floors, func(f Floor) bool { return f.Rows == rows })
	if i < 0 {
		return 0
	}
	switch system {
	case classic, classicCompute, classicAlone, "fused", mipmapSum:
		return r.Floors[i].DrawMS
	case "compute":
		return max(r.Floors[i].DispatchMS, r.Floors[i].CopyMS)
	}
	return 0
}

// Tie is two systems, next to each other by their medians, that a run was too noisy to
// rank: the 95 % interval of the ratio of their times holds 1.
type Tie struct {
	Operation string  `json:"operation"`
	Rows      int     `json:"rows"`
	A         string  `json:"a"`
	B         string  `json:"b"`
	Lo        float64 `json:"lo"` // of the interval of the time of b over that of a; 0, 0 for too few rounds
	Hi        float64 `json:"hi"`
}

// finishFigures sets what results of figures have beside the others'.
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
func (r *Report) tiesOf(c caseKey) (ties []Tie) {
	var list []Result
	for _, x := range r.Results {
		if x.Operation == c.operation && x.Rows == c.rows {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b Result) int { return cmp.Compare(a.MedianMS, b.MedianMS) })
	for i := 1; i < len(list); i++ {
		a, b := &list[i-1], &list[i]
		if lo, hi := ratioInterval(a.MS, b.MS); hi == 0 || lo <= 1 && hi >= 1 {
			ties = append(ties, Tie{c.operation, c.rows, a.System, b.System, lo, hi})
		}
	}
	return ties
}
