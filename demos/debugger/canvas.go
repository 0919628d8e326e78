package debugger

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/math/fixed"

	paint "github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/shaders"
)

// The faces of text.
const (
	regular = iota
	bold
	mono
	small
	large
	faceCount
)

const atlasSide = 512

// canvas collects rectangles, lines and letters and draws them in one go. Letters are
// rasterised when they are first needed, into an atlas on the device. Call it on the
// GL thread.
type canvas struct {
	programs *shaders.Cache
	faces    [faceCount]font.Face
	glyphs   map[glyphKey]glyph
	next     image.Point // free place in the atlas
	line     int         // height of the line of letters begun there

	atlas, array, buffer uint32
	vertices             []vertex
}

type glyphKey struct {
	face int
	r    rune
}

// glyph is where a letter lies in the atlas, and where it goes.
type glyph struct {
	at      image.Point
	bounds  image.Rectangle // about the place of writing
	advance int
}

// vertex is a corner as demo_ui.vert reads it.
type vertex struct {
	x, y, u, v float32
	ink        color.RGBA // not premultiplied
}

func newCanvas(o *objects, programs *shaders.Cache) (*canvas, error) {
	c := &canvas{programs: programs, glyphs: map[glyphKey]glyph{}, next: image.Pt(2, 0)}
	for i, f := range [faceCount]struct {
		ttf  []byte
		size float64
	}{{goregular.TTF, 14}, {gobold.TTF, 14}, {gomono.TTF, 13}, {goregular.TTF, 12}, {gobold.TTF, 19}} {
		var err error
		if c.faces[i], err = paint.Face(f.ttf, f.size, font.HintingFull); err != nil {
			return nil, err
		}
	}
	c.atlas, c.buffer, c.array = o.texture(gl.R8, atlasSide, atlasSide), o.buffer(), o.array()
	gl.TextureParameteri(c.atlas, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
	gl.TextureParameteri(c.atlas, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
	covered := uint8(255)
	gl.ClearTexImage(c.atlas, 0, gl.RED, gl.UNSIGNED_BYTE, nil)
	gl.TextureSubImage2D(c.atlas, 0, 0, 0, 1, 1, gl.RED, gl.UNSIGNED_BYTE, gl.Ptr(&covered))
	gl.VertexArrayVertexBuffer(c.array, 0, c.buffer, 0, int32(unsafe.Sizeof(vertex{})))
	for i, f := range []struct {
		n, kind, offset uint32
		normal          bool
	}{{2, gl.FLOAT, 0, false}, {2, gl.FLOAT, 8, false}, {4, gl.UNSIGNED_BYTE, 16, true}} {
		gl.EnableVertexArrayAttrib(c.array, uint32(i))
		gl.VertexArrayAttribFormat(c.array, uint32(i), int32(f.n), f.kind, f.normal, f.offset)
		gl.VertexArrayAttribBinding(c.array, uint32(i), 0)
	}
	return c, o.ctx.Check("debugger: letters")
}

// quad adds a rectangle whose letter lies at a place of the atlas; u of -1 is none.
func (c *canvas) quad(r image.Rectangle, at image.Point, ink color.RGBA) {
	size := r.Size()
	if at.X < 0 {
		at, size = image.Point{}, image.Point{}
	}
	corner := func(x, y, u, v int) vertex {
		return vertex{float32(x), float32(y), float32(u), float32(v), ink}
	}
	a, b := corner(r.Min.X, r.Min.Y, at.X, at.Y), corner(r.Max.X, r.Min.Y, at.X+size.X, at.Y)
	d, e := corner(r.Max.X, r.Max.Y, at.X+size.X, at.Y+size.Y), corner(r.Min.X, r.Max.Y, at.X, at.Y+size.Y)
	c.vertices = append(c.vertices, a, b, d, a, d, e)
}

func (c *canvas) fill(r image.Rectangle, ink color.RGBA) { c.quad(r, image.Pt(-1, 0), ink) }

// frame adds the outline of a rectangle, outside it.
func (c *canvas) frame(r image.Rectangle, ink color.RGBA) {
	o := r.Inset(-1)
	c.fill(image.Rect(o.Min.X, o.Min.Y, o.Max.X, r.Min.Y), ink)
	c.fill(image.Rect(o.Min.X, r.Max.Y, o.Max.X, o.Max.Y), ink)
	c.fill(image.Rect(o.Min.X, r.Min.Y, r.Min.X, r.Max.Y), ink)
	c.fill(image.Rect(r.Max.X, r.Min.Y, o.Max.X, r.Max.Y), ink)
}

// stroke adds a line a pixel and a half wide.
func (c *canvas) stroke(x0, y0, x1, y1 float32, ink color.RGBA) {
	length := float32(math.Hypot(float64(x1-x0), float64(y1-y0)))
	if length == 0 {
		return
	}
	dx, dy := (y1-y0)/length*0.75, -(x1-x0)/length*0.75
	corner := func(x, y float32) vertex { return vertex{x: x, y: y, ink: ink} }
	a, b, d, e := corner(x0+dx, y0+dy), corner(x1+dx, y1+dy), corner(x1-dx, y1-dy), corner(x0-dx, y0-dy)
	c.vertices = append(c.vertices, a, b, d, a, d, e)
}

// text adds s with its baseline at y and returns where it ends.
func (c *canvas) text(face, x, y int, s string, ink color.RGBA) int {
	for _, r := range s {
		g := c.glyph(face, r)
		if !g.bounds.Empty() {
			c.quad(g.bounds.Add(image.Pt(x, y)), g.at, ink)
		}
		x += g.advance
	}
	return x
}

func (c *canvas) right(face, x, y int, s string, ink color.RGBA) {
	c.text(face, x-c.width(face, s), y, s, ink)
}

func (c *canvas) width(face int, s string) (w int) {
	for _, r := range s {
		w += c.glyph(face, r).advance
	}
	return w
}

// clip shortens text to a width at its end.
func (c *canvas) clip(face int, s string, width int) string { return c.shorten(face, s, width, 0) }

// clipMiddle shortens text to a width in the middle: names of passes differ at their
// ends.
func (c *canvas) clipMiddle(face int, s string, width int) string {
	return c.shorten(face, s, width, 2)
}

// shorten keeps one in so many letters for the end, 0 for none.
func (c *canvas) shorten(face int, s string, width, parts int) string {
	runes := []rune(s)
	for n := len(runes) - 1; n >= 0 && c.width(face, s) > width; n-- {
		tail := 0
		if parts > 0 {
			tail = n / parts
		}
		s = strings.TrimRight(string(runes[:n-tail]), " ") + "…" + string(runes[len(runes)-tail:])
	}
	return s
}

// wrap cuts text into lines of a width; a word that is wider is shortened.
func (c *canvas) wrap(face int, s string, width int) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && c.width(face, lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, c.clip(face, word, width))
	}
	return lines
}

