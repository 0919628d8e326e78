package debugger

import (
	"image/color"

	"github.com/stencildb/stencildb/demos/draw"
)

// The colours of the frame: those of records are the theme's, on white.
var (
	paper     = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink       = color.RGBA{0x1a, 0x1a, 0x1a, 0xff}
	faint     = color.RGBA{0x6b, 0x6b, 0x6b, 0xff}
	hair      = color.RGBA{0xc4, 0xc4, 0xc4, 0xff}
	ground    = color.RGBA{0xf4, 0xf4, 0xf4, 0xff}
	marked    = color.RGBA{0xd9, 0xe8, 0xf5, 0xff}
	highlight = draw.Light.Quad
	selected  = draw.Light.Pass
	dropped   = draw.Light.Dropped
	unchosen  = draw.Light.None
	veil      = color.RGBA{0xb0, 0xb0, 0xb0, 0xb0} // white times its alpha
	ofNull    = draw.Light.Null
)

// The lines of the palette's texture, as demo_scale.glsl and demo_pane.frag read it: values,
// values that pass, stencil values, marks.
const (
	valueLine = iota
	passLine
	stencilLine
	markLine
	paletteLines
)

// palette is the texels of the palette's texture, RGBA, 256 to a line.
func palette() []uint8 {
	out := make([]uint8, 0, 4*256*paletteLines)
	marks := []color.RGBA{ofNull, draw.Half(ofNull, draw.Light.Tint), unchosen, selected, dropped}
	for _, of := range []func(i int) color.RGBA{
		func(i int) color.RGBA { return draw.Value(float64(i) / 255) },
		func(i int) color.RGBA { return draw.Light.Passing(float64(i) / 255) },
		func(i int) color.RGBA { return draw.Light.Stencil(uint8(i)) },
		func(i int) color.RGBA { return marks[min(i, len(marks)-1)] },
	} {
		for i := range 256 {
			c := of(i)
			out = append(out, c.R, c.G, c.B, 255)
		}
	}
	return out
}

// frameColors are those of an animation: every fifth of the pictures' own, and those of text
// and marks at four strengths.
func frameColors() (list color.Palette) {
	for i, texels := 0, palette()[:4*256*stencilLine]; i < len(texels); i += 20 {
		list = append(list, color.RGBA{texels[i], texels[i+1], texels[i+2], 255})
	}
	all := []color.RGBA{paper, ink, faint, hair, ground, marked, highlight, selected, dropped, ofNull}
	for v := range uint8(8) {
		all = append(all, draw.Light.Stencil(v))
	}
	for _, c := range all {
		for part := range 4 {
			mix := func(v uint8) uint8 { return uint8((int(v)*(4-part) + 255*part) / 4) }
			list = append(list, color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255})
		}
	}
	return list
}
