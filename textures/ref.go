package textures

import (
	"fmt"
	"strings"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/table"
)

// Form is how a column lies in a texture.
type Form uint8

// The forms. In integer textures four records of a line share a texel, so that one
// fetch brings four codes whatever their width. A line has as many records as one
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

// Ref names the content of a texture. What is resident is known by the segments that
// the columns have in the chunk: chunks that share a segment share its textures.
type Ref struct {
	Chunk *table.Chunk
	// Cols are the attributes: one (its limbs), or up to four of one limb each in
	// one RGBA32F texel when Packed. Unused places hold -1.
	Cols   [4]int
	Packed bool
	// High selects the third limb of a code wider than 48 bits.
	High bool
	// Form is how the column lies there; those other than Floats hold one column.
	Form Form
	// Words, when set, is a buffer texture of uvec4 (4 words a texel) instead.
	Words *Scratch
	// Temp, when set, is a texture that a pass of this query drew.
	Temp *Temp
}

// Temp is an R32F texture for one query, zero at first; its pointer is its
// identity.
type Temp struct {
	Width, Height int
	// Words, 1 or 4, makes it R32UI or RGBA32UI.
	Words int
	// Floats makes that RGBA32F, of 4 words, which blend.
	Floats bool
	// Of, when set, is the texture of which it is the first Width texels of lines, those from Line on.
	Of   *Temp
	Line int
}

// Whole is the texture that it lies in: itself, unless it is lines of another.
func (t *Temp) Whole() *Temp {
	if t.Of != nil {
		return t.Of
	}
	return t
}

// Stack puts textures one below the other, so that a pass after the other draws into one target and all is read back at once.
// The textures that they become grow until the first of theirs is used.
type Stack struct{ whole *Temp }

// stackLines is the most lines of a texture that every device with OpenGL 4.5 has.
const stackLines = 16384

// Add returns a texture like t of the stack, in the texture of the one before where that has lines left.
func (s *Stack) Add(t Temp) *Temp {
	if s.whole == nil || s.whole.Height+t.Height > stackLines {
		s.whole = &Temp{Words: t.Words, Floats: t.Floats}
	}
	t.Of, t.Line = s.whole, s.whole.Height
	t.Of.Width, t.Of.Height = max(t.Of.Width, t.Width), t.Of.Height+t.Height
	return &t
}

// RowBits is a texture for one query with a bit a record of n rows. Bit k of texel t is that of record 32 t + k, the texels
// going line by line.
func RowBits(n int) *Temp {
	texels := max(1, (n+31)/32)
	width := min(texels, 4096)
	return &Temp{Width: width, Height: (texels + width - 1) / width, Words: 1}
}

// Attribute names the texture with limbs 0 and 1 of a column.
func Attribute(c *table.Chunk, col int) Ref { return Ref{Chunk: c, Cols: [4]int{col, -1, -1, -1}} }

// AttributeHigh names the texture with limb 2 of a column.
func AttributeHigh(c *table.Chunk, col int) Ref {
	r := Attribute(c, col)
	r.High = true
	return r
}

// Integers names an integer texture of a column: LowWords, HighWords (only where
// codes have two [Parts]) or ValidBits (only where there are NULLs).
func Integers(c *table.Chunk, col int, form Form) Ref {
	r := Attribute(c, col)
	r.Form = form
	return r
}

// Pack names the texture that holds up to four narrow columns in its channels.
func Pack(c *table.Chunk, cols []int) Ref {
	r := Ref{Chunk: c, Cols: [4]int{-1, -1, -1, -1}, Packed: true}
	copy(r.Cols[:], cols)
	return r
}

// Buffer names a buffer texture of these words, for one query, in whole texels.
func Buffer(words []uint32) Ref {
	return Ref{Words: &Scratch{Words: (len(words) + 3) / 4 * 4, Init: words}}
}

func (r Ref) key() key {
	k := key{packed: r.Packed, high: r.High, form: r.Form, scratch: r.Words}
	if r.Temp != nil {
		k.temp = r.Temp.Whole()
	}
	if r.Chunk != nil {
		for i, c := range r.Cols {
			if c >= 0 {
				k.segments[i] = r.Chunk.Segments[c]
			}
		}
	}
	return k
}

// columns returns the columns of the chunk that a texture holds.
func (r Ref) columns() (cols []int) {
	for _, c := range r.Cols {
		if c >= 0 {
			cols = append(cols, c)
		}
	}
	return cols
}

