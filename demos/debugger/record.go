package debugger

import (
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/textures"
)

// attribute returns the texture of the attribute to show, the channel in which it begins, and its column. It
// is the one asked for, else what the pass at hand reads, what lies in the depth buffer, or what the
// statement reads first. Column -1 is none.
func (s *scene) attribute(col int) (ref textures.Ref, first, shown int) {
	if s.pass != nil {
		for _, r := range s.pass.Textures {
			if r.Chunk != s.chunk || r.Form != textures.Floats || r.High {
				continue
			}
			for ch, c := range r.Cols {
				if c >= 0 && (col < 0 || c == col) && (r.Packed || ch == 0) {
					return r, ch, c
				}
			}
		}
	}
	if col < 0 && s.target != nil {
		col = s.target.col
	}
	if used := s.plan.Reads(); col < 0 && len(used) > 0 {
		col = used[0]
	}
	if col < 0 || s.chunk == nil {
		return textures.Ref{}, 0, -1
	}
	return textures.Attribute(s.chunk, col), 0, col
}

// depthName says what the depths are.
func (s *scene) depthName() string {
	t := s.target
	if t.col < 0 {
		return "shifted codes"
	}
	name := s.plan.Table.Field(t.col).Name
	if textures.Limbs(s.chunk.Segments[t.col].Bits) > 1 {
		name += fmt.Sprintf(", limb %d", t.limb)
	}
	return name
}

// depthValue writes a number of the depth buffer as the value that it stands for,
// where it stands for one.
func (s *scene) depthValue(limb uint64) string {
	if c := s.target.col; c >= 0 {
		seg := s.chunk.Segments[c]
		switch {
		case seg.Nulls > 0 && limb == 1<<textures.LimbBits:
			return "NULL"
		case textures.Limbs(seg.Bits) == 1 && limb <= seg.Max && seg.NonNull() > 0:
			return seg.Decode(limb).String()
		}
	}
	return numbers.Grouped(limb)
}

// rowAt finds the record that a pixel of a pane shows; of several the first.
func (f *frame) rowAt(at image.Point) (row int, ok bool) {
	if f.scene == nil || f.scene.chunk == nil {
		return 0, false
	}
	if f.demo.traced {
		return f.demo.pointed(at)
	}
	sh := f.shape()
	for _, pane := range f.layout.panes {
		if r := picture(pane, sh.Width, sh.Height); at.In(r) {
			x, y := (at.X-r.Min.X)*sh.Width/r.Dx(), (at.Y-r.Min.Y)*sh.Height/r.Dy()
			row = y*sh.Width + x
			return row, row < sh.Rows
		}
	}
	return 0, false
}

// record writes what the record under the mouse holds, read from the device.
func (f *frame) record() {
	r := f.layout.record
	f.Text(f.Bold, r.Min.X, r.Min.Y+14, "Record", ink)
	row, ok := f.rowAt(f.demo.mouse)
	if !ok {
		f.small(r, r.Min.Y+34, "Point at a record of a pane. "+f.order())
		return
	}
	s, sh := f.scene, f.shape()
	texels := textures.ShapeOf(s.chunk.Rows)
	u, v := row%texels.Width, row/texels.Width
	f.Text(f.Body, r.Min.X+64, r.Min.Y+14, fmt.Sprintf("row %s, texel (%d, %d)", numbers.Grouped(s.first()+row), u, v), ink)
	var held [][2]string
	if f.demo.traced {
		held = f.cells(row)
	} else {
		held = s.held(s.texel(u, v), row)
		x, y := row%sh.Width, row/sh.Width
		for _, pane := range f.layout.panes {
			r := picture(pane, sh.Width, sh.Height)
			f.mark(image.Rect(r.Min.X+x*r.Dx()/sh.Width, r.Min.Y+y*r.Dy()/sh.Height, r.Min.X+(x+1)*r.Dx()/sh.Width, r.Min.Y+(y+1)*r.Dy()/sh.Height))
		}
	}
	c := &card{f, r, r.Min.Y + 34}
	c.attributes(row, r.Max.Y-lineHeight*len(held))
	for _, h := range held {
		c.write(h[0], h[1])
	}
	f.small(r, c.y, f.order())
}

// small writes lines of small text into a rectangle, from a height on, if there is room.
func (f *frame) small(r image.Rectangle, y int, text string) {
	lines := f.Small.Wrap(text, r.Dx())
	if y+16*(len(lines)-1) > r.Max.Y {
		return
	}
	for i, line := range lines {
		f.Text(f.Small, r.Min.X, y+16*i, line, faint)
	}
}

