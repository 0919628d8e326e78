package textures

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Bind makes the texture of a ref resident, uploading it at first use, and binds
// it to a texture unit.
func (s *Store) Bind(unit uint32, ref Ref) error {
	im, err := s.image(ref)
	if err != nil {
		return err
	}
	gl.BindTextureUnit(unit, im.id)
	return nil
}

// Read returns the floats of the rows of a resident or new texture, texel by
// texel, for checks.
func (s *Store) Read(ref Ref) ([]float32, error) {
	im, err := s.image(ref)
	if err != nil {
		return nil, err
	}
	sh, ch := ShapeOf(ref.Chunk.Rows), ref.channels()
	all := make([]float32, sh.Width*sh.Height*ch)
	_, format := formats(ch)
	gl.GetTextureImage(im.id, 0, format, gl.FLOAT, int32(4*len(all)), gl.Ptr(all))
	return all[:sh.Rows*ch], s.ctx.Check("textures: read back")
}

// Draw returns the framebuffer of a temporary texture by itself.
func (s *Store) Draw(t *Temp) (uint32, error) {
	im, err := s.image(Ref{Temp: t})
	if err != nil {
		return 0, err
	}
	if im.frame == 0 {
		gl.CreateFramebuffers(1, &im.frame)
		s.ctx.Track("framebuffer", 1)
		gl.NamedFramebufferTexture(im.frame, gl.COLOR_ATTACHMENT0, im.id, 0)
	}
	return im.frame, s.ctx.Check("textures: draw into a temporary texture")
}

// Attach makes a temporary texture the colour buffer of a target; nil detaches.
func (s *Store) Attach(t *Target, temp *Temp) error {
	if temp == nil {
		gl.NamedFramebufferTexture(t.Framebuffer, gl.COLOR_ATTACHMENT0, 0, 0)
		gl.NamedFramebufferDrawBuffer(t.Framebuffer, gl.NONE)
		return nil
	}
	im, err := s.image(Ref{Temp: temp})
	if err != nil {
		return err
	}
	gl.NamedFramebufferTexture(t.Framebuffer, gl.COLOR_ATTACHMENT0, im.id, 0)
	gl.NamedFramebufferDrawBuffer(t.Framebuffer, gl.COLOR_ATTACHMENT0)
	return nil
}

// ReadTexel returns one texel of a temporary texture.
func (s *Store) ReadTexel(t *Temp, x, y int) (float32, error) {
	im, err := s.image(Ref{Temp: t})
	if err != nil {
		return 0, err
	}
	var v float32
	gl.GetTextureSubImage(im.id, 0, int32(x), int32(y), 0, 1, 1, 1, gl.RED, gl.FLOAT, 4, gl.Ptr(&v))
	return v, s.ctx.Check("textures: read back a texel")
}

func formats(channels int) (internal, format uint32) {
	switch channels {
	case 1:
		return gl.R32F, gl.RED
	case 2:
		return gl.RG32F, gl.RG
	}
	return gl.RGBA32F, gl.RGBA
}

func (s *Store) image(ref Ref) (*image, error) {
	if im, ok := s.images[ref]; ok {
		im.tick = s.tick
		return im, nil
	}
	start := time.Now()
	what := ref.describe()
	if err := s.reserve(what, ref.Bytes()); err != nil {
		return nil, err
	}
	im := &image{bytes: ref.Bytes(), tick: s.tick, kind: gl.TEXTURE_2D}
	if ref.Words != nil {
		im.kind = gl.TEXTURE_BUFFER
	} else if ref.Temp == nil {
		if err := s.fits(ShapeOf(ref.Chunk.Rows)); err != nil {
			return nil, err
		}
	}
	gl.CreateTextures(im.kind, 1, &im.id)
	s.ctx.Track("texture", 1)
	s.images[ref] = im
	s.used += im.bytes
	err := s.fill(im, ref)
	if e := s.ctx.Check("textures: upload " + what); err == nil {
		err = e
	}
	if err != nil {
		s.dropImage(ref)
		return nil, err
	}
	s.upload += time.Since(start)
	return im, nil
}

func (s *Store) fill(im *image, ref Ref) error {
	if ref.Temp != nil {
		gl.TextureStorage2D(im.id, 1, gl.R32F, int32(ref.Temp.Width), int32(ref.Temp.Height))
		gl.TextureParameteri(im.id, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
		gl.TextureParameteri(im.id, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
		gl.ClearTexImage(im.id, 0, gl.RED, gl.FLOAT, nil)
		return nil
	}
	if ref.Words != nil {
		if n, m := len(ref.Words.Data)/4, s.ctx.Caps().MaxTextureBuffer; n > m {
			return fmt.Errorf("textures: %d entries in a buffer texture, the device has at most %d", n, m)
		}
		gl.CreateBuffers(1, &im.buffer)
		s.ctx.Track("buffer", 1)
		gl.NamedBufferStorage(im.buffer, 4*len(ref.Words.Data), gl.Ptr(ref.Words.Data), 0)
		gl.TextureBuffer(im.id, gl.RGBA32UI, im.buffer)
		return nil
	}
	sh, ch := ShapeOf(ref.Chunk.Rows), ref.channels()
	internal, _ := formats(ch)
	gl.TextureStorage2D(im.id, 1, internal, int32(sh.Width), int32(sh.Height))
	gl.TextureParameteri(im.id, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
	gl.TextureParameteri(im.id, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
	if err := s.ctx.Check("textures: allocate " + ref.describe()); err != nil {
		return err
	}
	if err := s.needRing(); err != nil {
		return err
	}
	return s.ring.upload(im.id, ref, sh, ch)
}

// describe says in words what a texture holds.
func (r Ref) describe() string {
	if r.Temp != nil {
		return fmt.Sprintf("a mask of %dx%d texels", r.Temp.Width, r.Temp.Height)
	}
	if r.Words != nil {
		return fmt.Sprintf("a list of %d entries", len(r.Words.Data)/4)
	}
	var cols []string
	for _, c := range r.Cols {
		if c >= 0 {
			cols = append(cols, fmt.Sprint(c+1))
		}
	}
	return fmt.Sprintf("column %s of a chunk of %d rows", strings.Join(cols, ", "), r.Chunk.Rows)
}
