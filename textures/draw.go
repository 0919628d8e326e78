package textures

import (
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/shaders"
)

// drawDepths fills a depth texture through the ring by drawing, from the words
// that fill writes for rows from..to-1: a depth in the upper 24 bits. NVIDIA's
// driver takes depths as integers at 1 GB/s, drawn ones as fast as they cross the
// bus; both give the same integers.
func (s *Store) drawDepths(t *Target, fill func(out []uint32, from, to int)) error {
	r, err := s.needRing()
	if err != nil {
		return err
	}
	if s.builders == nil {
		s.builders = shaders.NewCache(s.ctx)
	}
	p, err := s.builders.Get(shaders.Load("depths.frag"))
	if err != nil {
		return err
	}
	// Reading the ring from fragments would take four times as long.
	staging := s.makeBuffer(ringSlots*slotBytes, 0)
	defer s.deleteBuffer(staging)
	defer s.borrow()()
	gl.BindFramebuffer(gl.FRAMEBUFFER, t.Framebuffer)
	gl.UseProgram(p.ID)
	gl.Disable(gl.STENCIL_TEST)
	gl.Enable(gl.DEPTH_TEST)
	gl.DepthFunc(gl.ALWAYS)
	gl.DepthMask(true)
	sh := t.Ref.Shape
	lines := slotBytes / (4 * sh.Width)
	return r.pump(sh.Rows, lines*sh.Width, func(slot unsafe.Pointer, base, from, to int) {
		fill(unsafe.Slice((*uint32)(unsafe.Add(slot, 4*(from-base))), to-from), from, to)
	}, func(offset, from, to int) error {
		y, h := from/sh.Width, (to-from+sh.Width-1)/sh.Width
		bytes := 4 * h * sh.Width
		gl.CopyNamedBufferSubData(r.buffer, staging, offset, offset, bytes)
		gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 0, staging, offset, bytes)
		gl.Viewport(0, int32(y), int32(sh.Width), int32(h))
		if err := p.Set([]shaders.Uniform{shaders.Int("width", int32(sh.Width)), shaders.Int("line", int32(y))}); err != nil {
			return err
		}
		gl.DrawArrays(gl.TRIANGLES, 0, 3)
		return nil
	})
}

// copyDepths is drawDepths for software renderers, where copying is faster.
func (s *Store) copyDepths(t *Target, fill func(out []uint32, from, to int)) error {
	return uploadTexture(s, t.Texture, t.Ref.Shape, 1, gl.DEPTH_STENCIL, gl.UNSIGNED_INT_24_8, fill)
}

const depthBoundsTest = 0x8890 // GL_DEPTH_BOUNDS_TEST_EXT, not in core

// borrow lets the store draw in the middle of the preparation of a pass: the
// function that it returns sets the state that drawing changes back to what it is
// now.
func (s *Store) borrow() func() {
	get := func(name uint32) (v int32) {
		gl.GetIntegerv(name, &v)
		return v
	}
	program, frame := get(gl.CURRENT_PROGRAM), get(gl.DRAW_FRAMEBUFFER_BINDING)
	array, function := get(gl.VERTEX_ARRAY_BINDING), get(gl.DEPTH_FUNC)
	var view [4]int32
	gl.GetIntegerv(gl.VIEWPORT, &view[0])
	var write bool
	gl.GetBooleanv(gl.DEPTH_WRITEMASK, &write)
	tests := []uint32{gl.DEPTH_TEST, gl.STENCIL_TEST}
	if s.ctx.Caps().DepthBounds {
		tests = append(tests, depthBoundsTest)
	}
	on := make([]bool, len(tests))
	for i, t := range tests {
		on[i] = gl.IsEnabled(t)
		gl.Disable(t)
	}
	var own uint32
	gl.CreateVertexArrays(1, &own)
	gl.BindVertexArray(own)
	return func() {
		gl.BindVertexArray(uint32(array))
		gl.DeleteVertexArrays(1, &own)
		for i, t := range tests {
			if on[i] {
				gl.Enable(t)
			} else {
				gl.Disable(t)
			}
		}
		gl.DepthMask(write)
		gl.DepthFunc(uint32(function))
		gl.Viewport(view[0], view[1], view[2], view[3])
		gl.BindFramebuffer(gl.FRAMEBUFFER, uint32(frame))
		gl.UseProgram(uint32(program))
	}
}
