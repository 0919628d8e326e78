package draw

import (
	"image/color"
	"math"
)

// The palette, of the light theme: the greys of values, the same tinted where a test
// passes, and the stencil values.
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
		place := float64(i) / (Levels - 1)
		p[Grey+i], p[Tinted+i] = Value(place), Light.Passing(place)
	}
	p[White] = color.White
	for v := range uint8(3) {
		p[Stencil+v] = Light.Stencil(v)
	}
	p[Ink] = color.RGBA{0x1a, 0x1a, 0x1a, 255}
	p[Line] = color.RGBA{0xb0, 0xb0, 0xb0, 255}
	p[Mark] = Light.Quad
	return p
}
