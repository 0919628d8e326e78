package physical

import (
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// DistinctCodes are the codes of a column that a device has found among the rows of a part of its table.
type DistinctCodes struct {
	Space *CodeSpace // of the part
	Bits  []uint32   // a bit for each code of the space
}

// bitsARow is up to how many bits a row different codes are marked in a bitmap.
const bitsARow = 64

// CountsDistinct is the column of which COUNT(DISTINCT ...) of all selected rows is all that Groups asks for; ok is false where it asks for
// something else.
func (q *Query) CountsDistinct() (col *expr.Column, ok bool) {
	if q.Groups == nil || len(q.Star) > 0 || len(q.Groups.Keys) > 0 || len(q.Groups.Aggs) != 1 {
		return nil, false
	}
	a := q.Groups.Aggs[0]
	if a.Kind != expr.Count || !a.Distinct || a.Filter != nil || a.X != nil || a.Col < 0 {
		return nil, false
	}
	return &expr.Column{Index: a.Col, Name: a.Name, T: a.Arg, P: -1}, true
}

// MarksCodes reports whether codes of at most this size are so close together that a bit for each is little beside so many rows.
func MarksCodes(most uint64, rows int) bool {
	return most/bitsARow < max(uint64(rows), 1<<16) && bits.Len64(most) < 32
}

// CountDistinctCodes is how many different values parts have found in one column.
func CountDistinctCodes(parts []*DistinctCodes) (n int64) {
	if len(parts) == 0 {
		return 0
	}
	t := &table.Table{Fields: []table.Field{{Type: parts[0].Space.typ}}}
	for _, p := range parts {
		s := p.Space.Segment()
		s.Codes = table.Codes{U8: make([]uint8, 1)} // as one with a row
		t.Chunks = append(t.Chunks, &table.Chunk{Rows: 1, Segments: []*table.Segment{s}})
	}
	all, words := NewCodeSpace(t, 0), map[uint64]uint32{} // by the codes' upper bits, since parts may lie far apart
	for i, p := range parts {
		delta, ranks := all.Translation(t.Chunks[i].Segments[0])
		for at, w := range p.Bits {
			if len(parts) == 1 {
				n += int64(bits.OnesCount32(w))
				continue
			}
			if w == 0 {
				continue
			}
			if ranks == nil { // shifted into two words
				first := uint64(at)*32 + delta
				words[first/32] |= w << (first % 32)
				if high := uint32(uint64(w) << (first % 32) >> 32); high != 0 {
					words[first/32+1] |= high
				}
				continue
			}
			for ; w != 0; w &= w - 1 {
				code := ranks[at*32+bits.TrailingZeros32(w)]
				words[uint64(code/32)] |= 1 << (code % 32)
			}
		}
	}
	for _, w := range words {
		n += int64(bits.OnesCount32(w))
	}
	return n
}
