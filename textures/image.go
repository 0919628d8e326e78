package textures

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/table"
)

// Bind makes the texture of a ref resident, uploading it at first use, and binds
// it to a texture unit.
func (s *Store) Bind(unit uint32, ref Ref) error {
	im, err := s.image(ref)
	if err != nil {
		return err
	}
	gl.BindTextureUnit(unit, im.texture)
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
	gl.GetTextureImage(im.texture, 0, format, gl.FLOAT, int32(4*len(all)), gl.Ptr(all))
	return all[:sh.Rows*ch], s.ctx.Check("textures: read back")
}

// Draw returns the framebuffer of a temporary texture by itself.
func (s *Store) Draw(t *Temp) (uint32, error) {
	im, err := s.image(Ref{Temp: t})
	if err != nil {
		return 0, err
	}
	if im.frame == 0 {
		im.frame = s.makeFramebuffer()
		gl.NamedFramebufferTexture(im.frame, gl.COLOR_ATTACHMENT0, im.texture, 0)
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
	gl.NamedFramebufferTexture(t.Framebuffer, gl.COLOR_ATTACHMENT0, im.texture, 0)
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
	gl.GetTextureSubImage(im.texture, 0, int32(x), int32(y), 0, 1, 1, 1, gl.RED, gl.FLOAT, 4, gl.Ptr(&v))
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

func (s *Store) image(ref Ref) (*object, error) {
	if im, ok := s.images[ref.key()]; ok {
		s.touch(&im.entry)
		return im, nil
	}
	switch {
	case ref.Temp != nil:
		return s.mask(ref)
	case ref.Words != nil:
		return s.list(ref)
	case ref.Form != Floats:
		return s.integers(ref)
	}
	sh := ShapeOf(ref.Chunk.Rows)
	return s.column(ref, FloatTexture, sh, func(im *object) error {
		internal, format := formats(ref.channels())
		nearest(im.texture, internal, sh.Width, sh.Height)
		if err := s.ctx.Check("textures: allocate " + ref.describe(s.fields)); err != nil {
			return err
		}
		return uploadTexture(s, im.texture, sh, ref.channels(), format, gl.FLOAT, ref.fill)
	})
}

// column makes a texture of columns resident, which upload gives its storage and
// fills.
func (s *Store) column(ref Ref, kind Kind, sh Shape, upload func(*object) error) (*object, error) {
	start := time.Now()
	what := ref.describe(s.fields)
	if err := s.fits(sh); err != nil {
		return nil, err
	}
	if err := s.reserve(what, ref.Chunk, ref.Bytes()); err != nil {
		return nil, err
	}
	im := &object{entry: entry{kind: kind, segments: ref.segments(), bytes: ref.Bytes()}}
	im.texture = s.makeTexture(gl.TEXTURE_2D)
	key := ref.key()
	s.images[key] = im
	s.keep(&im.entry, func() { s.delete(im); delete(s.images, key) })
	err := upload(im)
	if e := s.ctx.Check("textures: upload " + what); err == nil {
		err = e
	}
	if err != nil {
		im.free()
		return nil, err
	}
	s.upload += time.Since(start)
	return im, nil
}

// nearest gives a texture its storage, read without filtering.
func nearest(id, internal uint32, width, height int) {
	gl.TextureStorage2D(id, 1, internal, int32(width), int32(height))
	gl.TextureParameteri(id, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
	gl.TextureParameteri(id, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
}

// mask takes a texture for a pass to draw into from those kept, or makes one.
func (s *Store) mask(ref Ref) (*object, error) {
	size := *ref.Temp
	im, _, err := s.take(poolKey{temp: size}, ref.describe(s.fields), ref.Bytes(), func(im *object) {
		im.texture = s.makeTexture(gl.TEXTURE_2D)
		internal := map[int]uint32{0: gl.R32F, 1: gl.R32UI, 4: gl.RGBA32UI}
		nearest(im.texture, internal[size.Words], size.Width, size.Height)
	})
	if err != nil {
		return nil, err
	}
	lend(s, s.images, ref.key(), im)
	if size.Words > 0 {
		gl.ClearTexImage(im.texture, 0, gl.RED_INTEGER, gl.UNSIGNED_INT, nil)
	} else {
		gl.ClearTexImage(im.texture, 0, gl.RED, gl.FLOAT, nil)
	}
	return im, s.ctx.Check("textures: clear " + ref.describe(s.fields))
}

// list takes a buffer texture from the working memory that is kept, or makes one, and
// writes the words into it.
func (s *Store) list(ref Ref) (*object, error) {
	words := ref.Words.Data
	if n, m := len(words)/4, s.ctx.Caps().MaxTextureBuffer; n > m {
		return nil, fmt.Errorf("textures: %d entries in a buffer texture, the device has at most %d", n, m)
	}
	im, err := s.buffer(ref.describe(s.fields), max(16, ref.Bytes()), words, false)
	if err != nil {
		return nil, err
	}
	lend(s, s.images, ref.key(), im)
	s.view(im)
	return im, s.ctx.Check("textures: write " + ref.describe(s.fields))
}

// describe says in words what a texture holds.
func (r Ref) describe(fields []table.Field) string {
	if r.Temp != nil {
		return fmt.Sprintf("a mask of %dx%d texels", r.Temp.Width, r.Temp.Height)
	}
	if r.Words != nil {
		return fmt.Sprintf("a list of %d entries", len(r.Words.Data)/4)
	}
	return fmt.Sprintf("%s of a chunk of %d rows", describeColumns(fields, r.columns()...), r.Chunk.Rows)
}

// describeColumns names columns, or numbers them where their fields are not known.
func describeColumns(fields []table.Field, cols ...int) string {
	var names []string
	for _, c := range cols {
		if c < len(fields) {
			names = append(names, fields[c].Name)
		} else {
			names = append(names, fmt.Sprint(c+1))
		}
	}
	return "column " + strings.Join(names, ", ")
}

// columns returns the columns of the chunk that a texture holds.
func (r Ref) columns() []int {
	var cols []int
	for _, c := range r.Cols {
		if c >= 0 {
			cols = append(cols, c)
		}
	}
	return cols
}
