package debugger

import (
	"fmt"
	"image"

	"github.com/go-gl/gl/v4.5-core/gl"
	"golang.org/x/image/font"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
	"github.com/stencildb/stencildb/trace"
)

// view draws frames. It is used on the GL thread.
type view struct {
	objects
	programs *shaders.Cache
	surface  surface
	fonts    *draw.Fonts
	shown    *draw.Canvas // the frame that was drawn last
	camera   camera

	texels  uint32 // the vertex array of pictures; its elements are the corners of the net of the height field
	sampler uint32 // reads any texture texel by texel
	palette uint32
	tables  map[scale]*placeTable
}

// placeTable is where numbers lie on a scale.
type placeTable struct {
	entries []float32
	texture uint32
}

func newView(ctx *glctx.Context) (*view, error) {
	v := &view{objects: objects{ctx: ctx}, programs: shaders.NewCache(ctx), surface: surface{objects: objects{ctx: ctx}},
		camera: newCamera(), tables: map[scale]*placeTable{}}
	var err error
	if v.fonts, err = draw.NewFonts(draw.Sizes{Title: 19, Body: 14, Small: 12, Mono: 13}, font.HintingFull); err != nil {
		return v, err
	}
	v.texels, v.sampler = v.add("vertex array", gl.CreateVertexArrays, gl.DeleteVertexArrays), v.add("sampler", gl.CreateSamplers, gl.DeleteSamplers)
	corners, list := v.add("buffer", gl.CreateBuffers, gl.DeleteBuffers), netCorners()
	gl.NamedBufferStorage(corners, 4*len(list), gl.Ptr(list), 0)
	gl.VertexArrayElementBuffer(v.texels, corners)
	gl.SamplerParameteri(v.sampler, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
	gl.SamplerParameteri(v.sampler, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
	v.palette = v.texture(gl.RGBA8, 256, paletteLines)
	gl.TextureSubImage2D(v.palette, 0, 0, 0, 256, paletteLines, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(palette()))
	return v, ctx.Check("debugger: palettes")
}

// prepare makes what takes longer than a frame. That is the programs of all pictures and of the passes that
// are shown, and the tables of the ranks of the statement's attributes.
func (v *view) prepare(s *scene, passes *shaders.Cache) error {
	for _, source := range []shaders.Source{paneProgram("CODES"), paneProgram("DEPTH"), paneProgram("STENCIL"), paneProgram("PASSES"),
		fieldProgram(), fieldProgram("FLAT")} {
		if _, err := v.programs.Get(source); err != nil {
			return err
		}
	}
	if s.chunk == nil {
		return nil
	}
	for _, p := range s.passes {
		if tests(p.Pass) && p.Pass.Color == nil {
			if _, err := passes.Get(trace.Marking(p.Pass, nil).Program); err != nil {
				return err
			}
		}
	}
	for _, col := range s.plan.Reads() {
		v.table(scale{chunk: s.chunk, col: col, limb: whole})
		for limb := range textures.Limbs(s.chunk.Segments[col].Bits) {
			v.table(scale{chunk: s.chunk, col: col, limb: limb})
		}
	}
	return nil
}

func (v *view) close() {
	v.surface.close()
	v.objects.close()
	v.programs.Close()
}

func (v *view) table(s scale) *placeTable {
	if s.chunk != nil && textures.Limbs(s.chunk.Segments[s.col].Bits) == 1 {
		s.limb = whole
	}
	t, ok := v.tables[s]
	if !ok {
		t = &placeTable{entries: s.places()}
		t.texture = v.texture(gl.R32F, len(t.entries), 1)
		gl.TextureSubImage2D(t.texture, 0, 0, 0, int32(len(t.entries)), 1, gl.RED, gl.FLOAT, gl.Ptr(t.entries))
		v.tables[s] = t
	}
	return t
}

// height is where a number lies on a scale, as demo_field.vert has it.
func (v *view) height(s scale, number float64) float32 {
	list := v.table(s).entries
	x := min(max(number/max(1, float64(s.top())), 0), 1) * float64(len(list)-1)
	i := int(x)
	a, b := list[i], list[min(i+1, len(list)-1)]
	return a + (b-a)*float32(x-float64(i))
}

// frame is a frame on its way. After the first error nothing is drawn but text.
type frame struct {
	*view
	*draw.Canvas // takes what the device draws, too
	demo         *Demo
	scene        *scene // nil where the statement failed
	layout       layout
	err          error
}

// fail keeps the first error and reports whether there is one.
func (f *frame) fail(err error) bool {
	if f.err == nil {
		f.err = err
	}
	return f.err != nil
}

func (v *view) draw(d *Demo) error {
	if err := v.surface.resize(d.size); err != nil {
		return err
	}
	gl.BindFramebuffer(gl.FRAMEBUFFER, v.surface.frame)
	gl.ColorMask(true, true, true, true)
	gl.DepthMask(true)
	gl.ClearColor(1, 1, 1, 1)
	gl.ClearDepth(1)
	gl.Clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT)
	v.shown = v.fonts.New(d.size.X, d.size.Y)
	v.shown.Fill(v.shown.Rect, paper)
	f := &frame{view: v, Canvas: v.shown, demo: d, scene: d.scene, layout: d.layout()}
	parts := []func(){f.panes, f.field, f.record, f.head, f.list, f.state, f.lines, f.found, f.help}
	if d.traced {
		parts[0], parts[1] = f.traced, f.concluded
	}
	if !fits(d.size.X, d.size.Y) {
		parts = []func(){func() {
			f.Text(f.Body, 10, 24, "This window is too small:", ink)
			f.Text(f.Body, 10, 44, fmt.Sprintf("make it %d x %d or larger.", MinWidth, MinHeight), ink)
		}}
	}
	for _, part := range parts {
		part()
	}
	f.fail(v.ctx.Check("debugger: draw a frame"))
	return f.err
}

// id returns the texture of a ref of the statement.
func (f *frame) id(ref textures.Ref) uint32 {
	id, err := f.demo.stage.Runner.Store().Texture(ref)
	f.fail(err)
	gl.BindFramebuffer(gl.FRAMEBUFFER, f.surface.frame)
	return id
}

// paint draws records with a program into a rectangle of the frame. others is a second
// texture of them, 0 for none.
func (f *frame) paint(source shaders.Source, r image.Rectangle, records, others uint32, s scale, draw func(), more ...shaders.Uniform) {
	program, err := f.view.programs.Get(source)
	if f.fail(err) {
		return
	}
	gl.BindVertexArray(f.texels)
	for unit, id := range []uint32{records, f.palette, f.table(s).texture, others} {
		gl.BindTextureUnit(uint32(unit), id)
		gl.BindSampler(uint32(unit), f.sampler)
		defer gl.BindSampler(uint32(unit), 0)
	}
	nulls, sh, low := int32(0), f.shape(), f.layout.size.Y-r.Max.Y
	if s.nulls() {
		nulls = 1
	}
	gl.UseProgram(program.ID)
	gl.Viewport(int32(r.Min.X), int32(low), int32(r.Dx()), int32(r.Dy()))
	f.fail(program.Set(append(more, shaders.Uniform{Name: "chunk", I: []int32{int32(sh.Width), int32(sh.Height), int32(sh.Rows), int32(textures.ShapeOf(sh.Rows).Width)}},
		shaders.Float("scale", float32(s.top())), shaders.Int("nulls", nulls),
		shaders.Uniform{Name: "pane", I: []int32{int32(r.Min.X), int32(low), int32(r.Dx()), int32(r.Dy())}})))
	draw()
}

// take copies a rectangle that the device has drawn onto the canvas.
func (f *frame) take(r image.Rectangle) {
	line := 4 * r.Dx()
	pixels := make([]uint8, line*r.Dy())
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, f.surface.frame)
	gl.ReadPixels(int32(r.Min.X), int32(f.layout.size.Y-r.Max.Y), int32(r.Dx()), int32(r.Dy()), gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(pixels))
	for y := range r.Dy() {
		copy(f.Pix[f.PixOffset(r.Min.X, r.Max.Y-1-y):], pixels[y*line:][:line])
	}
}

