// Package depth is lesson 2: copy to depth, and why 24 bits.
package depth

import (
	_ "embed"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

//go:embed coarse.frag
var program string

// copyToDepth is a pass that makes an attribute the depth of its texels. drop is how
// many of the lowest bits of the codes get lost on the way.
func copyToDepth(s *lesson.Stage, c lesson.Column, drop int) *pass.Pass {
	return &pass.Pass{Op: pass.CopyToDepth{Attribute: pass.Attribute{Name: c.Name, Col: c.Index}}, Target: s.Target,
		Program:  shaders.Source{Name: "coarse.frag", Text: "#version 450 core\n#line 1\n" + program},
		Textures: []textures.Ref{c.Texture},
		Uniforms: []shaders.Uniform{shaders.Float("lost", float32(uint64(1)<<drop))},
		Depth:    pass.Depth{Test: true, Func: pass.Always, Write: true}}
}

// below counts the records in front of the quad of `column < value`, which loses the
// same bits as the records have.
func below(s *lesson.Stage, c lesson.Column, value int64, drop int) uint64 {
	p := s.Compare(c, "<", value)
	p.Quad = lesson.DepthOf(c.Code(value) >> drop << drop)
	return s.Run(p)
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	delay := s.Column("delay")
	s.Say("Only the depth buffer is compared by the hardware, so the attribute is copied there first: a quad whose fragment program fetches the texel and writes it as depth.")
	whole := copyToDepth(s, delay, 0)
	s.Show(whole)
	s.Program(whole)
	depth, texels := s.Depth(), s.Texels(delay.Texture)
	same := 0
	for i := range depth {
		if float32(lesson.CodeOf(depth[i])) == texels[i] {
			same++
		}
	}
	s.Say("Read back and rounded, depth * 2^24 is the code of %s of %s flights.", numbers.Grouped(same), numbers.Grouped(len(depth)))

	bits := delay.Segment.Bits
	s.Say("What if the depth buffer had fewer bits? Codes of delay take %d. Here the lowest ones are dropped before the copy, and from the quad:", bits)
	exact := below(s, delay, 60, 0)
	s.Agree(exact, "SELECT COUNT(*) FROM flights WHERE delay < 60")
	s.Row("bits kept   delay < 60   wrong")
	for keep := bits; keep >= 4; keep-- {
		s.Run(copyToDepth(s, delay, bits-keep))
		n := below(s, delay, 60, bits-keep)
		s.Row("%9d   %10s   %5s", keep, numbers.Grouped(n), numbers.Grouped(exact-n))
	}

	s.Say("So a depth buffer needs all bits of the codes. It has 24: depth buffers of 2004 had no more, and a float holds whole numbers up to 2^24 exactly. As a float, 2^24 is %.0f and 2^24 + 1 is %.0f.",
		float32(1<<24), float32(1<<24+1))
	fixed(s)
	wide(s)

	s.Run(copyToDepth(s, delay, 5))
	coarse := s.Depth()
	s.Say("Look at the pictures: with 6 of 11 bits the delays become a few broad steps, and a quad can only go between two steps.")
	s.Picture("steps", &draw.Sheet{Title: "The depth buffer, with all bits and with few", Columns: 2, Width: 512, Panels: []draw.Panel{
		{Title: "11 bits: a step a minute", Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Ramp(depth)},
			Note: "As the texture was: the copy changes nothing but the place."},
		{Title: "6 bits: a step each 32 minutes", Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Ramp(coarse)},
			Note: "Flights of one grey have the same depth; no depth test can tell them apart."},
	}})
}

// fixed shows what a depth buffer of 24 bits rounds when it stores code / 2^24.
func fixed(s *lesson.Stage) {
	s.Say("Not all 24 are safe. A fixed-point buffer keeps depth * (2^24 - 1), rounded. Here is that product before it is rounded, for the depth code / 2^24: exact, and as a float (computed, not drawn):")
	s.Row("    code        exact product   as a float")
	for _, code := range []uint64{1<<21 + 1, 1<<22 - 1, 1<<22 + 1, 1<<23 - 1, 1 << 23, 1<<24 - 1} {
		exact := float64(code) - float64(code)/(1<<24)
		s.Row("%8d %20.7f %12.2f", code, exact, lesson.DepthOf(code)*(1<<24-1))
	}
	s.Say("Below 2^22 both round to the code. From there on the float may end on .5, and the device chooses whether that is rounded up, to the code, or down.")
}

// wide shows what becomes of an attribute whose codes do not fit.
func wide(s *lesson.Stage) {
	time := s.Column("time")
	codes := time.Codes()
	lost := 0
	for _, code := range codes {
		if uint64(float32(code)) != code {
			lost++
		}
	}
	s.Say("Codes of time have %d bits. As one float each, %s of them would change. So they are cut into limbs of 24 bits, two floats, which are compared one after the other (lesson 6):",
		time.Segment.Bits, numbers.Grouped(lost))
	texels := s.Texels(time.Texture)
	s.Row("record          time        code   upper limb   lower limb")
	for _, r := range []int{0, 1000, 123456} {
		s.Row("%-9s %10v %11d %12.0f %12.0f", numbers.Grouped(r), time.Segment.Decode(codes[r]), codes[r], texels[2*r+1], texels[2*r])
	}
}
