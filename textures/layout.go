package textures

import (
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// LimbBits is the width of a limb: the integers that a float32 holds exactly.
const LimbBits = 24

// NullLimb is the limb of a NULL.
const NullLimb = 1 << LimbBits

// Limbs returns how many limbs a code of b bits takes, at least 1.
func Limbs(b int) int { return max(1, (b+LimbBits-1)/LimbBits) }

// LimbMax returns the largest value of limb i over codes 0..top.
func LimbMax(top uint64, i int) uint64 {
	if top>>(LimbBits*(i+1)) != 0 {
		return 1<<LimbBits - 1
	}
	return top >> (LimbBits * i)
}

// Limb returns limb i of a code.
func Limb(code uint64, i int) uint64 { return code >> (LimbBits * i) & (1<<LimbBits - 1) }

// Shape is the rectangle of texels of a chunk: row r lies at (r % Width, r / Width).
type Shape struct {
	Width, Height int // texels; powers of two wide
	Rows          int // texels in use
}

// ShapeOf returns the shape of a chunk of n rows: the narrowest power of two that
// makes it no higher than wide, so that it fits any device up to 16384^2 rows.
func ShapeOf(n int) Shape {
	side := int(math.Sqrt(float64(n)))
	for side*side < n {
		side++
	}
	w := 1
	if side > 1 {
		w = 1 << bits.Len(uint(side-1))
	}
	return Shape{Width: w, Height: max(1, (n+w-1)/w), Rows: n}
}

// Rect is a rectangle of texels.
type Rect struct{ X, Y, W, H int }

// Rects returns the rectangles that cover exactly the rows: the full lines, and
// the last partial one.
func (s Shape) Rects() []Rect {
	var r []Rect
	full, rest := s.Rows/s.Width, s.Rows%s.Width
	if full > 0 {
		r = append(r, Rect{0, 0, s.Width, full})
	}
	if rest > 0 {
		r = append(r, Rect{0, full, rest, 1})
	}
	return r
}

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
	Words *Words
	// Temp, when set, is a texture that a pass of this query drew.
	Temp *Temp
}

// Temp is an R32F texture for one query, zero at first; its pointer is its
// identity.
type Temp struct {
	Width, Height int
	// Words, 1 or 4, makes it R32UI or RGBA32UI.
	Words int
}

// Words is data for a buffer texture of uvec4; its pointer is its identity.
type Words struct{ Data []uint32 }

// imageKey is what a texture is known by.
type imageKey struct {
	segments     [4]*table.Segment
	packed, high bool
	form         Form
	words        *Words
	temp         *Temp
}

func (r Ref) key() imageKey {
	k := imageKey{packed: r.Packed, high: r.High, form: r.Form, words: r.Words, temp: r.Temp}
	if r.Chunk != nil {
		for i, c := range r.Cols {
			if c >= 0 {
				k.segments[i] = r.Chunk.Segments[c]
			}
		}
	}
	return k
}

// segments returns those that a texture holds.
func (r Ref) segments() []*table.Segment {
	var list []*table.Segment
	for _, c := range r.columns() {
		list = append(list, r.Chunk.Segments[c])
	}
	return list
}

// Attribute names the texture with limbs 0 and 1 of a column.
func Attribute(c *table.Chunk, col int) Ref { return Ref{Chunk: c, Cols: [4]int{col, -1, -1, -1}} }

// AttributeHigh names the texture with limb 2 of a column.
func AttributeHigh(c *table.Chunk, col int) Ref {
	r := Attribute(c, col)
	r.High = true
	return r
}

// Pack names the texture that holds up to four narrow columns in its channels.
func Pack(c *table.Chunk, cols []int) Ref {
	r := Ref{Chunk: c, Cols: [4]int{-1, -1, -1, -1}, Packed: true}
	copy(r.Cols[:], cols)
	return r
}

// Buffer names a buffer texture.
func Buffer(w *Words) Ref { return Ref{Words: w} }

// channels returns the floats of a texel: 1, 2 or 4.
func (r Ref) channels() int {
	switch {
	case r.Packed:
		return 4
	case r.High:
		return 1
	}
	return min(2, Limbs(r.Chunk.Segments[r.Cols[0]].Bits))
}

// Bytes returns the memory of the texture.
func (r Ref) Bytes() int64 {
	switch {
	case r.Words != nil:
		return int64(4 * len(r.Words.Data))
	case r.Temp != nil:
		return 4 * int64(max(1, r.Temp.Words)) * int64(r.Temp.Width) * int64(r.Temp.Height)
	case r.Form != Floats:
		return r.integerBytes()
	}
	s := ShapeOf(r.Chunk.Rows)
	return int64(s.Width) * int64(s.Height) * int64(4*r.channels())
}

// PackedBytes returns the memory of an RGBA32F texture over n rows.
func PackedBytes(n int) int64 {
	s := ShapeOf(n)
	return 16 * int64(s.Width) * int64(s.Height)
}

// Format is a depth-stencil format.
type Format uint8

// The formats, and when each is exact (see docs: exactness of the depth path).
const (
	// D24S8 tests faster on hardware; a value stored by the copy program as
	// code / 2^24 is exact below 2^22.
	D24S8 Format = iota
	// D32FS8 is exact for all codes of 24 bits.
	D32FS8
)

// ExactBits returns the width up to which copied codes compare exactly.
func (f Format) ExactBits() int {
	if f == D24S8 {
		return 22
	}
	return 24
}

func (f Format) String() string {
	if f == D24S8 {
		return "DEPTH24_STENCIL8"
	}
	return "DEPTH32F_STENCIL8"
}

// TargetRef names a depth-stencil buffer: chunks of one shape may share a slot, or
// have one each.
type TargetRef struct {
	Shape  Shape
	Format Format
	Slot   int
	// Chunk, when set, makes it the resident depth texture of Chunk's column Col
	// (see [ResidentDepth]).
	Chunk *table.Chunk
	Col   int
}

// targetKey is what a depth-stencil buffer is known by.
type targetKey struct {
	shape   Shape
	format  Format
	slot    int
	segment *table.Segment
}

func (t TargetRef) key() targetKey {
	k := targetKey{shape: t.Shape, format: t.Format, slot: t.Slot}
	if t.Chunk != nil {
		k.segment = t.Chunk.Segments[t.Col]
	}
	return k
}

// Bytes returns the memory of the buffer; DEPTH32F_STENCIL8 takes 8 bytes a texel.
func (t TargetRef) Bytes() int64 {
	n := int64(t.Shape.Width) * int64(t.Shape.Height)
	if t.Format == D24S8 {
		return 4 * n
	}
	return 8 * n
}

// RowBits is a texture for one query with a bit a record of n rows: bit k of component c of
// texel t is that of record 128 t + 32 c + k, the texels going line by line.
func RowBits(n int) *Temp {
	texels := max(1, (n+127)/128)
	width := min(texels, 1024)
	return &Temp{Width: width, Height: (texels + width - 1) / width, Words: 4}
}
