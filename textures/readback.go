package textures

import "github.com/go-gl/gl/v4.5-core/gl"

// Texels returns the size of a texture that is no buffer, and the words of a texel.
func (r Ref) Texels() (width, height, words int) {
	switch {
	case r.Temp != nil:
		return r.Temp.Width, r.Temp.Height, max(1, r.Temp.Words)
	case r.Form != Floats:
		sh, _ := r.texels()
		if r.Form == ValidBits {
			return sh.Width, sh.Height, 1
		}
		return sh.Width, sh.Height, 4
	}
	sh := ShapeOf(r.Chunk.Rows)
	return sh.Width, sh.Height, r.channels()
}

// Records returns how many records of a line a texel of a column's texture has.
func (r Ref) Records() int {
	if r.Form == Floats {
		return 1
	}
	_, n := r.texels()
	return n
}

// Texture returns the GL texture of a ref, made resident, for others to sample. It
// is good until the next statement runs.
func (s *Store) Texture(ref Ref) (uint32, error) {
	im, err := s.image(ref)
	if err != nil {
		return 0, err
	}
	return im.texture, nil
}

// ReadLine reads line y of a resident texture back, all of its texels: integers as
// they are, and floats, which hold integers, as these.
func (s *Store) ReadLine(ref Ref, y int) ([]uint32, error) {
	im, err := s.image(ref)
	if err != nil {
		return nil, err
	}
	width, _, words := ref.Texels()
	out := make([]uint32, width*words)
	get := func(format, kind uint32, p any) {
		gl.GetTextureSubImage(im.texture, 0, 0, int32(y), 0, int32(width), 1, 1, format, kind, int32(4*len(out)), gl.Ptr(p))
	}
	if ref.Form != Floats || ref.Temp != nil && ref.Temp.Words > 0 {
		get(map[int]uint32{1: gl.RED_INTEGER, 4: gl.RGBA_INTEGER}[words], gl.UNSIGNED_INT, out)
	} else {
		floats := make([]float32, len(out))
		get(map[int]uint32{1: gl.RED, 2: gl.RG, 4: gl.RGBA}[words], gl.FLOAT, floats)
		for i, f := range floats {
			out[i] = uint32(f)
		}
	}
	return out, s.ctx.Check("textures: read back " + ref.describe(s.fields))
}
