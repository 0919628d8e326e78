package pass

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/occlusion"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// What is not in core.
const (
	depthBoundsTest           = 0x8890 // GL_DEPTH_BOUNDS_TEST_EXT
	shaderGlobalAccessBarrier = 0x10   // GL_SHADER_GLOBAL_ACCESS_BARRIER_BIT_NV
)

// GL is the runner that draws. It owns the draw state of its context: each pass
// sets only what differs from the pass before. Call it on the GL thread.
type GL struct {
	ctx      *glctx.Context
	programs *shaders.Cache
	store    *textures.Store
	counters *occlusion.Pool
	base     *Scope // of passes that run outside of any other
	scope    *Scope // of the passes that run now
	vao      uint32
	state    state
	grouped  bool  // a debug context: draws stand in named groups
	last     *Pass // for the errors of reads
}

// guard stands in for "no fragment program" in the depth tests of hardware devices. After a clear of the
// stencil buffer an H200 decides plain depth tests tile by tile. Where records lie at or near the clear depth
// it counts the tile as a whole: NULLs were counted by `x IS NOT NULL`. A fragment program that may discard
// makes it test each record, at no cost for large tables (docs/hardware.md).
var guard = shaders.Load("guard.frag")

func (g *GL) program(p *Pass) shaders.Source {
	if p.Program.Text == "" && p.Depth.Test && !g.ctx.Caps().Software {
		return guard
	}
	return p.Program
}

// state is the pipeline state as GL has it now.
type state struct {
	target   *textures.Target
	viewport textures.Rect
	program  uint32
	depth    Depth
	bounds   Bounds
	bounded  bool
	stencil  Stencil
	color    bool // colour writes
	blend    Blend
	colored  *textures.Target // has a colour buffer attached
}

// NewGL prepares a context for passes: what never changes is set here.
func NewGL(ctx *glctx.Context, store *textures.Store) *GL {
	g := &GL{ctx: ctx, store: store, programs: shaders.NewCache(ctx), counters: occlusion.NewPool(ctx)}
	g.base = g.Open()
	g.enter(g.base, context.Background())
	store.Lend = g.Lend
	var flags int32
	gl.GetIntegerv(gl.CONTEXT_FLAGS, &flags)
	g.grouped = flags&gl.CONTEXT_FLAG_DEBUG_BIT != 0
	gl.CreateVertexArrays(1, &g.vao)
	ctx.Track("vertex array", 1)
	g.reset()
	return g
}

// reset sets GL to the zero state, save for depth bounds and what is attached.
func (g *GL) reset() {
	gl.BindVertexArray(g.vao)
	gl.ColorMask(false, false, false, false)
	gl.Enable(gl.DEPTH_CLAMP) // a quad at depth 0 or 1 is not clipped
	gl.Disable(gl.DEPTH_TEST)
	gl.Disable(gl.STENCIL_TEST)
	gl.Disable(gl.BLEND)
	gl.BlendEquation(gl.FUNC_ADD)
	gl.DepthMask(false)
	gl.DepthFunc(gl.ALWAYS)
	gl.StencilFunc(gl.ALWAYS, 0, 0)
	gl.StencilOp(gl.KEEP, gl.KEEP, gl.KEEP)
	gl.StencilMask(0)
	if g.state.bounded {
		gl.Disable(depthBoundsTest)
	}
	g.state = state{bounds: g.state.bounds, colored: g.state.colored}
}

// Lend lets others draw between passes. draw finds all tests and writes off and may
// change any state but depth bounds, blend equations and scissors.
func (g *GL) Lend(draw func() error) error {
	g.reset()
	defer g.reset()
	return draw()
}

// Store returns the texture store.
func (g *GL) Store() *textures.Store { return g.store }

// Programs returns the program cache.
func (g *GL) Programs() *shaders.Cache { return g.programs }

// Prepared returns the time spent so far in uploads and in compiling programs: what a first
// execution takes longer.
func (g *GL) Prepared() time.Duration { return g.store.Uploaded() + g.programs.Compiled() }

// Slots implements Runner.
func (g *GL) Slots(t textures.TargetRef, n int) int { return g.store.Slots(t, n) }

// End ends what ran outside of any scope: what only that needed may be evicted, counters
// nobody waited for are taken back.
func (g *GL) End() {
	g.base.Close()
	g.last = nil
}

// Close deletes every object the runner made; the store is the caller's.
func (g *GL) Close() {
	g.programs.Close()
	g.counters.Close()
	gl.DeleteVertexArrays(1, &g.vao)
	g.ctx.Track("vertex array", -1)
}

