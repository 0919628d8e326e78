package debugger

import (
	"image/color"
	"math"

	"github.com/stencildb/stencildb/demos/draw"
)

// The colours of the frame: dark on light, marks in colours that the colour-blind can
// tell apart (Okabe and Ito).
var (
	paper     = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink       = color.RGBA{0x1a, 0x1a, 0x1a, 0xff}
	faint     = color.RGBA{0x6b, 0x6b, 0x6b, 0xff}
	hair      = color.RGBA{0xc4, 0xc4, 0xc4, 0xff}
	ground    = color.RGBA{0xf4, 0xf4, 0xf4, 0xff}
	marked    = color.RGBA{0xd9, 0xe8, 0xf5, 0xff}
	highlight = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	selected  = color.RGBA{0x00, 0x5c, 0x8c, 0xff}
	unchosen  = color.RGBA{0xec, 0xec, 0xec, 0xff}
	veil      = color.RGBA{0xb0, 0xb0, 0xb0, 0xb0} // white times its alpha
	ofNull    = color.RGBA{0xcc, 0x78, 0xa6, 0xff} // as demo_pane.frag has it
)

// The lines of the palette's texture, as demo_pane.frag reads it.
const (
	codeLine = iota
	depthLine
	passLine
	stencilLine
	paletteLines
)

// stops are from dark blue to yellow, of even steps in lightness, and differ for
// every kind of colour vision.
var stops = [][3]float64{{0, 34, 78}, {36, 62, 110}, {76, 84, 108}, {109, 109, 114}, {140, 135, 121}, {176, 163, 113}, {214, 195, 94}, {253, 231, 56}}

// stencilColors are those of the values 0 to 7; beyond them they come again, darker.
var stencilColors = []color.RGBA{{0xd8, 0xd8, 0xd8, 255}, {0xe6, 0x9f, 0x00, 255}, {0x00, 0x72, 0xb2, 255}, {0x00, 0x9e, 0x73, 255},
	{0xcc, 0x79, 0xa7, 255}, {0x56, 0xb4, 0xe9, 255}, {0xf0, 0xe4, 0x42, 255}, {0xd5, 0x5e, 0x00, 255}}

// palette is the texels of the palette's texture, RGBA, 256 to a line.
func palette() []uint8 {
	out := make([]uint8, 0, 4*256*paletteLines)
	for i := range 256 {
		x := float64(i) / 255 * float64(len(stops)-1)
		a := stops[int(x)]
		b := stops[min(int(x)+1, len(stops)-1)]
		for ch := range 3 {
			out = append(out, uint8(math.Round(a[ch]+(b[ch]-a[ch])*(x-math.Floor(x)))))
		}
		out = append(out, 255)
	}
	for _, tint := range []float64{1, 0.5} {
		for i := range 256 {
			v := draw.Lightness(20+74*float64(i)/255) * tint
			out = append(out, uint8(v), uint8(v+190*(1-tint)), uint8(v+130*(1-tint)), 255)
		}
	}
	for i := range 256 {
		c := stencilColor(uint8(i))
		out = append(out, c.R, c.G, c.B, 255)
	}
	return out
}

// frameColors are those of an animation: every fifth of the pictures' own, and those of text
// and marks at four strengths.
func frameColors() (list color.Palette) {
	for i, texels := 0, palette()[:4*256*stencilLine]; i < len(texels); i += 20 {
		list = append(list, color.RGBA{texels[i], texels[i+1], texels[i+2], 255})
	}
	for _, c := range append(stencilColors, paper, ink, faint, hair, ground, marked, highlight, selected, unchosen, ofNull) {
		for part := range 4 {
			mix := func(v uint8) uint8 { return uint8((int(v)*(4-part) + 255*part) / 4) }
			list = append(list, color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255})
		}
	}
	return list
}

func stencilColor(v uint8) color.RGBA {
	c := stencilColors[int(v)%len(stencilColors)]
	for range min(int(v)/len(stencilColors), 3) {
		c.R, c.G, c.B = c.R/5*4, c.G/5*4, c.B/5*4
	}
	return c
}
