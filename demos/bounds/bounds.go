// Package bounds is lesson 4: a range by depth bounds.
package bounds

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
)

// rangePass is the paper's routine 4.4 for lo <= column <= hi, over the column in the
// depth buffer: one quad, whose own depth does not matter.
func rangePass(s *lesson.Stage, c lesson.Column, lo, hi int64, quad float32) *pass.Pass {
	return &pass.Pass{Op: pass.Range{Text: fmt.Sprintf("%s in %d..%d", c.Name, lo, hi)}, Target: s.Target, Clear: &pass.Clear{Mask: 0xff},
		Quad:    quad,
		Depth:   pass.Depth{Test: true, Func: pass.Always},
		Bounds:  &pass.Bounds{Lo: float64(c.Depth(lo)), Hi: float64(c.Depth(hi))},
		Stencil: pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff},
		Count:   true}
}

// twoPasses is the same without the depth bounds test: the quad of >= marks records
// with 1, the quad of <= takes the marked ones to 2.
func twoPasses(s *lesson.Stage, c lesson.Column, lo, hi int64) []*pass.Pass {
	first, second := s.Compare(c, ">=", lo), s.Compare(c, "<=", hi)
	first.Clear = &pass.Clear{Mask: 0xff}
	first.Stencil = pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff}
	second.Stencil = pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff, Pass: pass.Incr, WriteMask: 0xff}
	return []*pass.Pass{first, second}
}

// within is the depth bounds test of depths that were read back.
func within(depth []float32, lo, hi float32) (n uint64) {
	for _, d := range depth {
		if c := lesson.CodeOf(d); lesson.CodeOf(lo) <= c && c <= lesson.CodeOf(hi) {
			n++
		}
	}
	return n
}

// count counts lo <= column <= hi the way the device can.
func count(s *lesson.Stage, c lesson.Column, lo, hi int64, run func(*pass.Pass) uint64) (n uint64) {
	if s.Context.Caps().DepthBounds {
		return run(rangePass(s, c, lo, hi, c.Depth(lo)))
	}
	for _, p := range twoPasses(s, c, lo, hi) {
		n = run(p)
	}
	return n
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	const lo, hi = 500, 1000
	distance := s.Column("distance")
	s.CopyToDepth(distance)
	depth := s.Depth()
	s.Say("distance BETWEEN %d AND %d is two comparisons. A depth bounds test makes them one: it looks at the stored depth alone, and passes from one depth to another.", lo, hi)
	if s.Context.Caps().DepthBounds {
		s.Say("This device has EXT_depth_bounds_test. One pass, with the quad in front of everything, and again with the quad behind:")
		near := s.Show(rangePass(s, distance, lo, hi, 0))
		far := s.Show(rangePass(s, distance, lo, hi, 1))
		if near != far {
			s.Fail(fmt.Errorf("the quad's depth matters: %d and %d records", near, far))
		}
	} else {
		s.Say("This device (%s) has no such test: it draws two quads, and the stencil buffer takes the AND. With the test it would be one pass:", s.Device())
		s.Describe(rangePass(s, distance, lo, hi, distance.Depth(lo)))
		s.Row("      = %s (computed from the depths read back, not drawn)", numbers.Grouped(within(depth, distance.Depth(lo), distance.Depth(hi))))
		s.Say("The two quads:")
	}
	n := count(s, distance, lo, hi, s.Show)
	stencil := s.Stencil()
	s.Agree(n, fmt.Sprintf("SELECT COUNT(*) FROM flights WHERE distance BETWEEN %d AND %d", lo, hi))

	s.Say("Ranges in parts add up, when no end belongs to both:")
	for _, r := range [][2]int64{{30, 499}, {500, 1000}, {1001, 4962}} {
		s.Row("%4d..%4d %9s", r[0], r[1], numbers.Grouped(count(s, distance, r[0], r[1], s.Run)))
	}

	s.Say("Look at the pictures: from the front the range is a band, from the side a slab between two planes, parallel to the screen.")
	top := slices.Max(stencil) // 1 with depth bounds, 2 with two passes
	in := func(i int) bool { return stencil[i] == top }
	s.Picture("band", &draw.Sheet{Title: "distance BETWEEN 500 AND 1000", Columns: 2, Width: 512, Panels: []draw.Panel{
		{Title: "The depth buffer from the front", Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Tint(draw.Ramp(depth), in)},
			Note: "A pixel is a flight; distance grows to the right within each line. Green is in the range."},
		{Title: "One line of it from the side", Draw: side(s, distance, depth, in, lo, hi),
			Note: "The 512 flights of line 200. Those whose bar ends between the two planes pass."},
	}})
}

// side plots a line of the texture, and the two ends of the range.
func side(s *lesson.Stage, c lesson.Column, depth []float32, in func(int) bool, lo, hi float64) draw.Plot {
	width := s.Target.Shape.Width
	p := draw.Plot{X: draw.Axis{Name: "texel of line 200", Hi: float64(width)}, Y: draw.Axis{Name: "distance", Hi: 3000}, High: 391, Down: true,
		Levels: []draw.Level{{Left: lo, Right: lo, Text: "500"}, {Left: hi, Right: hi, Text: "1000"}}}
	for x := range width {
		i := 200*width + x
		shade := uint8(draw.Grey + 60)
		if in(i) {
			shade = draw.Tinted + 60
		}
		p.Points = append(p.Points, draw.Point{X: float64(x), Y: float64(depth[i]*(1<<24)) + float64(c.Min()), Index: shade, Bar: true})
	}
	return p
}
