// Package attributes is lesson 1: attributes as textures.
package attributes

import (
	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	rows, shape := s.Table.Rows(), s.Target.Shape
	s.Say("The table flights has %s records of %d attributes. Each attribute becomes a texture of %d x %d texels; record r lies at (r mod %d, r div %d).",
		numbers.Grouped(rows), len(s.Table.Fields), shape.Width, shape.Height, shape.Width, shape.Width)
	s.Row("attribute   type       bits of a code   floats a texel   megabytes")
	for i, f := range s.Table.Fields {
		c := s.Column(f.Name)
		s.Row("%-11s %-10v %14d %16d %11.1f", f.Name, f.Type, s.Table.Chunks[0].Segments[i].Bits,
			textures.Limbs(c.Segment.Bits), float64(c.Texture.Bytes())/1e6)
	}

	delay := s.Column("delay")
	texels := s.Texels(delay.Texture)
	s.Say("A texel holds a code, not the value: code = delay - (%d), so that codes begin at 0. Some texels, read back from the device:", delay.Min())
	s.Row("record    texel          texel holds   delay in minutes")
	for _, r := range []int{0, 511, 512, 123456, rows - 1} {
		s.Row("%-9s (%3d, %3d) %15.0f %18v", numbers.Grouped(r), r%shape.Width, r/shape.Width, texels[r], delay.Segment.Decode(uint64(texels[r])))
	}

	distance := s.Column("distance")
	packed := s.Texels(textures.Pack(s.Table.Chunks[0], []int{delay.Index, distance.Index}))
	s.Say("Attributes that are read together can share a texel of four channels (red, green, blue, alpha). Record 123,456 of delay and distance in one: (%g, %g, %g, %g).",
		packed[4*123456], packed[4*123456+1], packed[4*123456+2], packed[4*123456+3])

	n := s.Run(&pass.Pass{Op: pass.RenderQuad{}, Target: s.Target, Count: true})
	s.Say("To do something with every record, one draws a quad over the texels: a fragment is made for each, %s in all. "+
		"The texture has %s texels; those behind the last record are not drawn.", numbers.Grouped(n), numbers.Grouped(shape.Width*shape.Height))
	s.Agree(n, "SELECT COUNT(*) FROM flights")

	all, err := lesson.Load()
	if err != nil {
		s.Fail(err)
		return
	}
	inFile := s.Texels(textures.Attribute(all.Chunks[0], delay.Index))
	s.Say("Look at the pictures: in the order of the file a texture looks like noise. The lessons put the flights in another order, " +
		"by delay into lines and by distance within each line, so that regions can be seen. No algorithm needs that order.")
	panel := func(title, note string, shades []uint8) draw.Panel {
		return draw.Panel{Title: title, Note: note, Draw: draw.Records{Shape: shape, Colors: shades}}
	}
	s.Picture("textures", &draw.Sheet{Title: "One texture an attribute, one texel a flight (a quarter of them is shown)", Columns: 4, Width: 256, Panels: []draw.Panel{
		panel("delay, as in the file", "Dark is early, light is late.", draw.Ramp(inFile)),
		panel("delay, for the eye", "It grows downwards.", draw.Ramp(texels)),
		panel("distance, for the eye", "It grows to the right, within each line.", draw.Ramp(s.Texels(distance.Texture))),
		panel("time, for the eye", "Two floats a texel, put together again: the hour of departure. At the bottom, where delays are long, it is later.",
			draw.Ramp(wide(s.Texels(s.Column("time").Texture)))),
	}})
}

// wide puts codes together whose texels are two limbs of 24 bits, the lower one first.
func wide(texels []float32) []uint64 {
	out := make([]uint64, len(texels)/2)
	for i := range out {
		out[i] = uint64(texels[2*i]) + uint64(texels[2*i+1])<<textures.LimbBits
	}
	return out
}
