package main

import (
	"fmt"
	"image"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/stencildb/stencildb/textures"
)

// canvas is a picture in the palette, with the fonts to write on it.
type canvas struct {
	img                     *image.Paletted
	title, bold, body, mono font.Face
}

func newCanvas(w, h int) (*canvas, error) {
	c := &canvas{img: image.NewPaletted(image.Rect(0, 0, w, h), colors)}
	c.fill(c.img.Rect, white)
	for _, f := range []struct {
		face *font.Face
		ttf  []byte
		size float64
	}{{&c.title, gobold.TTF, 44}, {&c.bold, gobold.TTF, 27}, {&c.body, goregular.TTF, 27}, {&c.mono, gomono.TTF, 28}} {
		parsed, err := opentype.Parse(f.ttf)
		if err != nil {
			return nil, fmt.Errorf("font: %w", err)
		}
		if *f.face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size, DPI: 72}); err != nil {
			return nil, fmt.Errorf("font: %w", err)
		}
	}
	return c, nil
}

func (c *canvas) fill(r image.Rectangle, index uint8) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c.img.SetColorIndex(x, y, index)
		}
	}
}

// text writes s with its baseline at y.
func (c *canvas) text(face font.Face, x, y int, s string) { c.write(face, x, y, s, ink) }

// write is text in a colour.
func (c *canvas) write(face font.Face, x, y int, s string, index uint8) {
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(colors[index]), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// lines writes s in lines of at most n characters and returns the last baseline.
func (c *canvas) lines(x, y, n int, s string) int {
	rest := strings.Fields(s)
	for len(rest) > 0 {
		line := rest[0]
		rest = rest[1:]
		for len(rest) > 0 && len(line)+1+len(rest[0]) <= n {
			line += " " + rest[0]
			rest = rest[1:]
		}
		c.text(c.body, x, y, line)
		y += 32
	}
	return y - 32
}

// upwards writes s turned by 90 degrees, its baseline at x, centred on y.
func (c *canvas) upwards(x, y int, s string) {
	w := font.MeasureString(c.body, s).Ceil()
	flat := &canvas{img: image.NewPaletted(image.Rect(0, 0, w, 40), colors)}
	flat.fill(flat.img.Rect, white)
	flat.text(c.body, 0, 30, s)
	for v := range 40 {
		for u := range w {
			c.img.SetColorIndex(x-30+v, y+w/2-u, flat.img.ColorIndexAt(u, v))
		}
	}
}

// panel draws a texture of palette indexes, row r at its texel, scaled to the
// width of a panel.
func (c *canvas) panel(x, y int, sh textures.Shape, texels []uint8) {
	for v := range panel {
		for u := range panel {
			i := v*sh.Width/panel*sh.Width + u*sh.Width/panel
			if i < len(texels) {
				c.img.SetColorIndex(x+u, y+v, texels[i])
			}
		}
	}
}

// frame draws the outline of a panel that has nothing to show.
func (c *canvas) frame(x, y int) {
	c.fill(image.Rect(x, y, x+panel, y+panel), line)
	c.fill(image.Rect(x+2, y+2, x+panel-2, y+panel-2), white)
}
