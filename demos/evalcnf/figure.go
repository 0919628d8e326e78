package main

import (
	"fmt"
	"image"
	"strings"

	"golang.org/x/image/font"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// The layout, in pixels. The picture is meant to be shown at half its size.
const (
	panel    = 256        // side of a panel
	pitch    = panel + 52 // from a column to the next
	columns  = 6          // the attributes or the legend, and five passes
	margin   = 48
	width    = margin + columns*pitch - (pitch - panel) + margin
	top      = 226 // of the first strip
	strip    = 766 // from a strip to the next
	depthAt  = 152 // of the panels within a strip
	arrowAt  = depthAt + panel + 31
	stencAt  = depthAt + panel + 44
	countAt  = stencAt + panel + 34
	height   = top + strip + countAt + 34 + margin
	perRow   = columns - 1
	places   = 2 * perRow // the nine passes, and the answer
	textSize = 27
	leading  = 32
)

// canvas is a picture of panels.
type canvas struct{ *draw.Canvas }

// figure is what the picture shows: two attributes, the passes, the answer.
type figure struct {
	shape      textures.Shape
	fields     [2]string
	attributes [2][]float32
	steps      []lesson.Step
	selected   uint64
}

func (f *figure) draw() (*image.Paletted, error) {
	fonts, err := draw.NewFonts(draw.Sizes{Title: 44, Body: textSize, Small: textSize, Mono: textSize + 1}, font.HintingNone)
	if err != nil {
		return nil, err
	}
	c := &canvas{fonts.New(width, height)}
	c.Fill(c.Rect, draw.Colors[draw.White])
	rows := uint64(f.shape.Rows)
	c.text(c.Title, margin, 88, "EvalCNF: a boolean combination lives in the stencil buffer")
	c.text(c.Mono, margin, 140, query)
	c.text(c.Body, margin, 184, fmt.Sprintf("One texel is one of %s flights. They are sorted by delay into lines, each line by distance: "+
		"delay grows downwards, distance to the right.", numbers.Grouped(rows)))
	c.text(c.Bold, margin, top+64, "Attributes")
	c.text(c.Body, margin, top+98, f.fields[0])
	c.panel(margin, top+depthAt, f.shape, draw.Ramp(f.attributes[0]))
	c.text(c.Body, margin, top+arrowAt, f.fields[1])
	c.panel(margin, top+stencAt, f.shape, draw.Ramp(f.attributes[1]))
	c.legend(margin, top+strip+64)
	for i, clause := range []string{clause1, clause2} {
		x, y := margin+pitch, top+i*strip
		c.text(c.Bold, x, y+14, fmt.Sprintf("Clause %d:", i+1))
		c.text(c.Mono, x+140, y+14, clause)
		c.Fill(image.Rect(x, y+24, width-margin, y+26), draw.Colors[draw.Line])
		c.Upwards(c.Body, x-12, y+depthAt+panel/2, "depth", draw.Colors[draw.Ink])
		c.Upwards(c.Body, x-12, y+stencAt+panel/2, "stencil", draw.Colors[draw.Ink])
	}
	var sum uint64
	var counts []string
	for i, s := range f.steps {
		x, y := place(i)
		c.text(c.Bold, x, y+64, fmt.Sprintf("%d %s", i+1, s.Pass.Routine()))
		c.lines(x, y+98, panel, argument(s.Pass.Op))
		c.panel(x, y+depthAt, f.shape, tested(s))
		c.text(c.Body, x, y+arrowAt, rule(s.Pass))
		if s.Stencil == nil {
			c.Frame(image.Rect(x+2, y+stencAt+2, x+panel-2, y+stencAt+panel-2), 2, draw.Colors[draw.Line])
			c.text(c.Body, x+50, y+stencAt+panel/2+8, "not in use yet")
		} else {
			c.panel(x, y+stencAt, f.shape, draw.Values(s.Stencil))
		}
		if s.Pass.Count {
			sum += s.Count
			counts = append(counts, numbers.Grouped(s.Count))
			c.text(c.Bold, x, y+countAt, "counts "+numbers.Grouped(s.Count))
			if sum != s.Count {
				c.text(c.Body, x, y+countAt+34, "so far "+numbers.Grouped(sum))
			}
		}
	}
	kept := f.steps[len(f.steps)-1].Stencil
	x, y := place(len(f.steps))
	c.text(c.Bold, x, y+64, "Selected")
	c.text(c.Body, x, y+98, "stencil is not 0")
	c.panel(x, y+depthAt, f.shape, draw.Chosen(len(kept), func(i int) bool { return kept[i] != 0 }))
	c.text(c.Title, x, y+stencAt+90, numbers.Grouped(f.selected))
	c.text(c.Body, x, y+stencAt+130, "of "+numbers.Grouped(rows)+" flights")
	c.text(c.Body, x, y+stencAt+164, "= "+strings.Join(counts, " + "))
	return c.Reduced(), nil
}

func place(i int) (x, y int) { return margin + (1+i%perRow)*pitch, top + i/perRow*strip }

// argument is what stands below the routine of a pass.
func argument(op pass.Op) string {
	switch op := op.(type) {
	case pass.CopyToDepth:
		return op.Attribute.String()
	case pass.Compare:
		return op.Predicate()
	case pass.EvalCNF:
		return op.Does()
	}
	return op.Counts()
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

// tested shows depth, tinted where the pass's depth test passes.
func tested(s lesson.Step) []uint8 {
	shades := draw.Ramp(s.Depth)
	if s.Pass.Depth.Write || !s.Pass.Depth.Test {
		return shades
	}
	return draw.Tint(shades, func(i int) bool { return lesson.Passes(s.Pass, s.Depth[i]) })
}

func (c *canvas) text(f *draw.Face, x, y int, s string) {
	c.Canvas.Text(f, x, y, s, draw.Colors[draw.Ink])
}

// lines writes body text in lines of at most a width and returns the last baseline.
func (c *canvas) lines(x, y, width int, s string) int {
	for i, line := range c.Body.Wrap(s, width) {
		if i > 0 {
			y += leading
		}
		c.text(c.Body, x, y, line)
	}
	return y
}

func (c *canvas) panel(x, y int, sh textures.Shape, texels []uint8) {
	c.Texels(x, y, panel, sh, texels)
}

func (c *canvas) legend(x, y int) {
	c.text(c.Bold, x, y, "Attribute, depth")
	c.text(c.Body, x, y+34, "shaded by rank")
	for i := range panel {
		shade := uint8(i * draw.Levels / panel)
		c.Fill(image.Rect(x+i, y+54, x+i+1, y+84), draw.Colors[draw.Grey+shade])
		c.Fill(image.Rect(x+i, y+172, x+i+1, y+202), draw.Colors[draw.Tinted+shade])
	}
	c.text(c.Body, x, y+114, "small")
	c.Right(c.Body, x+panel, y+114, "large", draw.Colors[draw.Ink])
	c.text(c.Body, x, y+162, "depth test passes:")
	c.text(c.Bold, x, y+284, "Stencil")
	y += 304
	for i, text := range []string{"failed a clause", "before clause 1; passed clause 2", "passed clause 1"} {
		on := []int{draw.Ink, draw.Ink, draw.White}[i]
		c.Fill(image.Rect(x, y, x+44, y+44), draw.Colors[draw.Stencil+i])
		c.Canvas.Text(c.Bold, x+14, y+31, fmt.Sprint(i), draw.Colors[on])
		y = c.lines(x+58, y+31, panel-58, text) + 24
	}
}
