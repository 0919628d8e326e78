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

// ShapeOf returns the shape of a chunk of n rows. It is the narrowest power of two that
// makes it no higher than wide, so that it fits any device up to 16384^2 rows. But it is 2048 for 1024. llvmpipe takes
// 64 lines at a time, which where they lie 4 KiB apart takes a sixth longer.
func ShapeOf(n int) Shape {
	side := int(math.Sqrt(float64(n)))
	for side*side < n {
		side++
	}
	w := 1
	if side > 1 {
		w = 1 << bits.Len(uint(side-1))
	}
	if w == 1024 {
		w = 2048
	}
	return Shape{Width: w, Height: max(1, (n+w-1)/w), Rows: n}
}

// LineShape is [ShapeOf] with lines of four records at least: the shape of integer
// textures and of resident depth textures.
func LineShape(n int) Shape {
	if s := ShapeOf(n); s.Width >= 4 {
		return s
	}
	return Shape{Width: 4, Height: 1, Rows: n}
}

// ViewOf returns the rectangle in which a picture shows a chunk of n rows. It is [ShapeOf] with its lines cut
// in halves until it is at most twice as wide as high. Nor is it more than twice as high as wide. Row r is shown at
// (r % Width, r / Width); its texel is that of ShapeOf.
func ViewOf(n int) Shape {
	s := ShapeOf(n)
	for s.Width > 2*s.Height {
		s.Width /= 2
		s.Height = (n + s.Width - 1) / s.Width
	}
	return s
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

func (t TargetRef) key() key {
	if t.Chunk == nil {
		return key{target: t}
	}
	seg := t.Chunk.Segments[t.Col]
	t.Chunk, t.Col = nil, 0
	return key{target: t, segments: [4]*table.Segment{seg}}
}

// Bytes returns the memory of the buffer; DEPTH32F_STENCIL8 takes 8 bytes a texel.
func (t TargetRef) Bytes() int64 {
	n := int64(t.Shape.Width) * int64(t.Shape.Height)
	if t.Format == D24S8 {
		return 4 * n
	}
	return 8 * n
}

// DepthMax is the largest depth of a DEPTH24_STENCIL8 texture: a quad at window
// depth k / DepthMax compares exactly with every stored integer.
const DepthMax = 1<<24 - 1

// FitsDepth reports whether the codes of a segment can be kept as depths. They
// have at most 24 bits, and there is a depth left for NULL where it is needed.
func FitsDepth(s *table.Segment) bool { return s.Max <= DepthMax-DepthOfCode(s, 0) }

// DepthOfCode returns the depth of a code: the code itself, or where the segment
// has NULLs, which lie at depth 0, one more.
func DepthOfCode(s *table.Segment, code uint64) uint64 {
	if s.Nulls > 0 {
		code++
	}
	return code
}

// ResidentDepth names the depth-stencil texture whose depths are the codes of a
// column, uploaded as integers. Its stencil values are a query's to use, undefined
// at first.
func ResidentDepth(c *table.Chunk, col int) TargetRef {
	return TargetRef{Shape: LineShape(c.Rows), Format: D24S8, Chunk: c, Col: col}
}
