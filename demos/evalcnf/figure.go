package main

import (
	"fmt"
	"image"
	"strings"

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
	onto, err := draw.NewCanvas(width, height, textSize)
	if err != nil {
		return nil, err
	}
	c := &canvas{onto}
	rows := uint64(f.shape.Rows)
	c.Text(c.Title, margin, 88, "EvalCNF: a boolean combination lives in the stencil buffer")
	c.Text(c.Mono, margin, 140, query)
	c.Text(c.Body, margin, 184, fmt.Sprintf("One texel is one of %s flights. They are sorted by delay into lines, each line by distance: "+
		"delay grows downwards, distance to the right.", numbers.Grouped(rows)))
	c.Text(c.Bold, margin, top+64, "Attributes")
	c.Text(c.Body, margin, top+98, f.fields[0])
	c.panel(margin, top+depthAt, f.shape, draw.Ramp(f.attributes[0]))
	c.Text(c.Body, margin, top+arrowAt, f.fields[1])
	c.panel(margin, top+stencAt, f.shape, draw.Ramp(f.attributes[1]))
	c.legend(margin, top+strip+64)
	for i, clause := range []string{clause1, clause2} {
		x, y := margin+pitch, top+i*strip
		c.Text(c.Bold, x, y+14, fmt.Sprintf("Clause %d:", i+1))
		c.Text(c.Mono, x+140, y+14, clause)
		c.Fill(image.Rect(x, y+24, width-margin, y+26), draw.Line)
		c.Upwards(x-12, y+depthAt+panel/2, "depth")
		c.Upwards(x-12, y+stencAt+panel/2, "stencil")
	}
	var sum uint64
	var counts []string
	for i, s := range f.steps {
		x, y := place(i)
		c.Text(c.Bold, x, y+64, fmt.Sprintf("%d %s", i+1, s.Pass.Routine()))
		c.Lines(x, y+98, panel, argument(s.Pass.Op))
		c.panel(x, y+depthAt, f.shape, tested(s))
		c.Text(c.Body, x, y+arrowAt, rule(s.Pass))
		if s.Stencil == nil {
			c.Frame(image.Rect(x, y+stencAt, x+panel, y+stencAt+panel))
			c.Text(c.Body, x+50, y+stencAt+panel/2+8, "not in use yet")
		} else {
			c.panel(x, y+stencAt, f.shape, draw.Values(s.Stencil))
		}
		if s.Pass.Count {
			sum += s.Count
			counts = append(counts, numbers.Grouped(s.Count))
			c.Text(c.Bold, x, y+countAt, "counts "+numbers.Grouped(s.Count))
			if sum != s.Count {
				c.Text(c.Body, x, y+countAt+34, "so far "+numbers.Grouped(sum))
			}
		}
	}
	kept := f.steps[len(f.steps)-1].Stencil
	x, y := place(len(f.steps))
	c.Text(c.Bold, x, y+64, "Selected")
	c.Text(c.Body, x, y+98, "stencil is not 0")
	c.panel(x, y+depthAt, f.shape, draw.Chosen(len(kept), func(i int) bool { return kept[i] != 0 }))
	c.Text(c.Title, x, y+stencAt+90, numbers.Grouped(f.selected))
	c.Text(c.Body, x, y+stencAt+130, "of "+numbers.Grouped(rows)+" flights")
	c.Text(c.Body, x, y+stencAt+164, "= "+strings.Join(counts, " + "))
	return c.Paletted, nil
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

func (c *canvas) panel(x, y int, sh textures.Shape, texels []uint8) {
	c.Texels(x, y, panel, sh, texels)
}

func (c *canvas) legend(x, y int) {
	c.Text(c.Bold, x, y, "Attribute, depth")
	c.Text(c.Body, x, y+34, "shaded by rank")
	for i := range panel {
		shade := uint8(i * draw.Levels / panel)
		c.Fill(image.Rect(x+i, y+54, x+i+1, y+84), draw.Grey+shade)
		c.Fill(image.Rect(x+i, y+172, x+i+1, y+202), draw.Tinted+shade)
	}
	c.Text(c.Body, x, y+114, "small")
	c.Right(c.Body, x+panel, y+114, "large")
	c.Text(c.Body, x, y+162, "depth test passes:")
	c.Text(c.Bold, x, y+284, "Stencil")
	y += 304
	for i, text := range []string{"failed a clause", "before clause 1; passed clause 2", "passed clause 1"} {
		on := []uint8{draw.Ink, draw.Ink, draw.White}[i]
		c.Fill(image.Rect(x, y, x+44, y+44), draw.Stencil+uint8(i))
		c.Write(c.Bold, x+14, y+31, fmt.Sprint(i), on)
		y = c.Lines(x+58, y+31, panel-58, text) + 24
	}
}
