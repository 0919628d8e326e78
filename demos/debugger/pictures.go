package debugger

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/go-gl/gl/v4.5-core/gl"
	"github.com/go-gl/mathgl/mgl32"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// panes draws the four panes.
func (f *frame) panes() error {
	if f.scene == nil {
		return nil
	}
	if len(f.scene.plan.Table.Chunks) == 0 {
		return nil
	}
	for i, draw := range []func(image.Rectangle) error{f.attribute, f.depth, f.stencil, f.result} {
		if err := draw(f.layout.panes[i]); err != nil {
			return err
		}
	}
	return nil
}

// shape is the rectangle of the chunk at hand.
func (f *frame) shape() textures.Shape { return textures.ShapeOf(f.scene.chunk.Rows) }

// picture prepares a pane with a title and returns where its picture goes.
func (f *frame) picture(pane image.Rectangle, title, note string) image.Rectangle {
	end := f.text(bold, pane.Min.X, pane.Min.Y+14, title, ink)
	if f.width(small, note) <= pane.Max.X-end-10 {
		f.text(small, end+10, pane.Min.Y+14, note, faint)
	}
	sh := f.shape()
	return picture(pane, sh.Width, sh.Height)
}

// undefined draws a pane that has nothing to show.
func (f *frame) undefined(r image.Rectangle, why string) {
	f.fill(r, ground)
	lines := f.wrap(small, why, r.Dx()-20)
	for i, line := range lines {
		f.text(small, (r.Min.X+r.Max.X-f.width(small, line))/2, (r.Min.Y+r.Max.Y)/2+4+16*i-8*(len(lines)-1), line, faint)
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

// scaleBar draws the colours of a scale with its ends, and that of NULL where there are
// any.
func (f *frame) scaleBar(pane, r image.Rectangle, line int, lo, hi, note string, nulls bool) {
	y, x := r.Max.Y+7, r.Min.X
	colours := palette()[4*256*line:]
	room := (pane.Dx() - 64 - 12) / 2 // for each end
	if nulls {
		room -= 28
	}
	x = f.text(small, x, y+10, f.clip(small, lo, room), ink) + 6
	for i := range 64 {
		at := 4 * (i * 255 / 63)
		f.fill(image.Rect(x+i, y, x+i+1, y+11), color.RGBA{colours[at], colours[at+1], colours[at+2], 255})
	}
	x = f.text(small, x+70, y+10, f.clip(small, hi, room), ink) + 10
	if nulls {
		f.fill(image.Rect(x, y, x+11, y+11), ofNull)
		x = f.text(small, x+15, y+10, "NULL", ink) + 10
	}
	if name := f.scaleName(); f.width(small, name) <= pane.Max.X-x {
		f.text(small, x, y+10, name, faint)
	}
	f.text(small, r.Min.X, y+26, f.clip(small, note, pane.Dx()), faint)
}

func (f *frame) scaleName() string {
	if f.demo.Linear {
		return "in proportion"
	}
	return "by rank"
}

// attribute draws the attribute that the pass reads, or that was chosen.
func (f *frame) attribute(pane image.Rectangle) error {
	ref, first, col := f.scene.attribute(f.demo.Attribute)
	if col < 0 {
		r := f.picture(pane, "Attribute", "")
		f.undefined(r, "the statement reads no attribute")
		return nil
	}
	name := f.scene.plan.Table.Field(col).Name
	r := f.picture(pane, "Attribute: "+name, "codes in a texture")
	f.frame(r, hair)
	id, err := f.demo.stage.Runner.Store().Texture(ref)
	if err != nil {
		return err
	}
	seg, thirds := f.scene.chunk.Segments[col], uint32(0)
	if !ref.Packed && textures.Limbs(seg.Bits) > 2 {
		if thirds, err = f.demo.stage.Runner.Store().Texture(textures.AttributeHigh(f.scene.chunk, col)); err != nil {
			return err
		}
	}
	gl.BindFramebuffer(gl.FRAMEBUFFER, f.surface.frame)
	s := scale{scaleKey{f.scene.chunk, col, whole}, f.demo.Linear}
	if err := f.painter.codes(id, thirds, ref, first, r, f.layout.size, s); err != nil {
		return err
	}
	f.scaleBar(pane, r, codeLine, seg.Decode(0).String(), seg.Decode(seg.Max).String(), f.reduced(r, "the first of"), seg.Nulls > 0)
	return nil
}

// depth draws the depth buffer; records that pass the depth test are tinted.
func (f *frame) depth(pane image.Rectangle) error {
	t := f.scene.target
	if t == nil || !t.depth {
		r := f.picture(pane, "Depth buffer", "")
		f.undefined(r, "no attribute has been copied to depth yet")
		f.frame(r, hair)
		return nil
	}
	note := "green passes"
	if f.scene.quads() == nil {
		note = "no depth test here"
	}
	r := f.picture(pane, "Depth buffer: "+f.scene.depthName(), note)
	f.frame(r, hair)
	s := f.depthScale()
	others, err := f.nulls()
	if err != nil {
		return err
	}
	if err := f.painter.pane("DEPTH", t.Texture, others, r, f.layout.size, f.shape(), s, test(f.scene.pass)...); err != nil {
		return err
	}
	f.scaleBar(pane, r, depthLine, f.scene.depthValue(0), f.scene.depthValue(f.scene.top()), f.reduced(r, "the first of"), others != 0)
	return nil
}

// nulls returns the texture of the attribute whose depths there are, 0 where it has no
// NULLs: their depth depends on the limb and on what it is compared with.
func (f *frame) nulls() (uint32, error) {
	s := f.scene
	if col := s.target.col; col >= 0 && s.chunk.Segments[col].Nulls > 0 {
		id, err := f.demo.stage.Runner.Store().Texture(textures.Attribute(s.chunk, col))
		gl.BindFramebuffer(gl.FRAMEBUFFER, f.surface.frame)
		return id, err
	}
	return 0, nil
}

func (f *frame) depthScale() scale {
	t := f.scene.target
	if t.col < 0 {
		return scale{linear: true}
	}
	return scale{scaleKey{f.scene.chunk, t.col, t.limb}, f.demo.Linear}
}

// stencil draws the stencil buffer.
func (f *frame) stencil(pane image.Rectangle) error {
	t := f.scene.target
	if t == nil || !t.stencil {
		r := f.picture(pane, "Stencil buffer", "")
		f.undefined(r, "not in use yet")
		f.frame(r, hair)
		return nil
	}
	note := ""
	if p := f.scene.pass; p != nil && p.Stencil.Test && p.Stencil.WriteMask != 0 {
		note = fmt.Sprintf("pass: %v", p.Stencil.Pass)
	}
	r := f.picture(pane, "Stencil buffer", note)
	f.frame(r, hair)
	if err := f.painter.stencil(t.Texture, r, f.layout.size, f.shape()); err != nil {
		return err
	}
	x, y := r.Min.X, r.Max.Y+7
	for _, v := range t.values.list() {
		if x+50 > pane.Max.X {
			f.text(small, x, y+11, "…", ink)
			break
		}
		f.fill(image.Rect(x, y, x+12, y+12), stencilColor(v))
		x = f.text(small, x+16, y+11, fmt.Sprint(v), ink) + 12
	}
	f.text(small, r.Min.X, y+26, f.clip(small, f.reduced(r, "the first of"), pane.Dx()), faint)
	return nil
}

// result draws which records pass; after the last pass, which are selected.
func (f *frame) result(pane image.Rectangle) error {
	s := f.scene
	title, passing := "Result: records that pass", s.passing
	if s.drops() {
		title = "Result: records dropped"
	}
	if s.selection {
		title = "Result: the selection"
	}
	r := f.picture(pane, title, "")
	f.frame(r, hair)
	switch {
	case s.pass == nil:
		f.undefined(r, "no pass has happened")
		return nil
	case s.mask == 0 && s.selection:
		f.undefined(r, "every record is selected, or none")
		return nil
	case s.mask == 0:
		f.undefined(r, "every record passes: this pass tests nothing")
		return nil
	}
	if err := f.painter.pane("PASSES", s.mask, 0, r, f.layout.size, f.shape(), scale{}); err != nil {
		return err
	}
	y := r.Max.Y + 7
	f.fill(image.Rect(r.Min.X, y, r.Min.X+12, y+12), selected)
	text := fmt.Sprintf("%s of %s (%s)", numbers.Grouped(passing), numbers.Grouped(uint64(s.chunk.Rows)), percent(float64(passing)/float64(max(s.chunk.Rows, 1))))
	if f.width(bold, text) > pane.Dx()-18 {
		text = numbers.Grouped(passing)
	}
	f.text(bold, r.Min.X+18, y+11, f.clip(bold, text, pane.Dx()-18), selected)
	f.text(small, r.Min.X, y+26, f.clip(small, f.reduced(r, "the share of"), pane.Dx()), faint)
	return nil
}

// field draws the depth buffer as a height field with the quad of the pass.
func (f *frame) field() error {
	r := f.layout.field
	s := f.scene
	end := f.text(bold, r.Min.X, r.Min.Y+14, "Depth as height", ink)
	if s != nil && s.target != nil && s.target.depth && s.target.col >= 0 {
		end = f.text(small, end+8, r.Min.Y+14, f.scaleName(), faint)
	}
	box := image.Rect(r.Min.X, r.Min.Y+headHigh, r.Max.X, r.Max.Y-4)
	f.frame(box.Inset(1), hair)
	if s == nil || s.target == nil || !s.target.depth {
		f.undefined(box.Inset(1), "no attribute has been copied to depth yet")
		return nil
	}
	var levels []float32
	var names []string
	for _, l := range s.quads() {
		levels = append(levels, f.painter.height(f.depthScale(), l))
		names = append(names, s.depthValue(uint64(math.Round(l))))
	}
	if levels != nil {
		if note := "the quad cuts at its depth"; f.width(small, note) <= r.Max.X-end-8 {
			f.right(small, r.Max.X, r.Min.Y+14, note, highlight)
		}
	}
	others, err := f.nulls()
	if err != nil {
		return err
	}
	if err := f.painter.field(&f.camera, s.target.Texture, others, box, f.layout.size, f.shape(), f.depthScale(), s.pass, levels); err != nil {
		return err
	}
	f.fieldLabels(box, levels, names)
	return nil
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

// drops reports whether the records that are shown are those that the pass at hand takes
// from the selection, as EvalCNF's after a clause.
func (s *scene) drops() bool {
	p := s.pass
	return p != nil && !s.selection && !p.Count && p.Stencil.Test && p.Stencil.WriteMask != 0 && p.Stencil.Pass == pass.Zero
}

// percent writes a share; what is not nothing is not 0.0 %.
func percent(share float64) string {
	if 0 < share && share < 0.0005 {
		return "below 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// lineSpace is how far labels at the field are apart.
const lineSpace = 15

// fieldLabels writes the ends of the depths and the quad's depth at the field.
func (f *frame) fieldLabels(box image.Rectangle, levels []float32, names []string) {
	sh := f.shape()
	corner := func(h float32) image.Point {
		return f.camera.project(box, mgl32.Vec3{0.5, h * 0.5, 0.5 * float32(sh.Height) / float32(sh.Width)})
	}
	low, high := corner(0), corner(1)
	f.stroke(float32(low.X), float32(low.Y), float32(high.X), float32(high.Y), faint)
	write := func(at image.Point, s string, face int, shade color.RGBA) {
		w := f.width(face, s)
		x, y := min(at.X+6, box.Max.X-w-4), min(max(at.Y+4, box.Min.Y+14), box.Max.Y-4)
		f.fill(image.Rect(x-2, y-12, x+w+2, y+3), veil)
		f.text(face, x, y, s, shade)
	}
	free := func(at image.Point) bool { // of the quad's label
		return !slices.ContainsFunc(levels, func(h float32) bool { return math.Abs(float64(corner(h).Y-at.Y)) < 1.5*lineSpace })
	}
	if free(low) {
		write(low, f.scene.depthValue(0), small, faint)
	}
	if free(high) {
		write(high, f.scene.depthValue(f.scene.top()), small, faint)
	}
	for i, h := range levels {
		at := corner(h)
		if len(levels) == 2 { // the lower bound first: one above the other
			at.Y += (1 - 2*i) * max(0, lineSpace-(corner(levels[0]).Y-corner(levels[1]).Y)+1) / 2
		}
		write(at, names[i], bold, highlight)
	}
}

// height is where a number lies on a scale, as demo_field.vert has it.
func (p *painter) height(s scale, number float64) float32 {
	top := math.Max(1, 1<<textures.LimbBits)
	if s.known() {
		top = math.Max(1, float64(s.key.top()))
	}
	x := math.Min(math.Max(number/top, 0), 1)
	if s.linear || !s.known() {
		return float32(x)
	}
	table := p.table(s.key).entries
	x *= float64(len(table) - 1)
	i := int(x)
	a, b := table[i], table[min(i+1, len(table)-1)]
	return a + (b-a)*float32(x-float64(i))
}
