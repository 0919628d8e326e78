package textures

import (
	"fmt"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// Target makes a depth-stencil buffer resident. It stays until the scope is left or
// closed. Fresh contents are undefined.
func (s *Store) Target(ref TargetRef) (*Target, error) {
	key := ref.key()
	if t, ok := s.targets[key]; ok {
		s.touch(&t.entry)
		s.scope.draws(&t.entry)
		return t, nil
	}
	what := fmt.Sprintf("a %dx%d %v buffer", ref.Shape.Width, ref.Shape.Height, ref.Format)
	if err := s.fits(ref.Shape); err != nil {
		return nil, err
	}
	if err := s.reserve(what, ref.Chunk, ref.Bytes()); err != nil {
		return nil, err
	}
	t := &Target{Ref: TargetRef{Shape: ref.Shape, Format: ref.Format, Slot: ref.Slot}, entry: entry{kind: WorkingMemory, bytes: ref.Bytes()}}
	if ref.Chunk != nil {
		t.kind, t.segments = DepthTexture, []*table.Segment{key.segment}
	}
	format := uint32(gl.DEPTH24_STENCIL8)
	if ref.Format == D32FS8 {
		format = gl.DEPTH32F_STENCIL8
	}
	t.Texture, t.Framebuffer = s.makeTexture(gl.TEXTURE_2D), s.makeFramebuffer()
	s.targets[key] = t
	s.keep(&t.entry, func() { s.deleteTarget(t); delete(s.targets, key) })
	s.scope.draws(&t.entry)
	gl.TextureStorage2D(t.Texture, 1, format, int32(ref.Shape.Width), int32(ref.Shape.Height))
	gl.NamedFramebufferTexture(t.Framebuffer, gl.DEPTH_STENCIL_ATTACHMENT, t.Texture, 0)
	gl.NamedFramebufferDrawBuffer(t.Framebuffer, gl.NONE)
	status := gl.CheckNamedFramebufferStatus(t.Framebuffer, gl.FRAMEBUFFER)
	err := s.ctx.Check("textures: allocate " + what)
	if err == nil && status != gl.FRAMEBUFFER_COMPLETE {
		err = glctx.Fault(fmt.Errorf("textures: %s: framebuffer incomplete (0x%x)", what, status))
	}
	if err == nil && ref.Chunk != nil {
		err = s.fillDepth(t, ref)
	}
	if err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

func (s *Store) deleteTarget(t *Target) {
	s.forget(&t.entry)
	s.deleteFramebuffer(t.Framebuffer)
	s.deleteTexture(t.Texture)
}

// fits checks a shape against the device's texture size.
func (s *Store) fits(sh Shape) error {
	if m := s.ctx.Caps().MaxTextureSize; sh.Width > m || sh.Height > m {
		return fmt.Errorf("textures: a chunk of %d rows needs a texture of %dx%d, the device has at most %dx%d: load it in smaller chunks",
			sh.Rows, sh.Width, sh.Height, m, m)
	}
	return nil
}

// Depth reads back the depth values of the rows, as window depth 0..1.
func (t *Target) Depth() []float32 {
	sh := t.Ref.Shape
	all := make([]float32, sh.Width*sh.Height)
	gl.GetTextureImage(t.Texture, 0, gl.DEPTH_COMPONENT, gl.FLOAT, int32(4*len(all)), gl.Ptr(all))
	return all[:sh.Rows]
}

// Stencil reads back the stencil values of the rows.
func (t *Target) Stencil() []uint8 {
	sh := t.Ref.Shape
	all := make([]uint8, sh.Width*sh.Height)
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.Framebuffer)
	gl.ReadPixels(0, 0, int32(sh.Width), int32(sh.Height), gl.STENCIL_INDEX, gl.UNSIGNED_BYTE, gl.Ptr(all))
	return all[:sh.Rows]
}
