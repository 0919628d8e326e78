package debugger

import (
	"fmt"
	"image"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// surface is what a frame is drawn on: a colour texture with depth of its own.
type surface struct {
	ctx                  *glctx.Context
	size                 image.Point
	frame, color, depths uint32
}

// resize makes the surface anew where its size differs.
func (s *surface) resize(size image.Point) error {
	if s.size == size {
		return nil
	}
	s.close()
	s.size = size
	gl.CreateTextures(gl.TEXTURE_2D, 1, &s.color)
	gl.CreateRenderbuffers(1, &s.depths)
	gl.CreateFramebuffers(1, &s.frame)
	gl.TextureStorage2D(s.color, 1, gl.RGBA8, int32(size.X), int32(size.Y))
	gl.NamedRenderbufferStorage(s.depths, gl.DEPTH_COMPONENT24, int32(size.X), int32(size.Y))
	gl.NamedFramebufferTexture(s.frame, gl.COLOR_ATTACHMENT0, s.color, 0)
	gl.NamedFramebufferRenderbuffer(s.frame, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, s.depths)
	s.track(1)
	status := gl.CheckNamedFramebufferStatus(s.frame, gl.FRAMEBUFFER)
	err := s.ctx.Check("debugger: a frame")
	if err == nil && status != gl.FRAMEBUFFER_COMPLETE {
		err = fmt.Errorf("debugger: a frame of %d x %d: framebuffer incomplete (0x%x)", size.X, size.Y, status)
	}
	return err
}

func (s *surface) close() {
	if s.frame == 0 {
		return
	}
	gl.DeleteFramebuffers(1, &s.frame)
	gl.DeleteTextures(1, &s.color)
	gl.DeleteRenderbuffers(1, &s.depths)
	s.track(-1)
	s.frame, s.size = 0, image.Point{}
}

func (s *surface) track(n int) {
	for _, kind := range []string{"framebuffer", "texture", "renderbuffer"} {
		s.ctx.Track(kind, n)
	}
}

// read copies the frame back, its first line on top.
func (s *surface) read() *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: s.size})
	line := 4 * s.size.X
	pixels := make([]uint8, line*s.size.Y)
	gl.GetTextureImage(s.color, 0, gl.RGBA, gl.UNSIGNED_BYTE, int32(len(pixels)), gl.Ptr(pixels))
	for y := range s.size.Y {
		copy(img.Pix[y*img.Stride:], pixels[(s.size.Y-1-y)*line:][:line])
	}
	return img
}

// painter draws what the device holds: textures of records, through tables.
type painter struct {
	ctx      *glctx.Context
	programs *shaders.Cache
	array    uint32
	corners  uint32 // of the net of the height field, cell by cell: the array's elements
	sampler  uint32 // reads any texture texel by texel
	palette  uint32
	tables   map[scaleKey]*rankTable
	linear   uint32 // the table of a scale in proportion
}

