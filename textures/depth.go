package textures

import (
	"fmt"
	"time"

	"github.com/stencildb/stencildb/table"
)

// DepthMax is the largest depth of a DEPTH24_STENCIL8 texture: a quad at window
// depth k / DepthMax compares exactly with every stored integer.
const DepthMax = 1<<24 - 1

// FitsDepth reports whether the codes of a segment can be kept as depths: they
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
// column, uploaded as integers; its stencil values are a query's to use, undefined
// at first.
func ResidentDepth(c *table.Chunk, col int) TargetRef {
	return TargetRef{Shape: LineShape(c.Rows), Format: D24S8, Chunk: c, Col: col}
}

// fillDepth uploads the depths of a resident depth texture.
func (s *Store) fillDepth(t *Target, ref TargetRef) error {
	start := time.Now()
	what := fmt.Sprintf("%s of a chunk of %d rows as depths", describeColumns(s.fields, ref.Col), ref.Chunk.Rows)
	upload := s.drawDepths
	if s.ctx.Caps().Software {
		upload = s.copyDepths
	}
	err := upload(t, ref.depths)
	if e := s.ctx.Check("textures: upload " + what); err == nil {
		err = e
	}
	s.upload += time.Since(start)
	return err
}

// depths writes the depths of rows from..to-1, above a stencil value of 0.
func (t TargetRef) depths(out []uint32, from, to int) {
	seg := t.Chunk.Segments[t.Col]
	one := uint32(DepthOfCode(seg, 0))
	switch c := seg.Codes; {
	case c.U8 != nil:
		depthsOf(out, c.U8[from:to], one)
	case c.U16 != nil:
		depthsOf(out, c.U16[from:to], one)
	case c.U32 != nil:
		depthsOf(out, c.U32[from:to], one)
	default:
		depthsOf(out, c.U64[from:to], one)
	}
	eachNull(seg, from, to, func(i int) { out[i] = 0 })
}

func depthsOf[T uint8 | uint16 | uint32 | uint64](out []uint32, codes []T, one uint32) {
	out = out[:len(codes)]
	for i, c := range codes {
		out[i] = (uint32(c) + one) << 8
	}
}
