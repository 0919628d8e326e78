package draw

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/textures"
)

// Canvas is a picture in the palette, with the fonts to write on it.
type Canvas struct {
	*image.Paletted
	Title, Bold, Body, Mono font.Face

	size float64
}

// NewCanvas returns a white canvas whose body text is size pixels high.
func NewCanvas(w, h int, size float64) (*Canvas, error) {
	c := &Canvas{Paletted: image.NewPaletted(image.Rect(0, 0, w, h), colors), size: size}
	c.Fill(c.Rect, White)
	for _, f := range []struct {
		face *font.Face
		ttf  []byte
		size float64
	}{{&c.Title, gobold.TTF, math.Round(1.63 * size)}, {&c.Bold, gobold.TTF, size}, {&c.Body, goregular.TTF, size}, {&c.Mono, gomono.TTF, size + 1}} {
		var err error
		if *f.face, err = Face(f.ttf, f.size, font.HintingNone); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Face opens a font, such as one of package gofont, size pixels high.
func Face(ttf []byte, size float64, hinting font.Hinting) (font.Face, error) {
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("font: %w", err)
	}
	return opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: hinting})
}

// Leading is the distance of two lines of body text.
func (c *Canvas) Leading() int { return int(math.Round(1.185 * c.size)) }

// Fill fills a rectangle.
func (c *Canvas) Fill(r image.Rectangle, index uint8) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c.SetColorIndex(x, y, index)
		}
	}
}

// Text writes s with its baseline at y.
func (c *Canvas) Text(face font.Face, x, y int, s string) { c.Write(face, x, y, s, Ink) }

// Right writes s so that it ends at x.
func (c *Canvas) Right(face font.Face, x, y int, s string) {
	c.Text(face, x-font.MeasureString(face, s).Ceil(), y, s)
}

// Write is Text in a colour.
func (c *Canvas) Write(face font.Face, x, y int, s string, index uint8) {
	d := font.Drawer{Dst: c, Src: image.NewUniform(colors[index]), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// Lines writes body text in lines of at most width pixels and returns the last
// baseline.
func (c *Canvas) Lines(x, y, width int, s string) int {
	lines := c.wrap(width, s)
	for i, l := range lines {
		c.Text(c.Body, x, y+i*c.Leading(), l)
	}
	return y + (len(lines)-1)*c.Leading()
}

// wrap cuts body text into lines of at most width pixels.
func (c *Canvas) wrap(width int, s string) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && font.MeasureString(c.Body, lines[n-1]+" "+word).Ceil() <= width {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// Upwards writes s turned by 90 degrees, its baseline at x, centred on y.
func (c *Canvas) Upwards(x, y int, s string) {
	w, h := font.MeasureString(c.Body, s).Ceil(), int(1.5*c.size)
	flat := &Canvas{Paletted: image.NewPaletted(image.Rect(0, 0, w, h), colors), Body: c.Body}
	flat.Fill(flat.Rect, White)
	base := int(1.12 * c.size)
	flat.Text(c.Body, 0, base, s)
	for v := range h {
		for u := range w {
			c.SetColorIndex(x-base+v, y+w/2-u, flat.ColorIndexAt(u, v))
		}
	}
}

// Texels draws a texture of palette indexes, row r at its texel, scaled to a width.
// Where that is less than the texture's, a pixel shows one of its records.
func (c *Canvas) Texels(x, y, width int, sh textures.Shape, texels []uint8) {
	for v := range sh.Height * width / sh.Width {
		for u := range width {
			i := v*sh.Width/width*sh.Width + u*sh.Width/width
			if i < len(texels) {
				c.SetColorIndex(x+u, y+v, texels[i])
			}
		}
	}
}

// Frame draws the outline of a rectangle.
func (c *Canvas) Frame(r image.Rectangle) {
	c.Fill(r, Line)
	c.Fill(r.Inset(2), White)
}

// WritePNG writes a picture to a file, whole or not at all.
func WritePNG(path string, img image.Image) error {
	return files.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}

func width(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }
