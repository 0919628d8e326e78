package physical

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/stencildb/stencildb/table"
)

// CodeSpace is the code space that the chunks of one column have in common. The k-th largest value over
// several chunks is searched for in it. For a table of one chunk it is that chunk's own. Its codes order as
// the values do.
type CodeSpace struct {
	typ   table.Type
	base  uint64 // ordinal of code 0
	max   uint64
	dict  []string             // VARCHAR: the entries of all chunks
	spans map[int64]table.Span // INTERVAL: those of the segments
}

// NewCodeSpace makes the common space of field col. Chunks in which every record is
// NULL add nothing to it.
func NewCodeSpace(t *table.Table, col int) *CodeSpace {
	s := &CodeSpace{typ: t.Fields[col].Type, base: math.MaxUint64}
	top, dicts := uint64(0), [][]string(nil)
	for _, c := range t.Chunks {
		seg := c.Segments[col]
		if seg == nil || seg.NonNull() == 0 {
			continue
		}
		s.base, top = min(s.base, seg.Base), max(top, seg.Base+seg.Max)
		if seg.Spans != nil {
			s.spans = seg.Spans
		}
		if s.typ.Kind != table.Varchar {
			continue
		}
		if dict := seg.Dict[:seg.Max+1]; len(dicts) == 0 || &dicts[len(dicts)-1][0] != &dict[0] || len(dicts[len(dicts)-1]) != len(dict) { // windows share one
			dicts = append(dicts, dict)
		}
	}
	s.base = min(s.base, top) // no value at all
	s.max = top - s.base
	if s.typ.Kind == table.Varchar {
		if len(dicts) == 1 {
			s.dict = dicts[0]
		} else {
			s.dict = slices.Concat(dicts...)
			slices.Sort(s.dict)
			s.dict = slices.Compact(s.dict)
		}
		s.max = uint64(max(len(s.dict), 1) - 1)
	}
	return s
}

// NewSignedCodeSpace is [NewCodeSpace], where -0 of the column has the code below 0's: see [table.Segment.SignedOrdinals].
func NewSignedCodeSpace(t *table.Table, col int) *CodeSpace {
	s := NewCodeSpace(t, col)
	if !HasNegativeZeros(t, col) {
		return s
	}
	negative := table.SignedOrdinal(table.Value{Type: s.typ, F: math.Copysign(0, -1)})
	if base := min(s.base, negative); base < s.base {
		s.base, s.max = base, s.max+s.base-base
	}
	return s
}

// HasNegativeZeros reports whether a row of a column, which has been read, is -0.
func HasNegativeZeros(t *table.Table, col int) bool {
	return slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool { s := c.Segments[col]; return s != nil && s.NegativeZeros != nil })
}

// Max is the largest code that a record has; 0 when there is none.
func (s *CodeSpace) Max() uint64 { return s.max }

// Bits is the width of Max.
func (s *CodeSpace) Bits() int { return bits.Len64(s.max) }

// Above is by how much an ordinal is above that of code 0.
func (s *CodeSpace) Above(ordinal uint64) uint64 { return ordinal - s.base }

// Segment is a segment without rows of the space: its base, its largest code, its dictionary.
func (s *CodeSpace) Segment() *table.Segment {
	return &table.Segment{Type: s.typ, Base: s.base, Max: s.max, Bits: s.Bits(), Dict: s.dict, Spans: s.spans}
}

// Value decodes a code, code <= Max.
func (s *CodeSpace) Value(code uint64) table.Value {
	if s.typ.Kind == table.Varchar {
		if code >= uint64(len(s.dict)) {
			return table.Null(s.typ)
		}
		return table.Str(s.dict[code])
	}
	return table.Spanned(table.FromOrdinal(s.typ, s.base+code), s.spans)
}

// Code returns the code that a code of a chunk's segment has here.
func (s *CodeSpace) Code(seg *table.Segment, local uint64) uint64 {
	if s.typ.Kind == table.Varchar {
		return uint64(sort.SearchStrings(s.dict, seg.Dict[local]))
	}
	return seg.Base - s.base + local
}

// Translation is how the codes of a chunk's segment become those of the space. Each code is greater by delta
// or, where ranks is not nil, is ranks[code].
func (s *CodeSpace) Translation(seg *table.Segment) (delta uint64, ranks []uint32) {
	switch {
	case seg.NonNull() == 0:
		return 0, nil
	case s.typ.Kind != table.Varchar:
		return seg.Base - s.base, nil
	case uint64(len(s.dict)) == seg.Max+1: // the same strings
		return 0, nil
	}
	delta, same := s.Code(seg, 0), true
	for c := range seg.Max + 1 {
		rank := s.Code(seg, c)
		ranks, same = append(ranks, uint32(rank)), same && rank == c+delta
	}
	if same {
		return delta, nil
	}
	return 0, ranks
}

// AtLeast returns the smallest code whose value does not come before the wanted one, and Max where all do.
// order is negative for values that come before it.
func (s *CodeSpace) AtLeast(order func(table.Value) int) uint64 {
	lo, hi := uint64(0), s.max
	for lo < hi {
		if mid := lo + (hi-lo)/2; order(s.Value(mid)) >= 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Local returns the smallest code of a chunk's segment whose value is at least that of a
// code of the space. ok is false when the chunk has no such code.
func (s *CodeSpace) Local(seg *table.Segment, code uint64) (local uint64, ok bool) {
	if seg == nil || seg.NonNull() == 0 || code > s.max {
		return 0, false
	}
	if s.typ.Kind == table.Varchar {
		local = uint64(sort.SearchStrings(seg.Dict, s.dict[code]))
		return local, local <= seg.Max
	}
	if d := seg.Base - s.base; code > d {
		local = code - d
	}
	return local, local <= seg.Max
}