func newPainter(ctx *glctx.Context, programs *shaders.Cache) (*painter, error) {
	p := &painter{ctx: ctx, programs: programs, tables: map[scaleKey]*rankTable{}}
	gl.CreateVertexArrays(1, &p.array)
	gl.CreateSamplers(1, &p.sampler)
	gl.CreateBuffers(1, &p.corners)
	list := netCorners()
	gl.NamedBufferStorage(p.corners, 4*len(list), gl.Ptr(list), 0)
	gl.VertexArrayElementBuffer(p.array, p.corners)
	ctx.Track("buffer", 1)
	ctx.Track("vertex array", 1)
	ctx.Track("sampler", 1)
	gl.SamplerParameteri(p.sampler, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
	gl.SamplerParameteri(p.sampler, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
	p.palette = p.texture(gl.RGBA8, 256, paletteLines)
	gl.TextureSubImage2D(p.palette, 0, 0, 0, 256, paletteLines, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(palette()))
	p.linear = p.makeTable([]float32{0, 1}).texture
	return p, ctx.Check("debugger: palettes")
}

func (p *painter) texture(format uint32, width, height int) (id uint32) {
	gl.CreateTextures(gl.TEXTURE_2D, 1, &id)
	p.ctx.Track("texture", 1)
	gl.TextureStorage2D(id, 1, format, int32(width), int32(height))
	return id
}

// rankTable is where numbers lie by rank.
type rankTable struct {
	entries []float32
	texture uint32
}

func (p *painter) makeTable(entries []float32) *rankTable {
	id := p.texture(gl.R32F, len(entries), 1)
	gl.TextureSubImage2D(id, 0, 0, 0, int32(len(entries)), 1, gl.RED, gl.FLOAT, gl.Ptr(entries))
	return &rankTable{entries, id}
}

// table returns the table of a scale.
func (p *painter) table(k scaleKey) *rankTable {
	if textures.Limbs(k.chunk.Segments[k.col].Bits) == 1 {
		k.limb = whole
	}
	t, ok := p.tables[k]
	if !ok {
		t = p.makeTable(k.ranks())
		p.tables[k] = t
	}
	return t
}

func (p *painter) close() {
	list := []uint32{p.palette, p.linear}
	for _, t := range p.tables {
		list = append(list, t.texture)
	}
	gl.DeleteTextures(int32(len(list)), &list[0])
	p.ctx.Track("texture", -len(list))
	gl.DeleteVertexArrays(1, &p.array)
	gl.DeleteSamplers(1, &p.sampler)
	gl.DeleteBuffers(1, &p.corners)
	p.ctx.Track("buffer", -1)
	p.ctx.Track("vertex array", -1)
	p.ctx.Track("sampler", -1)
}

// scale is how numbers become places on a colour scale.
type scale struct {
	key    scaleKey
	linear bool
}

// ranks returns the texture of a scale's table.
func (p *painter) ranks(s scale) uint32 {
	if s.linear || !s.known() {
		return p.linear
	}
	return p.table(s.key).texture
}

// known reports whether the scale is that of an attribute.
func (s scale) known() bool { return s.key.chunk != nil && s.key.col >= 0 }

// compile makes the programs of all pictures.
func (p *painter) compile() error {
	for _, source := range []shaders.Source{paneProgram("CODES"), paneProgram("DEPTH"), paneProgram("STENCIL"), paneProgram("PASSES"),
		fieldProgram(), fieldProgram("FLAT")} {
		if _, err := p.programs.Get(source); err != nil {
			return err
		}
	}
	return nil
}

// paneProgram draws texels of a kind: CODES, DEPTH, STENCIL or PASSES.
func paneProgram(kind string) shaders.Source { return shaders.Load("demo_pane.frag", kind) }

// begin binds what every picture of records reads, and returns the function that ends
// this. others is a second texture of them, 0 for none.
func (p *painter) begin(records, others uint32, s scale) func() {
	gl.BindVertexArray(p.array)
	for unit, id := range []uint32{records, p.palette, p.ranks(s), others} {
		gl.BindTextureUnit(uint32(unit), id)
		gl.BindSampler(uint32(unit), p.sampler)
	}
	return func() {
		for unit := range uint32(4) {
			gl.BindSampler(unit, 0)
		}
	}
}

// about describes records and their scale to a program.
func about(sh textures.Shape, s scale) []shaders.Uniform {
	top := float32(1 << textures.LimbBits)
	nulls := int32(0)
	if s.known() {
		top = float32(s.key.top())
		if s.key.chunk.Segments[s.key.col].Nulls > 0 {
			nulls = 1
		}
	}
	return []shaders.Uniform{{Name: "chunk", I: []int32{int32(sh.Width), int32(sh.Height), int32(sh.Rows)}},
		shaders.Float("scale", top), shaders.Int("nulls", nulls)}
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

// pane draws records with demo_pane.frag, of the given kind, into a rectangle of a
// frame.
func (p *painter) pane(kind string, records, others uint32, r image.Rectangle, frame image.Point, sh textures.Shape, s scale, more ...shaders.Uniform) error {
	program, err := p.programs.Get(paneProgram(kind))
	if err != nil {
		return err
	}
	defer p.begin(records, others, s)()
	low := frame.Y - r.Max.Y
	gl.UseProgram(program.ID)
	gl.Viewport(int32(r.Min.X), int32(low), int32(r.Dx()), int32(r.Dy()))
	err = program.Set(append(append(about(sh, s), more...), shaders.Uniform{Name: "pane", I: []int32{int32(r.Min.X), int32(low), int32(r.Dx()), int32(r.Dy())}}))
	if err != nil {
		return err
	}
	gl.DrawArrays(gl.TRIANGLES, 0, 3)
	return p.ctx.Check("debugger: pane " + kind)
}

// codes draws an attribute's texture, from channel first on; thirds is the one with the
// third limb, 0 where there is none.
func (p *painter) codes(records, thirds uint32, ref textures.Ref, first int, r image.Rectangle, frame image.Point, s scale) error {
	limbs := int32(1)
	if !ref.Packed {
		limbs = int32(textures.Limbs(ref.Chunk.Segments[ref.Cols[0]].Bits))
	}
	return p.pane("CODES", records, thirds, r, frame, textures.ShapeOf(ref.Chunk.Rows), s, shaders.Uniform{Name: "limbs", I: []int32{int32(first), limbs}})
}

// stencil draws the stencil values of a depth-stencil texture.
func (p *painter) stencil(records uint32, r image.Rectangle, frame image.Point, sh textures.Shape) error {
	gl.TextureParameteri(records, gl.DEPTH_STENCIL_TEXTURE_MODE, gl.STENCIL_INDEX)
	defer gl.TextureParameteri(records, gl.DEPTH_STENCIL_TEXTURE_MODE, gl.DEPTH_COMPONENT)
	return p.pane("STENCIL", records, 0, r, frame, sh, scale{})
}
