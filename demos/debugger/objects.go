package debugger

import (
	"fmt"
	"image"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
)

// objects are GL objects that are deleted together.
type objects struct {
	ctx     *glctx.Context
	deletes []func()
}

func (o *objects) add(kind string, create, remove func(n int32, id *uint32)) (id uint32) {
	create(1, &id)
	o.ctx.Track(kind, 1)
	o.deletes = append(o.deletes, func() {
		remove(1, &id)
		o.ctx.Track(kind, -1)
	})
	return id
}

func (o *objects) texture(format uint32, width, height int) uint32 {
	id := o.add("texture", func(n int32, id *uint32) { gl.CreateTextures(gl.TEXTURE_2D, n, id) }, gl.DeleteTextures)
	gl.TextureStorage2D(id, 1, format, int32(width), int32(height))
	return id
}

func (o *objects) close() {
	for _, remove := range o.deletes {
		remove()
	}
	o.deletes = nil
}

// surface is what the device draws on: a colour texture with depth of its own.
type surface struct {
	objects
	size         image.Point
	frame, color uint32
}

// resize makes the surface anew where its size differs.
func (s *surface) resize(size image.Point) error {
	if s.size == size {
		return nil
	}
	s.close()
	s.size = size
	s.color = s.texture(gl.RGBA8, size.X, size.Y)
	s.frame = s.add("framebuffer", gl.CreateFramebuffers, gl.DeleteFramebuffers)
	gl.NamedFramebufferTexture(s.frame, gl.COLOR_ATTACHMENT0, s.color, 0)
	gl.NamedFramebufferTexture(s.frame, gl.DEPTH_ATTACHMENT, s.texture(gl.DEPTH_COMPONENT24, size.X, size.Y), 0)
	status := gl.CheckNamedFramebufferStatus(s.frame, gl.FRAMEBUFFER)
	err := s.ctx.Check("debugger: a frame")
	if err == nil && status != gl.FRAMEBUFFER_COMPLETE {
		err = fmt.Errorf("debugger: a frame of %d x %d: framebuffer incomplete (0x%x)", size.X, size.Y, status)
	}
	return err
}
