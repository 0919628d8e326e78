// Package predicate is lesson 3: a predicate is a depth test.
package predicate

import (
	"fmt"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
)

// constant is the d of the predicate `delay < d`, in minutes.
const constant = 60

// compare is the pass of `delay op d`: one quad over all records at the depth of d.
// Nothing is written; the samples that pass the test are counted.
func compare(s *lesson.Stage, text string, f pass.Func, depth float32) *pass.Pass {
	return &pass.Pass{Op: pass.Compare{Text: text}, Target: s.Target,
		Quad:  depth,
		Depth: pass.Depth{Test: true, Func: f},
		Count: true}
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	delay := s.Column("delay")
	quad := delay.Depth(constant)
	s.Say("The delays go to the depth buffer, once (lesson 2). A delay of %d has code %d and depth %d / 2^24.",
		constant, delay.Code(constant), delay.Code(constant))
	s.CopyToDepth(delay)
	depth := s.Depth()

	s.Say("`delay < %d` is a quad at that depth. GREATER means: the quad's depth is greater than the stored one.", constant)
	less := compare(s, "delay < 60", pass.Greater, quad)
	n := s.Show(less)
	s.Agree(n, "SELECT COUNT(*) FROM flights WHERE delay < 60")

	s.Say("The depth buffer is as it was, so the next predicate is one more quad. All six operators:")
	s.Row("predicate      depth function   flights")
	for _, o := range []struct {
		op string
		f  pass.Func
	}{{"<", pass.Greater}, {"<=", pass.GEqual}, {"=", pass.Equal}, {">=", pass.LEqual}, {">", pass.Less}, {"<>", pass.NotEqual}} {
		n := s.Run(compare(s, "delay "+o.op+" 60", o.f, quad))
		s.Row("delay %-2s %d    %-14v %9s", o.op, constant, o.f, numbers.Grouped(n))
	}

	s.Say("And another constant is the same quad at another depth, nearer or farther:")
	for _, d := range []int64{-10, 0, 15, 60, 240} {
		n := s.Run(compare(s, fmt.Sprintf("delay < %d", d), pass.Greater, delay.Depth(d)))
		s.Row("delay < %-4d quad at %4d / 2^24 %9s", d, delay.Code(d), numbers.Grouped(n))
	}

	s.Say("A quad can leave a mark as well as count. The stencil buffer is cleared to 0, and what passes both tests becomes 1. A second quad tests for 1, and adds 1 where the depth passes, too:")
	mark := compare(s, "delay < 60", pass.Greater, quad)
	mark.Clear = &pass.Clear{Mask: 0xff}
	mark.Stencil = pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff}
	s.Show(mark)
	among := compare(s, "delay >= 0", pass.LEqual, delay.Depth(0))
	among.Stencil = pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff, Pass: pass.Incr, WriteMask: 0xff}
	s.Agree(s.Show(among), "SELECT COUNT(*) FROM flights WHERE delay >= 0 AND delay < 60")

	s.Say("Look at the picture: from the front, every record whose depth is smaller than the quad's is green. " +
		"From the side, the quad is the line, and the records that end before it pass.")
	passes := func(i int) bool { return lesson.Passes(less, depth[i]) }
	s.Picture("test", &draw.Sheet{Title: "delay < 60 is a quad at the depth of 60", Columns: 2, Width: 512, Panels: []draw.Panel{
		{Title: "The depth buffer from the front", Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Tint(draw.Ramp(depth), passes)},
			Note: "A pixel is a flight: delay grows downwards. Green passes the depth test. In each row, flights are sorted by distance, which this test does not see."},
		{Title: "The same from the side", Draw: side(delay, depth, quad, passes),
			Note: "Every 400th flight, top row first: its delay is how deep it lies. The quad is flat: one depth for all. (Delays above 200 minutes are cut off.)"},
	}})
}

// side plots depth over the records in their order, with the quad as a line.
func side(delay lesson.Column, depth []float32, quad float32, passes func(i int) bool) draw.Plot {
	const every = 400
	p := draw.Plot{X: draw.Axis{Name: "flight", Hi: float64(len(depth))}, Y: draw.Axis{Name: "delay", Lo: -86, Hi: 200}, High: 391, Down: true,
		Levels: []draw.Level{{Left: constant, Right: constant, Text: "the quad, at 60 minutes"}}}
	value := func(i int) float64 { return float64(depth[i]*(1<<24)) + float64(delay.Min()) }
	for i := 0; i < len(depth); i += every {
		shade := uint8(draw.Grey + 60)
		if passes(i) {
			shade = draw.Tinted + 60
		}
		p.Points = append(p.Points, draw.Point{X: float64(i), Y: value(i), Index: shade, Bar: true})
	}
	return p
}