// segment returns the first column's.
func (r Ref) segment() *table.Segment { return r.Chunk.Segments[r.Cols[0]] }

// format is that of a texture, and of its texels on their way to the device and back.
type format struct {
	internal, texel, kind uint32
	words                 int // of a texel: 1, 2 or 4
	bytes                 int // of a texel
}

// The formats by the words of a texel, and of integers by the bytes of a word.
var (
	floatFormats = map[int]format{
		1: {gl.R32F, gl.RED, gl.FLOAT, 1, 4}, 2: {gl.RG32F, gl.RG, gl.FLOAT, 2, 8}, 4: {gl.RGBA32F, gl.RGBA, gl.FLOAT, 4, 16}}
	oneWord   = format{gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, 1, 4}
	fourWords = map[int]format{1: {gl.RGBA8UI, gl.RGBA_INTEGER, gl.UNSIGNED_BYTE, 4, 4}, 2: {gl.RGBA16UI, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT, 4, 8},
		4: {gl.RGBA32UI, gl.RGBA_INTEGER, gl.UNSIGNED_INT, 4, 16}}
	depthStencil = format{gl.DEPTH24_STENCIL8, gl.DEPTH_STENCIL, gl.UNSIGNED_INT_24_8, 1, 4}
)

// layout returns the texels of a texture that is no buffer, how many records of a line
// one of a column's has, and their format.
func (r Ref) layout() (sh Shape, records int, f format) {
	switch t := r.Temp; {
	case t != nil && t.Words == 1:
		return Shape{Width: t.Width, Height: t.Height}, 1, oneWord
	case t != nil && t.Floats:
		return Shape{Width: t.Width, Height: t.Height}, 1, floatFormats[4]
	case t != nil && t.Words == 4:
		return Shape{Width: t.Width, Height: t.Height}, 1, fourWords[4]
	case t != nil:
		return Shape{Width: t.Width, Height: t.Height}, 1, floatFormats[1]
	case r.Form == Floats:
		channels := min(2, Limbs(r.segment().Bits))
		if r.Packed {
			channels = 4
		} else if r.High {
			channels = 1
		}
		return r.shape(r.Chunk.Rows, 1), 1, floatFormats[channels]
	}
	records, f = 4, fourWords[CodeBytes(r.segment())]
	if r.Form == ValidBits {
		records, f = min(32, LineShape(r.Chunk.Rows).Width), oneWord
	}
	return r.shape(r.Chunk.Rows, records), records, f
}

// shape is that of the texels of a column's texture over so many rows, records to a texel.
func (r Ref) shape(rows, records int) Shape {
	if r.Form == Floats {
		return ShapeOf(rows)
	}
	lines := LineShape(rows)
	return Shape{Width: lines.Width / records, Height: lines.Height, Rows: (lines.Rows + records - 1) / records}
}

// Texels returns the size of a texture that is no buffer, and the words of a texel.
func (r Ref) Texels() (width, height, words int) {
	sh, _, f := r.layout()
	return sh.Width, sh.Height, f.words
}

// Records returns how many records of a line a texel of a column's texture has.
func (r Ref) Records() int {
	_, n, _ := r.layout()
	return n
}

// Bytes returns the memory of the texture.
func (r Ref) Bytes() int64 {
	if r.Words != nil {
		return 4 * int64(r.Words.Words)
	}
	sh, _, f := r.layout()
	return int64(sh.Width) * int64(sh.Height) * int64(f.bytes)
}

// PackedBytes returns the memory of an RGBA32F texture over n rows.
func PackedBytes(n int) int64 {
	s := ShapeOf(n)
	return 16 * int64(s.Width) * int64(s.Height)
}

// describe says in words what a texture holds.
func (r Ref) describe(t *table.Table) string {
	switch {
	case r.Temp != nil:
		return fmt.Sprintf("a mask of %dx%d texels", r.Temp.Width, r.Temp.Height)
	case r.Words != nil:
		return fmt.Sprintf("a list of %d entries", r.Words.Words/4)
	}
	return fmt.Sprintf("%s of a chunk of %d rows", describeColumns(t, r.columns()...), r.Chunk.Rows)
}

// describeColumns names columns, or numbers them where their table is not known.
func describeColumns(t *table.Table, cols ...int) string {
	var names []string
	for _, c := range cols {
		if t != nil {
			names = append(names, t.Field(c).Name)
		} else {
			names = append(names, fmt.Sprint(c+1))
		}
	}
	return "column " + strings.Join(names, ", ")
}
