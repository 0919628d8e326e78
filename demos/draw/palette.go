package draw

import (
	"image/color"
	"math"
)

// The palette: a grey ramp of even steps in lightness, the same tinted where a
// test passes, and the stencil values in colours that the colour-blind can tell
// apart (Okabe and Ito).
const (
	Levels  = 96
	Grey    = 0
	Tinted  = Levels
	White   = 2 * Levels
	Stencil = White + 1 // of value 0; 1 and 2 follow
	Ink     = Stencil + 3
	Line    = Ink + 1
	Mark    = Line + 1 // what a picture points at: the quad, the answer
)

// Colors are the palette of the lessons' pictures.
var Colors = palette()

// Lightness returns the grey, 0..255, of a lightness (CIE L*).
func Lightness(l float64) float64 {
	y := math.Pow((l+16)/116, 3)
	return 255 * (1.055*math.Pow(y, 1/2.4) - 0.055)
}

func palette() color.Palette {
	p := make(color.Palette, Mark+1)
	for i := range Levels {
		v := Lightness(14 + 82*float64(i)/(Levels-1))
		mix := func(c float64) uint8 { return uint8(0.5*v + 0.5*c) }
		p[Grey+i] = color.RGBA{uint8(v), uint8(v), uint8(v), 255}
		p[Tinted+i] = color.RGBA{mix(0), mix(190), mix(130), 255}
	}
	p[White] = color.White
	p[Stencil] = color.RGBA{0xd8, 0xd8, 0xd8, 255}
	p[Stencil+1] = color.RGBA{0xe6, 0x9f, 0x00, 255}
	p[Stencil+2] = color.RGBA{0x00, 0x72, 0xb2, 255}
	p[Ink] = color.RGBA{0x1a, 0x1a, 0x1a, 255}
	p[Line] = color.RGBA{0xb0, 0xb0, 0xb0, 255}
	p[Mark] = color.RGBA{0xd5, 0x5e, 0x00, 255}
	return p
}
