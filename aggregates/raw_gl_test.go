package aggregates_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// bare issues the passes of the routines with nothing in the way: no plan, no
// runner, no state tracking. It is what the device gives.
type bare struct {
	ctx                         *glctx.Context
	rows                        int
	flat, copyP, semi, bit      uint32
	flatDepth, bitScale, copyAt int32
	query                       uint32
	flight                      [19]uint32
}

const vertex = `#version 450 core
uniform float depth;
void main() { vec2 p = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2); gl_Position = vec4(p * 2.0 - 1.0, depth * 2.0 - 1.0, 1.0); }`

func openEngine(b *testing.B, t *table.Table) (*engine, func()) {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e := &engine{ctx: ctx, table: t, device: predicates.LimitsOf(ctx.Caps())}
	var store *textures.Store
	err = ctx.Do(context.Background(), func() error {
		store = textures.NewStore(ctx, 0)
		e.gl = pass.NewGL(ctx, store)
		// A slot of their own: what the queries do does not spoil the depth buffers.
		e.eval = predicates.New(e.gl, e.device, t, 0, textures.D24S8, 1, predicates.NewSlots())
		q := &physical.Query{Table: &table.Table{Name: t.Name, Fields: t.Fields[:4], Chunks: []*table.Chunk{{Rows: t.Chunks[0].Rows, Segments: t.Chunks[0].Segments[:4]}}},
			Chunks: []physical.ChunkPlan{{Pred: &predicate.Pred{Op: predicate.True}}}}
		e.kept = aggregates.NewSelection(e.gl, e.device, q, true)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return e, func() {
		_ = ctx.Do(context.Background(), func() error { e.gl.Close(); store.Close(); return nil })
		if err := ctx.Close(); err != nil {
			b.Error(err)
		}
	}
}

func openBare(b *testing.B, t *table.Table) (*bare, func()) {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := &bare{ctx: ctx, rows: t.Rows()}
	err = ctx.Do(context.Background(), func() error {
		store := textures.NewStore(ctx, 0)
		ch := t.Chunks[0]
		for i := range 4 {
			if err := store.Bind(uint32(i), textures.Attribute(ch, i)); err != nil {
				return err
			}
		}
		if err := store.Bind(4, textures.Pack(ch, []int{0, 1, 2, 3})); err != nil {
			return err
		}
		target, err := store.Target(textures.TargetRef{Shape: textures.ShapeOf(ch.Rows), Format: textures.D24S8})
		if err != nil {
			return err
		}
		r.setUp(b, target)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return r, func() { _ = ctx.Close() } // the context takes its objects along
}

func (r *bare) setUp(b *testing.B, t *textures.Target) {
	var vao uint32
	gl.CreateVertexArrays(1, &vao)
	gl.BindVertexArray(vao)
	gl.BindFramebuffer(gl.FRAMEBUFFER, t.Framebuffer)
	gl.Viewport(0, 0, int32(t.Ref.Shape.Width), int32(t.Ref.Shape.Height))
	gl.ColorMask(false, false, false, false)
	gl.Enable(gl.DEPTH_CLAMP)
	gl.Enable(gl.DEPTH_TEST)
	gl.CreateQueries(gl.SAMPLES_PASSED, 1, &r.query)
	gl.CreateQueries(gl.SAMPLES_PASSED, int32(len(r.flight)), &r.flight[0])
	r.flat = link(b, "")
	r.copyP = link(b, `#version 450 core
uniform sampler2D t; layout(depth_any) out float gl_FragDepth;
void main() { gl_FragDepth = texelFetch(t, ivec2(gl_FragCoord.xy), 0).r * (1.0 / 16777216.0); }`)
	r.semi = link(b, `#version 450 core
layout(binding = 4) uniform sampler2D t; uniform vec4 s; uniform float b;
void main() { if (!(dot(texelFetch(t, ivec2(gl_FragCoord.xy), 0), s) < b)) discard; }`)
	gl.ProgramUniform4f(r.semi, gl.GetUniformLocation(r.semi, gl.Str("s\x00")), 3, 7, -2, 1)
	gl.ProgramUniform1f(r.semi, gl.GetUniformLocation(r.semi, gl.Str("b\x00")), 2000000)
	r.bit = link(b, `#version 450 core
layout(binding = 0) uniform sampler2D t; uniform float c;
void main() { if (fract(texelFetch(t, ivec2(gl_FragCoord.xy), 0).r * c) < 0.5) discard; }`)
	r.flatDepth = gl.GetUniformLocation(r.flat, gl.Str("depth\x00"))
	r.bitScale = gl.GetUniformLocation(r.bit, gl.Str("c\x00"))
	r.copyAt = gl.GetUniformLocation(r.copyP, gl.Str("t\x00"))
	r.copyAttribute(0) // Compare and MEDIAN find it in the depth buffer
}

func link(b *testing.B, fragment string) uint32 {
	p := gl.CreateProgram()
	for kind, text := range map[uint32]string{gl.VERTEX_SHADER: vertex, gl.FRAGMENT_SHADER: fragment} {
		if text == "" {
			continue
		}
		s := gl.CreateShader(kind)
		str, free := gl.Strs(text + "\x00")
		gl.ShaderSource(s, 1, str, nil)
		free()
		gl.CompileShader(s)
		gl.AttachShader(p, s)
	}
	gl.LinkProgram(p)
	var ok int32
	if gl.GetProgramiv(p, gl.LINK_STATUS, &ok); ok == 0 {
		log := strings.Repeat("\x00", 1000)
		gl.GetProgramInfoLog(p, 999, nil, gl.Str(log))
		b.Fatal(log)
	}
	return p
}

func (r *bare) draw() { gl.DrawArrays(gl.TRIANGLES, 0, 3) }

func (r *bare) counted(f func()) uint64 {
	gl.BeginQuery(gl.SAMPLES_PASSED, r.query)
	f()
	gl.EndQuery(gl.SAMPLES_PASSED)
	var n uint64
	gl.GetQueryObjectui64v(r.query, gl.QUERY_RESULT, &n)
	return n
}

func (r *bare) copyAttribute(i int32) {
	gl.UseProgram(r.copyP)
	gl.ProgramUniform1i(r.copyP, r.copyAt, i)
	gl.DepthMask(true)
	gl.DepthFunc(gl.ALWAYS)
	r.draw()
	gl.DepthMask(false)
}

func (r *bare) quad(f uint32, code uint64) {
	gl.UseProgram(r.flat)
	gl.ProgramUniform1f(r.flat, r.flatDepth, float32(code)/(1<<24))
	gl.DepthFunc(f)
}

func (r *bare) copy() error { r.copyAttribute(0); return nil }

func (r *bare) compare() error {
	r.quad(gl.GREATER, threshold)
	r.counted(r.draw)
	return nil
}

func (r *bare) copyAndCompare() error {
	r.copyAttribute(0)
	return r.compare()
}

func (r *bare) depthBounds() error {
	gl.Enable(0x8890)
	r.ctx.DepthBounds(104858.0/(1<<24), 419430.0/(1<<24))
	r.quad(gl.ALWAYS, 104858)
	r.counted(r.draw)
	gl.Disable(0x8890)
	return nil
}

// evalCNF is EvalCNF as published: for each clause copy, test, clean-up.
func (r *bare) evalCNF() error {
	gl.StencilMask(0xff)
	gl.ClearStencil(1)
	gl.Clear(gl.STENCIL_BUFFER_BIT)
	for i := range int32(4) {
		valid, op := int32(1), uint32(gl.INCR)
		if i%2 == 1 {
			valid, op = 2, gl.DECR
		}
		r.copyAttribute(i)
		gl.Enable(gl.STENCIL_TEST)
		gl.StencilFunc(gl.EQUAL, valid, 0xff)
		gl.StencilOp(gl.KEEP, gl.KEEP, op)
		r.quad(gl.GREATER, threshold)
		if i == 3 {
			r.counted(r.draw)
		} else {
			r.draw()
		}
		gl.Disable(gl.DEPTH_TEST)
		gl.StencilOp(gl.KEEP, gl.ZERO, gl.ZERO)
		r.draw()
		gl.Disable(gl.STENCIL_TEST)
		gl.Enable(gl.DEPTH_TEST)
	}
	return nil
}

func (r *bare) semilinear() error {
	gl.Disable(gl.DEPTH_TEST)
	gl.UseProgram(r.semi)
	r.counted(r.draw)
	gl.Enable(gl.DEPTH_TEST)
	return nil
}

func (r *bare) median() error {
	k, x := uint64(r.rows+1)/2, uint64(0)
	for i := 18; i >= 0; i-- {
		r.quad(gl.GREATER, x+1<<i)
		if r.counted(r.draw) <= k-1 {
			x += 1 << i
		}
	}
	return nil
}

func (r *bare) sum() error {
	gl.Disable(gl.DEPTH_TEST)
	gl.UseProgram(r.bit)
	for i, q := range r.flight {
		gl.ProgramUniform1f(r.bit, r.bitScale, float32(math.Ldexp(1, -(i+1))))
		gl.BeginQuery(gl.SAMPLES_PASSED, q)
		r.draw()
		gl.EndQuery(gl.SAMPLES_PASSED)
	}
	var n uint64
	for _, q := range r.flight {
		gl.GetQueryObjectui64v(q, gl.QUERY_RESULT, &n)
	}
	gl.Enable(gl.DEPTH_TEST)
	return nil
}