// glyph returns a letter, rasterised at first use. Where the atlas is full, letters
// that are not in it yet stay blank.
func (c *canvas) glyph(face int, r rune) glyph {
	key := glyphKey{face, r}
	g, ok := c.glyphs[key]
	if ok {
		return g
	}
	bounds, mask, at, advance, found := c.faces[face].Glyph(fixed.P(0, 0), r)
	if found {
		g = glyph{bounds: bounds, advance: advance.Round()}
		g.at, ok = c.room(bounds.Size())
		if !ok {
			g.bounds = image.Rectangle{}
		}
	}
	if !g.bounds.Empty() {
		img := image.NewAlpha(image.Rectangle{Max: bounds.Size()})
		draw.Draw(img, img.Rect, mask, at, draw.Src)
		gl.TextureSubImage2D(c.atlas, 0, int32(g.at.X), int32(g.at.Y), int32(img.Rect.Dx()), int32(img.Rect.Dy()), gl.RED, gl.UNSIGNED_BYTE, gl.Ptr(img.Pix))
	}
	c.glyphs[key] = g
	return g
}

// room finds a place in the atlas.
func (c *canvas) room(size image.Point) (image.Point, bool) {
	if c.next.X+size.X > atlasSide {
		c.next, c.line = image.Pt(0, c.next.Y+c.line), 0
	}
	if c.next.Y+size.Y > atlasSide {
		return image.Point{}, false
	}
	at := c.next
	c.next.X += size.X
	c.line = max(c.line, size.Y)
	return at, true
}

func (c *canvas) flush(size image.Point) error {
	if len(c.vertices) == 0 {
		return nil
	}
	p, err := c.programs.Get(shaders.LoadPair([]string{"demo_ui.vert"}, "demo_ui.frag"))
	if err != nil {
		return err
	}
	gl.NamedBufferData(c.buffer, len(c.vertices)*int(unsafe.Sizeof(vertex{})), gl.Ptr(c.vertices), gl.STREAM_DRAW)
	gl.BindVertexArray(c.array)
	gl.UseProgram(p.ID)
	if err := p.Set([]shaders.Uniform{{Name: "size", F: []float32{1 / float32(size.X), 1 / float32(size.Y), 0, 0}}}); err != nil {
		return err
	}
	gl.BindTextureUnit(0, c.atlas)
	gl.Viewport(0, 0, int32(size.X), int32(size.Y))
	gl.Enable(gl.BLEND)
	gl.BlendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA) // the frame stays opaque
	gl.DrawArrays(gl.TRIANGLES, 0, int32(len(c.vertices)))
	gl.Disable(gl.BLEND)
	c.vertices = c.vertices[:0]
	return nil
}
