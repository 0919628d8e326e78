package main

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"golang.org/x/image/font"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// The layout, in pixels. The picture is meant to be shown at half its size.
const (
	panel   = 256        // side of a panel
	pitch   = panel + 52 // from a column to the next
	columns = 6          // the attributes or the legend, and five passes
	margin  = 48
	width   = margin + columns*pitch - (pitch - panel) + margin
	top     = 226 // of the first strip
	strip   = 766 // from a strip to the next
	depthAt = 152 // of the panels within a strip
	arrowAt = depthAt + panel + 31
	stencAt = depthAt + panel + 44
	countAt = stencAt + panel + 34
	height  = top + strip + countAt + 34 + margin
	perRow  = columns - 1
	places  = 2 * perRow // the nine passes, and the answer
)

// The palette: a grey ramp of even steps in lightness, the same tinted where a
// depth test passes, and the stencil values in colours that the colour-blind can
// tell apart (Okabe and Ito).
const (
	levels = 96
	grey   = 0
	tinted = levels
	white  = 2 * levels
	value  = white + 1 // of stencil 0; 1 and 2 follow
	ink    = value + 3
	line   = ink + 1
)

var colors = palette()

func palette() color.Palette {
	p := make(color.Palette, line+1)
	for i := range levels {
		l := 14 + 82*float64(i)/(levels-1) // CIE L*
		y := math.Pow((l+16)/116, 3)
		v := 255 * (1.055*math.Pow(y, 1/2.4) - 0.055)
		mix := func(c float64) uint8 { return uint8(0.5*v + 0.5*c) }
		p[grey+i] = color.RGBA{uint8(v), uint8(v), uint8(v), 255}
		p[tinted+i] = color.RGBA{mix(0), mix(190), mix(130), 255}
	}
	p[white] = color.White
	p[value] = color.RGBA{0xd8, 0xd8, 0xd8, 255}
	p[value+1] = color.RGBA{0xe6, 0x9f, 0x00, 255}
	p[value+2] = color.RGBA{0x00, 0x72, 0xb2, 255}
	p[ink] = color.RGBA{0x1a, 0x1a, 0x1a, 255}
	p[line] = color.RGBA{0xb0, 0xb0, 0xb0, 255}
	return p
}

// figure is what the picture shows: two attributes, the passes, the answer.
type figure struct {
	shape      textures.Shape
	fields     [2]string
	attributes [2][]float32
	steps      []step
	selected   uint64
}

func (f *figure) draw() (*image.Paletted, error) {
	c, err := newCanvas(width, height)
	if err != nil {
		return nil, err
	}
	rows := uint64(f.shape.Rows)
	c.text(c.title, margin, 88, "EvalCNF: a boolean combination lives in the stencil buffer")
	c.text(c.mono, margin, 140, query)
	c.text(c.body, margin, 184, fmt.Sprintf("One texel is one of %s flights. They are sorted by delay into lines, each line by distance: "+
		"delay grows downwards, distance to the right.", thousands(rows)))
	c.text(c.bold, margin, top+64, "Attributes")
	c.text(c.body, margin, top+98, f.fields[0])
	c.panel(margin, top+depthAt, f.shape, ramp(f.attributes[0]))
	c.text(c.body, margin, top+arrowAt, f.fields[1])
	c.panel(margin, top+stencAt, f.shape, ramp(f.attributes[1]))
	c.legend(margin, top+strip+64)
	for i, clause := range []string{clause1, clause2} {
		x, y := margin+pitch, top+i*strip
		c.text(c.bold, x, y+14, fmt.Sprintf("Clause %d:", i+1))
		c.text(c.mono, x+140, y+14, clause)
		c.fill(image.Rect(x, y+24, width-margin, y+26), line)
		c.upwards(x-12, y+depthAt+panel/2, "depth")
		c.upwards(x-12, y+stencAt+panel/2, "stencil")
	}
	var sum uint64
	var counts []string
	for i, s := range f.steps {
		x, y := place(i)
		routine, argument := split(s.pass.Name)
		c.text(c.bold, x, y+64, fmt.Sprintf("%d %s", i+1, routine))
		c.lines(x, y+98, 17, argument)
		c.panel(x, y+depthAt, f.shape, s.tested())
		c.text(c.body, x, y+arrowAt, rule(s.pass))
		if s.stencil == nil {
			c.frame(x, y+stencAt)
			c.text(c.body, x+50, y+stencAt+panel/2+8, "not in use yet")
		} else {
			c.panel(x, y+stencAt, f.shape, values(s.stencil))
		}
		if s.pass.Count {
			sum += s.count
			counts = append(counts, thousands(s.count))
			c.text(c.bold, x, y+countAt, "counts "+thousands(s.count))
			if sum != s.count {
				c.text(c.body, x, y+countAt+34, "so far "+thousands(sum))
			}
		}
	}
	x, y := place(len(f.steps))
	c.text(c.bold, x, y+64, "Selected")
	c.text(c.body, x, y+98, "stencil is not 0")
	c.panel(x, y+depthAt, f.shape, chosen(f.steps[len(f.steps)-1].stencil))
	c.text(c.title, x, y+stencAt+90, thousands(f.selected))
	c.text(c.body, x, y+stencAt+130, "of "+thousands(rows)+" flights")
	c.text(c.body, x, y+stencAt+164, "= "+strings.Join(counts, " + "))
	return c.img, nil
}