// Run implements Runner. In a debug context the draw stands in a group of its Op's
// name, so that tools that look at GL name it.
func (g *GL) Run(p *Pass) (Count, error) {
	if err := g.scope.cancel.Err(); err != nil {
		return nil, err
	}
	if g.grouped {
		gl.PushDebugGroup(gl.DEBUG_SOURCE_APPLICATION, 0, -1, gl.Str(g.label(p)))
		defer gl.PopDebugGroup()
	}
	g.last = p
	run := g.draw
	if p.Dispatch != nil {
		run = g.dispatch
	}
	counter, err := run(p)
	if err != nil {
		return nil, fmt.Errorf("pass %v: %w", p, err)
	}
	if err := g.ctx.CheckOf("pass", p); err != nil {
		return nil, err
	}
	if counter == nil {
		return nil, nil
	}
	return Later(func() (uint64, error) {
		n, err := counter.Wait()
		if err != nil {
			err = fmt.Errorf("the count of pass %v: %w", p, err)
		}
		return n, err
	}), nil
}

// label is the name of a pass for a debug group, at most as long as GL allows.
func (g *GL) label(p *Pass) string {
	name := strings.ReplaceAll(p.String(), "\x00", " ")
	return name[:min(len(name), int(g.ctx.Caps().Limits["MAX_DEBUG_MESSAGE_LENGTH"])-1)] + "\x00"
}

// draw runs a pass over rows or a rectangle.
func (g *GL) draw(p *Pass) (counter *occlusion.Counter, err error) {
	if err := g.prepare(p); err != nil {
		return nil, err
	}
	if p.Count {
		counter = g.scope.counters.Begin()
		defer counter.End()
	}
	for _, r := range rects(p) {
		g.viewport(r)
		if p.Quads > 0 {
			gl.DrawArraysInstanced(gl.TRIANGLES, 0, 6, int32(p.Quads))
		} else {
			gl.DrawArrays(gl.TRIANGLES, 0, 3)
		}
	}
	return counter, nil
}

// Read implements Runner.
func (g *GL) Read(b textures.Block, words []uint32) error {
	return g.read(g.store.ReadBlock(b, words))
}

// ReadParts implements Runner.
func (g *GL) ReadParts(b textures.Block, n int, take func(at int, words []uint32)) error {
	return g.read(g.store.ReadParts(b, n, take))
}

// ReadTexels implements Runner.
func (g *GL) ReadTexels(t *textures.Temp, words []uint32) error {
	return g.read(g.store.ReadTexels(t, words))
}

// read names the pass before which an error was not seen.
func (g *GL) read(err error) error {
	if err != nil && g.last != nil {
		return fmt.Errorf("reading back after pass %v: %w", g.last, err)
	}
	return err
}

// dispatch runs a compute pass.
func (g *GL) dispatch(p *Pass) (*occlusion.Counter, error) {
	d := p.Dispatch
	if err := g.textures(p); err != nil {
		return nil, err
	}
	uniforms := p.Uniforms
	if len(d.Addressed) > 0 {
		words, err := g.store.Addresses(d.Addressed)
		if err != nil {
			return nil, err
		}
		uniforms = append(slices.Clip(uniforms), shaders.Uniform{Name: "address", I: words})
	}
	if err := g.store.BindBlocks(d.Blocks, d.Images); err != nil {
		return nil, err
	}
	prog, err := g.programs.Get(p.Program)
	if err != nil {
		return nil, err
	}
	built := g.state.program == 0 // or others have dispatched
	g.use(prog)
	if err := prog.Set(uniforms); err != nil {
		return nil, err
	}
	if !d.Beside || built {
		barriers := uint32(gl.SHADER_STORAGE_BARRIER_BIT)
		if d.Images {
			barriers |= gl.SHADER_IMAGE_ACCESS_BARRIER_BIT
		}
		if len(d.Addressed) > 0 {
			barriers |= shaderGlobalAccessBarrier
		}
		gl.MemoryBarrier(barriers)
	}
	gl.DispatchCompute(uint32(d.Groups[0]), uint32(max(1, d.Groups[1])), 1)
	return nil, nil
}

// use makes a program the current one.
func (g *GL) use(prog *shaders.Program) {
	if prog.ID != g.state.program {
		gl.UseProgram(prog.ID)
		g.state.program = prog.ID
	}
}

// textures begins a pass with the textures that it reads.
func (g *GL) textures(p *Pass) error {
	g.store.Begin()
	for i, ref := range p.Textures {
		if err := g.store.Bind(uint32(i), ref); err != nil {
			return err
		}
	}
	return nil
}

func (g *GL) prepare(p *Pass) error {
	if err := g.textures(p); err != nil {
		return err
	}
	prog, err := g.programs.Get(g.program(p))
	if err != nil {
		return err
	}
	if err := g.target(p); err != nil {
		return err
	}
	g.use(prog)
	if err := prog.Place(p.Quad); err != nil {
		return err
	}
	if err := prog.Set(p.Uniforms); err != nil {
		return err
	}
	g.clear(p.Clear)
	g.depth(p.Depth)
	g.stencil(p.Stencil)
	g.blend(p.Blend)
	return g.bounds(p.Bounds)
}

