package draw

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/textures"
)

// Canvas is a picture with the fonts to write on it.
type Canvas struct {
	*image.RGBA
	*Fonts
}

// Fonts are the faces of a picture's text.
type Fonts struct{ Title, Bold, Body, Small, Mono *Face }

// Sizes are the heights of text in pixels.
type Sizes struct{ Title, Body, Small, Mono float64 }

// NewFonts opens the Go fonts. Hinted fonts advance by whole pixels.
func NewFonts(s Sizes, hinting font.Hinting) (*Fonts, error) {
	f := &Fonts{}
	for _, x := range []struct {
		face **Face
		ttf  []byte
		size float64
	}{{&f.Title, gobold.TTF, s.Title}, {&f.Bold, gobold.TTF, s.Body}, {&f.Body, goregular.TTF, s.Body}, {&f.Small, goregular.TTF, s.Small}, {&f.Mono, gomono.TTF, s.Mono}} {
		parsed, err := opentype.Parse(x.ttf)
		if err != nil {
			return nil, fmt.Errorf("font: %w", err)
		}
		face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: x.size, DPI: 72, Hinting: hinting})
		if err != nil {
			return nil, fmt.Errorf("font: %w", err)
		}
		*x.face = &Face{face, map[place]letter{}}
	}
	return f, nil
}

// New returns a canvas without anything on it.
func (f *Fonts) New(w, h int) *Canvas { return &Canvas{image.NewRGBA(image.Rect(0, 0, w, h)), f} }

// Fill fills a rectangle.
func (c *Canvas) Fill(r image.Rectangle, ink color.Color) {
	draw.Draw(c.RGBA, r, image.NewUniform(ink), image.Point{}, draw.Over)
}

// Frame draws the outline of a rectangle, outside it.
func (c *Canvas) Frame(r image.Rectangle, width int, ink color.Color) {
	o := r.Inset(-width)
	c.Fill(image.Rect(o.Min.X, o.Min.Y, o.Max.X, r.Min.Y), ink)
	c.Fill(image.Rect(o.Min.X, r.Max.Y, o.Max.X, o.Max.Y), ink)
	c.Fill(image.Rect(o.Min.X, r.Min.Y, r.Min.X, r.Max.Y), ink)
	c.Fill(image.Rect(r.Max.X, r.Min.Y, o.Max.X, r.Max.Y), ink)
}

// Text writes s with its baseline at y and returns where it ends.
func (c *Canvas) Text(f *Face, x, y int, s string, ink color.Color) (end int) {
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(ink), Face: f, Dot: fixed.P(x, y)}
	d.DrawString(s)
	return d.Dot.X.Ceil()
}

// Right writes s so that it ends at x.
func (c *Canvas) Right(f *Face, x, y int, s string, ink color.Color) {
	c.Text(f, x-f.Width(s), y, s, ink)
}

// Upwards writes s turned by 90 degrees, its baseline at x, centred on y.
func (c *Canvas) Upwards(f *Face, x, y int, s string, ink color.Color) {
	m := f.Metrics()
	base, w := m.Ascent.Ceil(), f.Width(s)
	flat := c.New(w, base+m.Descent.Ceil())
	flat.Text(f, 0, base, s, ink)
	turned := image.NewRGBA(image.Rect(0, 0, flat.Rect.Dy(), w))
	for v := range flat.Rect.Dy() {
		for u := range w {
			turned.SetRGBA(v, w-1-u, flat.RGBAAt(u, v))
		}
	}
	draw.Draw(c.RGBA, turned.Rect.Add(image.Pt(x-base, y+w/2-w+1)), turned, image.Point{}, draw.Over)
}

// Texels draws a texture of palette indexes, row r at its texel, scaled to a width.
// Where that is less than the texture's, a pixel shows one of its records.
func (c *Canvas) Texels(x, y, width int, sh textures.Shape, texels []uint8) {
	for v := range sh.Height * width / sh.Width {
		for u := range width {
			i := v*sh.Width/width*sh.Width + u*sh.Width/width
			if i < len(texels) {
				c.Set(x+u, y+v, Colors[texels[i]])
			}
		}
	}
}

// Reduce draws the picture in the colours of a palette that are nearest to its own.
func (c *Canvas) Reduce(out *image.Paletted) {
	known := map[color.RGBA]uint8{}
	for i := range out.Pix {
		p := c.Pix[4*i : 4*i+4 : 4*i+4]
		shade := color.RGBA{p[0], p[1], p[2], p[3]}
		index, ok := known[shade]
		if !ok {
			index = uint8(out.Palette.Index(shade))
			known[shade] = index
		}
		out.Pix[i] = index
	}
}

// Reduced is the picture in the palette of the lessons.
func (c *Canvas) Reduced() *image.Paletted {
	out := image.NewPaletted(c.Rect, Colors)
	c.Reduce(out)
	return out
}

// WritePNG writes a picture to a file, whole or not at all.
func WritePNG(path string, img image.Image) error {
	return files.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}