// held is what the buffers hold for a texel, in names and values.
func (s *scene) held(t texel, row int) (list [][2]string) {
	if t.depth >= 0 {
		limb := math.Round(float64(t.depth) * (1 << textures.LimbBits))
		value := s.depthValue(uint64(limb))
		if col := s.target.col; col >= 0 && s.chunk.Segments[col].IsNull(row) {
			value = "NULL"
		}
		list = append(list, [2]string{"depth", fmt.Sprintf("%.0f / 2^24   %s %s", limb, s.depthName(), value)})
	}
	if t.stencil >= 0 {
		list = append(list, [2]string{"stencil", fmt.Sprint(t.stencil)})
	}
	if t.passes >= 0 {
		what := "passes"
		switch {
		case s.selection:
			what = "selected"
		case s.drops():
			what = "dropped"
		}
		list = append(list, [2]string{what, map[bool]string{true: "yes", false: "no"}[t.passes > 0]})
	}
	return list
}

// card is where a record is written, line by line.
type card struct {
	*frame
	r image.Rectangle
	y int // of the next line
}

const (
	lineHeight = 18
	valueAt    = 84 // behind the names
)

func (c *card) write(name, value string) {
	c.Text(c.Body, c.r.Min.X, c.y, c.Body.Clip(name, valueAt-6), faint)
	c.Text(c.Body, c.r.Min.X+valueAt, c.y, c.Body.Clip(value, c.r.Dx()-valueAt), ink)
	c.y += lineHeight
}

// attributes writes a row's values of the attributes of the statement, that in the depth buffer first. It
// also writes how many there is no room for above a height.
func (c *card) attributes(row, end int) {
	s := c.scene
	used := s.plan.Reads()
	if b := s.target; b != nil && b.col >= 0 {
		used = append([]int{b.col}, slices.DeleteFunc(used, func(col int) bool { return col == b.col })...)
	}
	for i, col := range used {
		if more := len(used) - i; more > 1 && c.y+lineHeight >= end {
			c.write("…", fmt.Sprintf("and %d more", more))
			return
		}
		name, seg := s.plan.Table.Field(col).Name, s.chunk.Segments[col]
		if seg.IsNull(row) {
			c.write(name, "NULL")
			continue
		}
		value, code := seg.Decode(seg.Codes.At(row)).String(), fmt.Sprintf("code %d", seg.Codes.At(row))
		if both := value + "   " + code; c.Body.Width(both) <= c.r.Dx()-valueAt {
			c.write(name, both)
			continue
		}
		c.write(name, value)
		if c.y+lineHeight < end {
			c.write("", code)
		}
	}
}

// order says in words how the records lie that the passes read; "" where that says nothing.
func (f *frame) order() string {
	if f.demo.options.Order == nil || f.scene == nil {
		return ""
	}
	return f.demo.options.Order(f.scene.plan.Table)
}

// mark frames a record of a pane, so that it is found in the others too.
func (f *frame) mark(record image.Rectangle) {
	at := record.Inset(-3)
	f.Frame(at, 1, paper)
	f.Frame(at.Inset(-1), 1, ink)
}

// first is the row of the table that is the chunk's first.
func (s *scene) first() int {
	n := 0
	for _, c := range s.plan.Table.Chunks[:max(0, slices.Index(s.plan.Table.Chunks, s.chunk))] {
		n += c.Rows
	}
	return n
}

// texel is what the device holds for a record; what is undefined is -1.
type texel struct {
	depth, passes float32
	stencil       int
}

func (s *scene) texel(x, y int) texel {
	out := texel{-1, -1, -1}
	if t := s.target; t != nil {
		gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.Framebuffer)
		if t.depth {
			gl.ReadPixels(int32(x), int32(y), 1, 1, gl.DEPTH_COMPONENT, gl.FLOAT, gl.Ptr(&out.depth))
		}
		if t.stencil {
			var v uint8
			gl.ReadPixels(int32(x), int32(y), 1, 1, gl.STENCIL_INDEX, gl.UNSIGNED_BYTE, gl.Ptr(&v))
			out.stencil = int(v)
		}
	}
	if s.mask != 0 {
		gl.GetTextureSubImage(s.mask, 0, int32(x), int32(y), 0, 1, 1, 1, gl.RED, gl.FLOAT, 4, gl.Ptr(&out.passes))
	}
	return out
}
