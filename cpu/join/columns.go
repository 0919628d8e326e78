package join

import (
	"slices"
	"sort"
	"sync"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Column is a column of a joined table, in the code space that its chunks have in common.
type Column struct {
	*table.Segment // without rows
	Space          *physical.CodeSpace
	starts         []int
	chunks         []translated
	HasNulls       bool // some row is NULL
	// HasNegativeZeros says that some row is -0, which its code does not tell.
	HasNegativeZeros bool
}

// translated is the segment of a chunk: each code is greater by delta in the common space, or,
// where ranks is not nil, is ranks[code].
type translated struct {
	*table.Segment
	delta uint64
	ranks []uint32
}

// Column is a column by its number; nil for one that cannot be used.
func (j *Host) Column(col int) *Column {
	s := j.Scans[j.ScanOf(col)]
	local := col - s.First
	if c, ok := s.columns[local]; ok || s.Fields[local].Unsupported != "" {
		return c
	}
	space := physical.NewCodeSpace(s.Table, local)
	c := &Column{Segment: space.Segment(), Space: space, starts: s.starts}
	for _, chunk := range s.Chunks {
		seg := chunk.Segments[local]
		delta, ranks := space.Translation(seg)
		c.chunks = append(c.chunks, translated{seg, delta, ranks})
		c.HasNulls, c.HasNegativeZeros = c.HasNulls || seg.Nulls > 0, c.HasNegativeZeros || seg.NegativeZeros != nil
	}
	s.columns[local] = c
	return c
}

// IDs are numbers of rows: those of a list, or all from first on.
type IDs struct {
	List  []uint32
	first int
}

// Listed are the rows of a list.
func Listed(list []uint32) IDs { return IDs{list, 0} }

// fetch writes the codes of rows to out, 0 for a NULL. Where valid is not nil it sets the bits of
// those that are not NULL, and returns how many are.
func fetch[T uint8 | uint16 | uint32 | uint64](c *Column, of IDs, out []T, valid table.Bitmap) (nulls int) {
	if len(c.chunks) == 1 && valid == nil {
		switch s := c.chunks[0]; {
		case s.Codes.U8 != nil:
			gatherCodes(out, s.Codes.U8, of)
		case s.Codes.U16 != nil:
			gatherCodes(out, s.Codes.U16, of)
		case s.Codes.U32 != nil:
			gatherCodes(out, s.Codes.U32, of)
		default:
			gatherCodes(out, s.Codes.U64, of)
		}
		return 0
	}
	chunk, lo, hi := 0, 0, 0
	for i := range out {
		row := of.first + i
		if of.List != nil {
			if row = int(of.List[i]); row == NoRow {
				nulls++
				out[i] = 0
				continue
			}
		}
		if row < lo || row >= hi {
			for chunk = 0; row >= c.starts[chunk+1]; chunk++ {
			}
			lo, hi = c.starts[chunk], c.starts[chunk+1]
		}
		s := &c.chunks[chunk]
		if s.IsNull(row - lo) {
			nulls++
			out[i] = 0
			continue
		}
		code := s.Codes.At(row - lo)
		if s.ranks != nil {
			code = uint64(s.ranks[code])
		} else {
			code += s.delta
		}
		out[i] = T(code)
		if valid != nil {
			valid.Set(i)
		}
	}
	return nulls
}

func gatherCodes[T, C uint8 | uint16 | uint32 | uint64](out []T, codes []C, of IDs) {
	if of.List == nil {
		for i, c := range codes[of.first : of.first+len(out)] {
			out[i] = T(c)
		}
		return
	}
	for i, row := range of.List[:len(out)] {
		out[i] = T(codes[row])
	}
}

// SegmentOf is n rows of a column; where loose, some row may be missing, and is NULL.
func (c *Column) SegmentOf(of IDs, n int, loose bool) *table.Segment {
	s := &table.Segment{Type: c.Type, Base: c.Base, Max: c.Max, Bits: c.Bits, Dict: c.Dict, Spans: c.Spans}
	if c.HasNulls || loose {
		s.Valid = table.NewBitmap(n)
	}
	switch {
	case c.Bits <= 8:
		s.Codes.U8 = make([]uint8, n)
		s.Nulls = fetchAll(c, of, s.Codes.U8, s.Valid)
	case c.Bits <= 16:
		s.Codes.U16 = make([]uint16, n)
		s.Nulls = fetchAll(c, of, s.Codes.U16, s.Valid)
	case c.Bits <= 32:
		s.Codes.U32 = make([]uint32, n)
		s.Nulls = fetchAll(c, of, s.Codes.U32, s.Valid)
	default:
		s.Codes.U64 = make([]uint64, n)
		s.Nulls = fetchAll(c, of, s.Codes.U64, s.Valid)
	}
	if s.Nulls == 0 {
		s.Valid = nil
	}
	s.NegativeZeros = c.negativeZeros(of, n)
	return s
}

// negativeZeros are those of n rows of a column; nil for none.
func (c *Column) negativeZeros(of IDs, n int) (out table.Bitmap) {
	if !c.HasNegativeZeros {
		return nil
	}
	for i := range n {
		row := of.first + i
		if of.List != nil {
			if row = int(of.List[i]); row == NoRow {
				continue
			}
		}
		chunk := sort.SearchInts(c.starts, row+1) - 1
		if bits := c.chunks[chunk].NegativeZeros; bits == nil || !bits.Get(row-c.starts[chunk]) {
			continue
		}
		if out == nil {
			out = table.NewBitmap(n)
		}
		out.Set(i)
	}
	return out
}

// Picked is some rows of a segment.
func Picked(s *table.Segment, rows []uint32) *table.Segment {
	one := &Column{Segment: s, starts: []int{0, s.Rows()}, HasNulls: s.Nulls > 0, HasNegativeZeros: s.NegativeZeros != nil, chunks: []translated{{Segment: s}}}
	return one.SegmentOf(IDs{slices.Clip(rows), 0}, len(rows), false)
}

// orNothing is a segment that has no codes where all rows are NULL.
func orNothing(s *table.Segment) *table.Segment {
	if n := s.Rows(); s.Nulls == n {
		s.Base, s.Max, s.Bits, s.Dict = 0, 0, 0, nil
		s.Codes = table.Codes{U8: make([]uint8, n)}
	}
	return s
}

// fetchAll is fetch, of many rows on all cores.
func fetchAll[T uint8 | uint16 | uint32 | uint64](c *Column, of IDs, out []T, valid table.Bitmap) (nulls int) {
	if len(out) <= vector.BlockRows {
		return fetch(c, of, out, valid)
	}
	var mu sync.Mutex
	table.InParts(len(out), func(lo, hi int) {
		part := IDs{nil, of.first + lo}
		if of.List != nil {
			part = IDs{of.List[lo:hi], 0}
		}
		var v table.Bitmap
		if valid != nil {
			v = valid[lo/64:]
		}
		n := fetch(c, part, out[lo:hi], v)
		mu.Lock()
		nulls += n
		mu.Unlock()
	})
	return nulls
}

// gathered is n rows of a relation from row at on, of one column.
func (j *Host) gathered(rel *Relation, col, at, n int) *table.Segment {
	scan := j.ScanOf(col)
	of := IDs{nil, at}
	for i, s := range rel.Scans {
		if s == scan && rel.IDs[i] != nil {
			of = IDs{rel.IDs[i][at : at+n], 0}
		}
	}
	c := j.Column(col)
	if of.List == nil && len(c.chunks) == 1 && at == 0 && n == c.chunks[0].Rows() {
		return c.chunks[0].Segment // all rows in their order
	}
	return orNothing(c.SegmentOf(of, n, of.List != nil && rel.Nullable[scan]))
}
