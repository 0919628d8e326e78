package textures

import (
	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/table"
)

// Form is how a column lies in a texture.
type Form uint8

// The forms. In integer textures four records of a line share a texel, so that one
// fetch brings four codes whatever their width; a line has as many records as one
// of [LineShape].
const (
	// Floats are limbs of 24 bits, one record to a texel.
	Floats Form = iota
	// LowWords are the low 32 bits of the codes, at the width they are stored in.
	LowWords
	// HighWords are the high 32 bits of codes stored in 64.
	HighWords
	// ValidBits are the bits "not NULL" of 32 records of a line, the first lowest.
	ValidBits
)

// LineShape is [ShapeOf] with lines of four records at least: the shape of integer
// textures and of resident depth textures.
func LineShape(n int) Shape {
	if s := ShapeOf(n); s.Width >= 4 {
		return s
	}
	return Shape{Width: 4, Height: 1, Rows: n}
}

// Integers names an integer texture of a column: LowWords, HighWords (only where
// codes have two [Parts]) or ValidBits (only where there are NULLs).
func Integers(c *table.Chunk, col int, form Form) Ref {
	r := Attribute(c, col)
	r.Form = form
	return r
}

// texels returns the rectangle of texels of an integer texture, and how many
// records one holds.
func (r Ref) texels() (sh Shape, records int) {
	lines := LineShape(r.Chunk.Rows)
	records = 4
	if r.Form == ValidBits {
		records = min(32, lines.Width)
	}
	return Shape{Width: lines.Width / records, Height: lines.Height, Rows: (lines.Rows + records - 1) / records}, records
}

// integerBytes returns the memory of an integer texture.
func (r Ref) integerBytes() int64 {
	sh, _ := r.texels()
	texel := 4
	if r.Form != ValidBits {
		texel = 4 * CodeBytes(r.Chunk.Segments[r.Cols[0]])
	}
	return int64(sh.Width) * int64(sh.Height) * int64(texel)
}

// integers makes an integer texture resident.
func (s *Store) integers(ref Ref) (*object, error) {
	sh, _ := ref.texels()
	return s.column(ref, IntegerTexture, sh, func(im *object) error { return s.uploadIntegers(im.texture, sh, ref) })
}

func (s *Store) uploadIntegers(id uint32, sh Shape, ref Ref) error {
	seg := ref.Chunk.Segments[ref.Cols[0]]
	allocate := func(internal uint32) error {
		nearest(id, internal, sh.Width, sh.Height)
		return s.ctx.Check("textures: allocate " + ref.describe(s.fields))
	}
	if ref.Form == ValidBits {
		if err := allocate(gl.R32UI); err != nil {
			return err
		}
		return uploadTexture(s, id, sh, 1, gl.RED_INTEGER, gl.UNSIGNED_INT, ref.fillValid)
	}
	switch c := seg.Codes; {
	case c.U8 != nil:
		if err := allocate(gl.RGBA8UI); err != nil {
			return err
		}
		return uploadTexture(s, id, sh, 4, gl.RGBA_INTEGER, gl.UNSIGNED_BYTE, fours(c.U8))
	case c.U16 != nil:
		if err := allocate(gl.RGBA16UI); err != nil {
			return err
		}
		return uploadTexture(s, id, sh, 4, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT, fours(c.U16))
	}
	if err := allocate(gl.RGBA32UI); err != nil {
		return err
	}
	if seg.Codes.U32 != nil {
		return uploadTexture(s, id, sh, 4, gl.RGBA_INTEGER, gl.UNSIGNED_INT, fours(seg.Codes.U32))
	}
	shift := 0
	if ref.Form == HighWords {
		shift = 32
	}
	return uploadTexture(s, id, sh, 4, gl.RGBA_INTEGER, gl.UNSIGNED_INT, func(out []uint32, from, to int) {
		codes := seg.Codes.U64
		for i, v := range codes[4*from : min(4*to, len(codes))] {
			out[i] = uint32(v >> shift)
		}
	})
}

// fours copies the codes of texels of four records.
func fours[T any](codes []T) func(out []T, from, to int) {
	return func(out []T, from, to int) { copy(out, codes[4*from:min(4*to, len(codes))]) }
}

// fillValid writes texels of the validity bitmap. A line of fewer than 32 records
// is a texel; its records lie in one word of the bitmap.
func (r Ref) fillValid(out []uint32, from, to int) {
	valid := r.Chunk.Segments[r.Cols[0]].Valid
	_, records := r.texels()
	for i := range out[:to-from] {
		row := (from + i) * records
		out[i] = uint32(valid[row/64] >> (row % 64))
	}
}

// ReadTexels copies the texels of a temporary texture of four words each back, line
// by line; it waits for the passes that draw it.
func (s *Store) ReadTexels(t *Temp, words []uint32) error {
	im, err := s.image(Ref{Temp: t})
	if err != nil {
		return err
	}
	s.ctx.Settle()
	gl.GetTextureImage(im.texture, 0, gl.RGBA_INTEGER, gl.UNSIGNED_INT, int32(4*len(words)), gl.Ptr(words))
	return s.ctx.Check("textures: read back integers")
}