// records draws the records of the chunk, line by line of [textures.ViewOf], into a rectangle of the frame.
func (f *frame) records(kind string, r image.Rectangle, records, others uint32, s scale, more ...shaders.Uniform) {
	f.paint(paneProgram(kind), r, records, others, s, func() { gl.DrawArrays(gl.TRIANGLES, 0, 3) }, more...)
	f.take(r)
}

// paneProgram draws texels of a kind: CODES, DEPTH, STENCIL or PASSES.
func paneProgram(kind string) shaders.Source {
	return shaders.Join([]string{"demo_scale.glsl", "demo_pane.frag"}, kind)
}

// test describes the depth test of a pass to a program; none where p is nil.
func test(p *pass.Pass) []shaders.Uniform {
	on, f, bounded := int32(0), int32(0), int32(0)
	var quad [4]float32
	const limb = 1 << textures.LimbBits
	if p != nil && p.Compared() != nil {
		on, f, quad[0] = 1, int32(p.Depth.Func), p.Quad*limb
		if b := p.Bounds; b != nil {
			bounded, quad[1], quad[2] = 1, float32(b.Lo*limb), float32(b.Hi*limb)
		}
	}
	return []shaders.Uniform{{Name: "test", I: []int32{on, f, bounded}}, {Name: "quad", F: quad[:]}}
}