// place returns where the i-th pass stands.
func place(i int) (x, y int) { return margin + (1+i%perRow)*pitch, top + i/perRow*strip }

// split takes a pass's name apart: "Compare(delay < 0)", "EvalCNF: drop records".
func split(name string) (routine, argument string) {
	if routine, argument, ok := strings.Cut(name, ": "); ok {
		return routine, argument
	}
	routine, argument, _ = strings.Cut(strings.TrimSuffix(name, ")"), "(")
	return routine, argument
}

// rule says what a pass does to stencil values: "passes: 1 → 2".
func rule(p *pass.Pass) string {
	st := p.Stencil
	if !st.Test {
		return ""
	}
	to := map[pass.StencilOp]uint8{pass.Incr: st.Ref + 1, pass.Decr: st.Ref - 1, pass.Zero: 0}[st.Pass]
	s := fmt.Sprintf("%d → %d", st.Ref, to)
	if p.Depth.Test {
		s = "passes: " + s
	}
	if p.Clear != nil {
		s = fmt.Sprintf("clear to %d; %s", p.Clear.Value, s)
	}
	return s
}

// ramp returns a grey for each value, by its rank among all: values are skewed,
// and in proportion nearly all would be black.
func ramp(v []float32) []uint8 {
	order := slices.Sorted(slices.Values(v))
	out := make([]uint8, len(v))
	for i, x := range v {
		lo, _ := slices.BinarySearch(order, x)
		out[i] = grey + uint8(lo*(levels-1)/len(v))
	}
	return out
}

// tested shows depth, tinted where the pass's depth test passes.
func (s step) tested() []uint8 {
	out := ramp(s.depth)
	if s.pass.Depth.Write || !s.pass.Depth.Test {
		return out
	}
	for i, stored := range s.depth {
		if passes(s.pass.Depth.Func, s.pass.Quad, stored) {
			out[i] += tinted - grey
		}
	}
	return out
}

// passes is the depth test of the query's comparisons: the quad's depth against
// the stored one.
func passes(f pass.Func, quad, stored float32) bool {
	switch f {
	case pass.Less:
		return quad < stored
	case pass.LEqual:
		return quad <= stored
	case pass.GEqual:
		return quad >= stored
	case pass.Greater:
		return quad > stored
	}
	return false
}

func values(stencil []uint8) []uint8 {
	out := make([]uint8, len(stencil))
	for i, v := range stencil {
		out[i] = value + min(v, 2)
	}
	return out
}

func chosen(stencil []uint8) []uint8 {
	out := make([]uint8, len(stencil))
	for i, v := range stencil {
		out[i] = value
		if v != 0 {
			out[i] = ink
		}
	}
	return out
}

// legend explains the colours.
func (c *canvas) legend(x, y int) {
	c.text(c.bold, x, y, "Attribute, depth")
	c.text(c.body, x, y+34, "shaded by rank")
	for i := range panel {
		shade := uint8(i * levels / panel)
		c.fill(image.Rect(x+i, y+54, x+i+1, y+84), grey+shade)
		c.fill(image.Rect(x+i, y+172, x+i+1, y+202), tinted+shade)
	}
	c.text(c.body, x, y+114, "small")
	c.text(c.body, x+panel-font.MeasureString(c.body, "large").Ceil(), y+114, "large")
	c.text(c.body, x, y+162, "depth test passes:")
	c.text(c.bold, x, y+284, "Stencil")
	y += 304
	for i, text := range []string{"failed a clause", "before clause 1; passed clause 2", "passed clause 1"} {
		on := []uint8{ink, ink, white}[i]
		c.fill(image.Rect(x, y, x+44, y+44), value+uint8(i))
		c.write(c.bold, x+14, y+31, fmt.Sprint(i), on)
		y = c.lines(x+58, y+31, 16, text) + 24
	}
}

// thousands writes 65536 as 65,536.
func thousands(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
