package debugger

import (
	"fmt"
	"image"
	"image/color"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// pane is one of the four pictures of the chunk's records.
type pane struct {
	title, note string
	why         string                      // there is nothing to show; "" where there is
	shows       string                      // a pixel, of several records
	draw        func(at, r image.Rectangle) // the picture into r, its scale below it
}

func (f *frame) panes() {
	if f.scene == nil || f.scene.chunk == nil {
		return
	}
	sh := f.shape()
	for i, p := range []pane{f.attribute(), f.depth(), f.stencil(), f.result()} {
		at := f.layout.panes[i]
		end := f.Text(f.Bold, at.Min.X, at.Min.Y+14, p.title, ink)
		if f.Small.Width(p.note) <= at.Max.X-end-10 {
			f.Text(f.Small, end+10, at.Min.Y+14, p.note, faint)
		}
		r := picture(at, sh.Width, sh.Height)
		f.Frame(r, 1, hair)
		if p.why != "" {
			f.undefined(r, p.why)
			continue
		}
		p.draw(at, r)
		f.Text(f.Small, r.Min.X, r.Max.Y+33, f.Small.Clip(f.reduced(r, p.shows), at.Dx()), faint)
	}
}

// shape is the rectangle that the panes show the chunk's records in.
func (f *frame) shape() textures.Shape { return textures.ViewOf(f.scene.chunk.Rows) }

// undefined draws a pane that has nothing to show.
func (f *frame) undefined(r image.Rectangle, why string) {
	f.Fill(r, ground)
	lines := f.Small.Wrap(why, r.Dx()-20)
	for i, line := range lines {
		f.Text(f.Small, (r.Min.X+r.Max.X-f.Small.Width(line))/2, (r.Min.Y+r.Max.Y)/2+4+16*i-8*(len(lines)-1), line, faint)
	}
}

// reduced says what a pixel shows where it stands for several records.
func (f *frame) reduced(r image.Rectangle, what string) string {
	sh := f.shape()
	x, y := (sh.Width+r.Dx()-1)/r.Dx(), (sh.Height+r.Dy()-1)/r.Dy()
	if x == 1 && y == 1 {
		return ""
	}
	return fmt.Sprintf("a pixel: %s %d x %d records", what, x, y)
}

// scaleBar draws the colours of a scale with its ends and its name, and that of NULL where there
// are any.
func (f *frame) scaleBar(at, r image.Rectangle, lo, hi string, nulls bool, name string) {
	y, x := r.Max.Y+7, r.Min.X
	colours := palette()[4*256*valueLine:]
	room := (at.Dx() - 64 - 12) / 2 // for each end
	if nulls {
		room -= 28
	}
	x = f.Text(f.Small, x, y+10, f.Small.Clip(lo, room), ink) + 6
	for i := range 64 {
		c := colours[4*(i*255/63):]
		f.Fill(image.Rect(x+i, y, x+i+1, y+11), color.RGBA{c[0], c[1], c[2], 255})
	}
	x = f.Text(f.Small, x+70, y+10, f.Small.Clip(hi, room), ink) + 10
	if nulls {
		f.Fill(image.Rect(x, y, x+11, y+11), ofNull)
		x = f.Text(f.Small, x+15, y+10, "NULL", ink) + 10
	}
	if f.Small.Width(name) <= at.Max.X-x {
		f.Text(f.Small, x, y+10, name, faint)
	}
}

func (f *frame) scaleName() string {
	if f.demo.Linear {
		return "in proportion"
	}
	return "by rank"
}

// attribute is the attribute that the pass reads, or that was chosen.
func (f *frame) attribute() pane {
	ref, first, col := f.scene.attribute(f.demo.Attribute)
	if col < 0 {
		return pane{title: "Attribute", why: "the statement reads no attribute"}
	}
	return pane{title: "Attribute: " + f.scene.plan.Table.Field(col).Name, note: "codes in a texture", shows: "the first of", draw: func(at, r image.Rectangle) {
		seg, limbs, thirds := f.scene.chunk.Segments[col], 1, uint32(0)
		if !ref.Packed {
			if limbs = textures.Limbs(seg.Bits); limbs > 2 {
				thirds = f.id(textures.AttributeHigh(f.scene.chunk, col))
			}
		}
		f.records("CODES", r, f.id(ref), thirds, scale{f.scene.chunk, col, whole, f.demo.Linear}, shaders.Uniform{Name: "limbs", I: []int32{int32(first), int32(limbs)}})
		f.scaleBar(at, r, seg.Decode(0).String(), seg.Decode(seg.Max).String(), seg.Nulls > 0, f.scaleName())
	}}
}

// depth is the depth buffer; records that pass the depth test are tinted.
func (f *frame) depth() pane {
	t := f.scene.target
	if t == nil || !t.depth {
		return pane{title: "Depth buffer", why: "no attribute has been copied to depth yet"}
	}
	note := "green passes"
	if f.scene.quads() == nil {
		note = "no depth test here"
	}
	return pane{title: "Depth buffer: " + f.scene.depthName(), note: note, shows: "the first of", draw: func(at, r image.Rectangle) {
		others := f.nulls()
		f.records("DEPTH", r, t.Texture, others, f.depthScale(), test(f.scene.pass)...)
		f.scaleBar(at, r, f.scene.depthValue(0), f.scene.depthValue(f.depthScale().top()), others != 0, f.scaleName())
	}}
}

// nulls returns the texture of the attribute whose depths are shown, 0 where it has no NULLs. The depth of
// NULLs depends on the limb and on the compared value.
func (f *frame) nulls() uint32 {
	if s := f.depthScale(); s.nulls() {
		return f.id(textures.Attribute(s.chunk, s.col))
	}
	return 0
}

func (f *frame) depthScale() scale {
	if t := f.scene.target; t.col >= 0 {
		return scale{f.scene.chunk, t.col, t.limb, f.demo.Linear}
	}
	return scale{}
}

func (f *frame) stencil() pane {
	t := f.scene.target
	if t == nil || !t.stencil {
		return pane{title: "Stencil buffer", why: "not in use yet"}
	}
	note := ""
	if p := f.scene.pass; p != nil && p.Stencil.Test && p.Stencil.WriteMask != 0 {
		note = fmt.Sprintf("pass: %v", p.Stencil.Pass)
	}
	return pane{title: "Stencil buffer", note: note, shows: "the first of", draw: func(at, r image.Rectangle) {
		gl.TextureParameteri(t.Texture, gl.DEPTH_STENCIL_TEXTURE_MODE, gl.STENCIL_INDEX)
		f.records("STENCIL", r, t.Texture, 0, scale{})
		gl.TextureParameteri(t.Texture, gl.DEPTH_STENCIL_TEXTURE_MODE, gl.DEPTH_COMPONENT)
		x, y := r.Min.X, r.Max.Y+7
		for _, v := range f.scene.stencilValues() {
			if x+50 > at.Max.X {
				f.Text(f.Small, x, y+11, "…", ink)
				break
			}
			f.Fill(image.Rect(x, y, x+12, y+12), draw.Light.Stencil(v))
			x = f.Text(f.Small, x+16, y+11, fmt.Sprint(v), ink) + 12
		}
	}}
}

// stencilValues are the values that the stencil buffer holds, the smallest first.
func (s *scene) stencilValues() []uint8 {
	if s.legend == nil {
		var held [256]bool
		for _, v := range s.target.Stencil() {
			held[v] = true
		}
		for v, there := range held {
			if there {
				s.legend = append(s.legend, uint8(v))
			}
		}
	}
	return s.legend
}

// result is which records pass; after the last pass, which are selected.
func (f *frame) result() pane {
	s, p := f.scene, pane{title: "Result: records that pass", shows: "the share of"}
	switch {
	case s.drops():
		p.title = "Result: records dropped"
	case s.selection:
		p.title = "Result: the selection"
	}
	switch {
	case s.pass == nil:
		p.why = "no pass has happened"
	case s.mask == 0 && s.selection:
		p.why = "every record is selected, or none"
	case s.mask == 0:
		p.why = "every record passes: this pass tests nothing"
	}
	p.draw = func(at, r image.Rectangle) {
		fate, mark := selected, int32(3)
		if s.drops() {
			fate, mark = dropped, 4
		}
		f.records("PASSES", r, s.mask, 0, scale{}, shaders.Uniform{Name: "fate", I: []int32{mark}})
		y := r.Max.Y + 7
		f.Fill(image.Rect(r.Min.X, y, r.Min.X+12, y+12), fate)
		f.part(image.Pt(r.Min.X+18, y+11), at.Max.X, s.passing, s.chunk.Rows, fate)
	}
	return p
}

// part writes how many of so many records have a fate, up to x, their share where there is room.
func (f *frame) part(at image.Point, x int, n uint64, of int, fate color.RGBA) {
	text := fmt.Sprintf("%s of %s (%s)", numbers.Grouped(n), numbers.Grouped(uint64(of)), percent(float64(n)/float64(max(of, 1))))
	if f.Bold.Width(text) > x-at.X {
		text = numbers.Grouped(n)
	}
	f.Text(f.Bold, at.X, at.Y, f.Bold.Clip(text, x-at.X), fate)
}

// quads returns what the pass at hand compares the stored depths with, in 2^-24.
func (s *scene) quads() []float64 {
	if s.pass == nil {
		return nil
	}
	list := s.pass.Compared()
	for i := range list {
		list[i] *= 1 << textures.LimbBits
	}
	return list
}

// drops reports whether the records that are shown are those that the pass at hand drops.
func (s *scene) drops() bool { return s.pass != nil && !s.selection && s.pass.Drops() }

// percent writes a share; what is not nothing is not 0.0 %.
func percent(share float64) string {
	if 0 < share && share < 0.0005 {
		return "below 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}