// rects returns what a pass draws over: the rows of its target.
func rects(p *Pass) []textures.Rect {
	if p.Target.Shape.Rows == 0 {
		return []textures.Rect{{Y: p.Color.Line, W: p.Color.Width, H: p.Color.Height}}
	}
	return p.Target.Shape.Rects()
}

// target binds the depth-stencil buffer, the colour buffer, or both.
func (g *GL) target(p *Pass) error {
	if p.Target.Shape.Rows == 0 {
		f, err := g.store.Draw(p.Color)
		if err != nil {
			return err
		}
		gl.BindFramebuffer(gl.FRAMEBUFFER, f)
		g.state.target = nil
		g.color(true)
		return nil
	}
	t, err := g.store.Target(p.Target)
	if err != nil {
		return err
	}
	if t != g.state.target {
		gl.BindFramebuffer(gl.FRAMEBUFFER, t.Framebuffer)
		g.state.target = t
	}
	if p.Color != nil || g.state.colored == t {
		if err := g.store.Attach(t, p.Color); err != nil {
			return err
		}
		g.state.colored = nil
		if p.Color != nil {
			g.state.colored = t
		}
	}
	g.color(p.Color != nil)
	return nil
}

func (g *GL) color(on bool) {
	if on != g.state.color {
		gl.ColorMask(on, on, on, on)
		g.state.color = on
	}
}

func (g *GL) viewport(r textures.Rect) {
	if r != g.state.viewport {
		gl.Viewport(int32(r.X), int32(r.Y), int32(r.W), int32(r.H))
		g.state.viewport = r
	}
}

// clear covers the whole buffer: rows and padding.
func (g *GL) clear(c *Clear) {
	if c == nil {
		return
	}
	g.writeMask(c.Mask)
	gl.ClearStencil(int32(c.Value))
	gl.Clear(gl.STENCIL_BUFFER_BIT)
}

func (g *GL) writeMask(m uint8) {
	if g.state.stencil.WriteMask != m {
		gl.StencilMask(uint32(m))
		g.state.stencil.WriteMask = m
	}
}

func (g *GL) depth(d Depth) {
	s := &g.state.depth
	if d.Test != s.Test {
		toggle(gl.DEPTH_TEST, d.Test)
	}
	if d.Func != s.Func {
		gl.DepthFunc(funcs[d.Func])
	}
	if d.Write != s.Write {
		gl.DepthMask(d.Write)
	}
	*s = d
}

func (g *GL) stencil(n Stencil) {
	s := &g.state.stencil
	if n.Test != s.Test {
		toggle(gl.STENCIL_TEST, n.Test)
		s.Test = n.Test
	}
	if !n.Test {
		return
	}
	g.writeMask(n.WriteMask)
	if n.Func != s.Func || n.Ref != s.Ref || n.Mask != s.Mask {
		gl.StencilFunc(funcs[n.Func], int32(n.Ref), uint32(n.Mask))
	}
	if n.Fail != s.Fail || n.DepthFail != s.DepthFail || n.Pass != s.Pass {
		gl.StencilOp(ops[n.Fail], ops[n.DepthFail], ops[n.Pass])
	}
	*s = n
}

func (g *GL) blend(b Blend) {
	if b == g.state.blend {
		return
	}
	if (b == Over) != (g.state.blend == Over) {
		toggle(gl.BLEND, b != Over)
	}
	if b != Over {
		gl.BlendEquation(equations[b])
	}
	g.state.blend = b
}

func (g *GL) bounds(b *Bounds) error {
	if (b != nil) != g.state.bounded {
		if b != nil && !g.ctx.Caps().DepthBounds {
			return fmt.Errorf("EXT_depth_bounds_test is not there")
		}
		toggle(depthBoundsTest, b != nil)
		g.state.bounded = b != nil
	}
	if b != nil && *b != g.state.bounds {
		g.ctx.DepthBounds(b.Lo, b.Hi)
		g.state.bounds = *b
	}
	return nil
}

func toggle(capability uint32, on bool) {
	if on {
		gl.Enable(capability)
	} else {
		gl.Disable(capability)
	}
}

var funcs = [...]uint32{Always: gl.ALWAYS, Never: gl.NEVER, Less: gl.LESS, LEqual: gl.LEQUAL,
	Equal: gl.EQUAL, NotEqual: gl.NOTEQUAL, GEqual: gl.GEQUAL, Greater: gl.GREATER}

var equations = [...]uint32{Min: gl.MIN, Max: gl.MAX}

var ops = [...]uint32{Keep: gl.KEEP, Zero: gl.ZERO, Replace: gl.REPLACE, Incr: gl.INCR, Decr: gl.DECR, Invert: gl.INVERT}
