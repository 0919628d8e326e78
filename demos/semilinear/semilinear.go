// Package semilinear is lesson 5: semi-linear queries in a fragment program.
package semilinear

import (
	"fmt"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// query is s0 * delay + s1 * distance > b.
type query struct{ s0, s1, b int64 }

func (q query) String() string {
	sum := term(q.s0, "delay")
	switch {
	case q.s0 == 0:
		sum = term(q.s1, "distance")
	case q.s1 > 0:
		sum += " + " + term(q.s1, "distance")
	case q.s1 < 0:
		sum += " - " + term(-q.s1, "distance")
	}
	return fmt.Sprintf("%s > %d", sum, q.b)
}

func term(s int64, attribute string) string {
	if s == 1 {
		return attribute
	}
	return fmt.Sprintf("%d * %s", s, attribute)
}

// semilinear is the paper's routine 4.2: one quad textured with both attributes. The
// fragment program computes the dot product and discards the records that fail;
// those left go through the stencil operation, and are counted.
//
// Texels hold codes: delay = code + min. So the constant part of the sum, s . min,
// goes to the other side.
func semilinear(s *lesson.Stage, q query) *pass.Pass {
	delay, distance := s.Column("delay"), s.Column("distance")
	b := q.b - q.s0*delay.Min() - q.s1*distance.Min()
	return &pass.Pass{Op: pass.Semilinear{Text: q.String()}, Target: s.Target, Clear: &pass.Clear{Mask: 0xff},
		Program:  shaders.Load("semilinear.frag", "TEXTURES 1", "OP >"),
		Textures: []textures.Ref{textures.Pack(s.Table.Chunks[0], []int{delay.Index, distance.Index})},
		Uniforms: []shaders.Uniform{{Name: "s", F: []float32{float32(q.s0), float32(q.s1), 0, 0}}, shaders.Float("b", float32(b))},
		Stencil:  pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff},
		Count:    true}
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	q := query{10, -1, 0}
	s.Say("Which flights were more than a minute late for every ten miles? %v compares a sum of two attributes: no single depth holds that. "+
		"A fragment program, which runs once for each record, can compute it.", q)
	p := semilinear(s, q)
	n := s.Show(p)
	s.Program(p)
	for _, u := range p.Uniforms {
		s.Row("uniform %s = %v", u.Name, u.F)
	}
	s.Agree(n, "SELECT COUNT(*) FROM flights WHERE "+q.String())
	stencil := s.Stencil()

	s.Say("Other coefficients are other uniforms of the same program. Attribute against attribute is s = (1, -1):")
	for _, q := range []query{{1, 0, 60}, {0, 1, 1000}, {1, 1, 1000}, {20, -1, 0}, {1, -2, 0}} {
		n := s.Run(semilinear(s, q))
		s.Agree(n, "SELECT COUNT(*) FROM flights WHERE "+q.String())
	}
	s.Say("The largest sum here is far below 2^24, so floats add it exactly. Where it is not, stencildb generates a program that computes with integers (lesson 2 says why).")

	s.Say("Look at the pictures: in the texture the selection has a ragged edge, for the order of texels knows nothing of the sum. " +
		"With the attributes as axes it is a half-plane, cut by a straight line. That is what semi-linear means.")
	in := func(i int) bool { return stencil[i] == 1 }
	s.Picture("halfplane", &draw.Sheet{Title: "10 * delay - distance > 0", Columns: 2, Width: 512, Panels: []draw.Panel{
		{Title: "The stencil buffer", Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Chosen(len(stencil), in)},
			Note: fmt.Sprintf("Black: the %s flights whose fragment was not discarded.", numbers.Grouped(n))},
		{Title: "The same flights by their attributes", Draw: scatter(s, in),
			Note: "Each flight at its distance and its delay. The line is where the sum is 0."},
	}})
}

// scatter plots the flights by distance and delay.
func scatter(s *lesson.Stage, in func(int) bool) draw.Plot {
	p := draw.Plot{X: draw.Axis{Name: "distance", Hi: 3000}, Y: draw.Axis{Name: "delay", Lo: -100, Hi: 500}, High: 391,
		Levels: []draw.Level{{Left: 0, Right: 300, Text: "10 * delay = distance"}}}
	delay, distance := s.Column("delay"), s.Column("distance")
	for i, d := range delay.Codes() {
		index := uint8(draw.Line)
		if in(i) {
			index = draw.Ink
		}
		p.Points = append(p.Points, draw.Point{X: float64(int64(distance.Segment.Codes.At(i)) + distance.Min()), Y: float64(int64(d) + delay.Min()), Index: index})
	}
	return p
}
