package draw

import (
	_ "embed"
	"fmt"
	"image/color"
	"math"
	"strings"
)

// Theme is the colours that lessons, debugger and traces share. Grey is a value, dark
// for small ones (see Value); a colour is what becomes of a record.
type Theme struct {
	Null    color.RGBA
	Pass    color.RGBA // a record passes, or is selected
	Tint    color.RGBA // mixed half and half with the grey of a value that passes
	Dropped color.RGBA // a record that the pass drops
	Quad    color.RGBA // what is compared with: the quad, a constant, a tentative value
	None    color.RGBA // neither; stencil value 0 too
}

// Light and Dark are the themes of pages; frames and pictures of lessons are light.
var (
	Light = Theme{Null: rgb(0xd6336c), Pass: rgb(0x0a8f5b), Tint: rgb(0x00be82), Dropped: rgb(0xa3323c), Quad: rgb(0xd55e00), None: rgb(0xd8d8d8)}
	Dark  = Theme{Null: rgb(0xf06595), Pass: rgb(0x35d399), Tint: rgb(0x00be82), Dropped: rgb(0xef6f78), Quad: rgb(0xff922b), None: rgb(0x2c343d)}
)

// stencil are the colours of the stencil values 1 to 7, which the colour-blind can tell
// apart (Okabe and Ito).
var stencil = []color.RGBA{rgb(0xe69f00), rgb(0x0072b2), rgb(0x009e73), rgb(0xcc79a7), rgb(0x56b4e9), rgb(0xf0e442), rgb(0xd55e00)}

// JS is the script that pages take colours with; it reads the variables of CSS.
//
//go:embed colours.js
var JS string

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

// Value returns the grey of a value at a place from 0 to 1 on its scale. Its lightness (CIE L*) is 14 to 96,
// in even steps.
func Value(place float64) color.RGBA {
	v := uint8(Lightness(14 + 82*place))
	return color.RGBA{v, v, v, 255}
}

// Half returns the middle between two colours.
func Half(a, b color.RGBA) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8((int(a) + int(b)) / 2) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// Passing returns the colour of a value that passes a test.
func (t Theme) Passing(place float64) color.RGBA { return Half(Value(place), t.Tint) }

// Share returns the colour of a cell of whose records a share has a fate, Pass or Dropped.
func (t Theme) Share(share float64, fate color.RGBA) color.RGBA {
	if share == 0 {
		return t.None
	}
	part := 0.3 + 0.7*share
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	return color.RGBA{mix(t.None.R, fate.R), mix(t.None.G, fate.G), mix(t.None.B, fate.B), 255}
}

// Stencil returns the colour of a stencil value: beyond 7 they come again, darker.
func (t Theme) Stencil(v uint8) color.RGBA {
	n := len(stencil) + 1
	c := append([]color.RGBA{t.None}, stencil...)[int(v)%n]
	for range min(int(v)/n, 3) {
		c.R, c.G, c.B = c.R/5*4, c.G/5*4, c.B/5*4
	}
	return c
}

// CSS returns the style sheet that names the colours of both themes.
func CSS() string {
	return ":root {" + Light.variables() + "}\n@media (prefers-color-scheme: dark) { :root {" + Dark.variables() + "} }\n"
}

func (t Theme) variables() string {
	list := func(of func(i int) color.RGBA, n int) string {
		texts := make([]string, n)
		for i := range n {
			c := of(i)
			texts[i] = fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
		}
		return strings.Join(texts, " ")
	}
	out := ""
	for _, v := range []struct {
		name string
		c    color.RGBA
	}{{"null", t.Null}, {"pass", t.Pass}, {"tint", t.Tint}, {"dropped", t.Dropped}, {"quad", t.Quad}, {"none", t.None}} {
		out += fmt.Sprintf(" --%s: %s;", v.name, list(func(int) color.RGBA { return v.c }, 1))
	}
	return out + fmt.Sprintf(" --values: %s; --stencil: %s; ", list(func(i int) color.RGBA { return Value(float64(i) / 8) }, 9),
		list(func(i int) color.RGBA { return t.Stencil(uint8(i)) }, 8))
}
