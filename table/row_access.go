package table

import "slices"

// At is the chunk that has a row of the table, and the row's place there. The rows are counted over all chunks, deleted ones
// included, from 0.
func (t *Table) At(row int) (c *Chunk, at int) {
	for _, c = range t.Chunks {
		if row < c.Rows {
			break
		}
		row -= c.Rows
	}
	return c, row
}

// Code is the code of a value of the segment's type, but NULL; ok is false where no row has it.
func (s *Segment) Code(v Value) (code uint64, ok bool) {
	if s.NonNull() == 0 {
		return 0, false
	}
	if s.Type.Kind == Varchar {
		at, found := slices.BinarySearch(s.Dict, v.S)
		return uint64(at), found
	}
	code = Ordinal(v) - s.Base
	return code, Ordinal(v) >= s.Base && code <= s.Max
}

// Sampled is a table of some of the table's rows, spread over all of it, with the segments of some fields and the hidden column. Its chunks are of
// those of the table, in their codes: what was lowered for a chunk holds for it.
func (t *Table) Sampled(some int, fields []int) *Table {
	all, before := 0, 0
	for _, c := range t.Chunks {
		all += c.Rows
	}
	share := float64(some) / float64(all)
	chunks := make([]*Chunk, len(t.Chunks))
	for i, c := range t.Chunks {
		rows := make([]uint32, min(c.Rows, int(float64(before+c.Rows)*share)-int(float64(before)*share)))
		before += c.Rows
		InParts(len(rows), func(from, to int) {
			for k := from; k < to; k++ {
				rows[k] = uint32(stratumRow(k, c.Rows, len(rows)))
			}
		})
		of := &Chunk{Rows: len(rows), Segments: make([]*Segment, len(c.Segments))}
		for col, s := range c.Segments {
			if s != nil && (col >= len(t.Fields) || slices.Contains(fields, col)) {
				s.AwaitCodes()
				of.Segments[col] = s.Of(rows)
			}
		}
		if c.Deleted > 0 {
			for _, live := range of.Segments[len(of.Segments)-1].Codes.U8 {
				of.Deleted += 1 - int(live)
			}
		}
		chunks[i] = of
	}
	return t.With(chunks...)
}

// Of is a segment of some rows of the segment, in the order in which they are listed, with their codes as they are.
func (s *Segment) Of(rows []uint32) *Segment {
	out := &Segment{Type: s.Type, Base: s.Base, Max: s.Max, Bits: s.Bits, Dict: s.Dict, Spans: s.Spans}
	switch c := s.Codes; {
	case c.U8 != nil:
		out.Codes.U8 = gatherCodes(c.U8, rows)
	case c.U16 != nil:
		out.Codes.U16 = gatherCodes(c.U16, rows)
	case c.U32 != nil:
		out.Codes.U32 = gatherCodes(c.U32, rows)
	default:
		out.Codes.U64 = gatherCodes(c.U64, rows)
	}
	out.NegativeZeros = s.NegativeZeros.Of(rows)
	if s.Valid == nil {
		return out
	}
	out.Valid = NewBitmap(len(rows))
	for i, row := range rows {
		if s.Valid.Get(int(row)) {
			out.Valid.Set(i)
		} else {
			out.Nulls++
		}
	}
	if out.Nulls == 0 {
		out.Valid = nil
	}
	return out
}

// gatherCodes are the codes of some rows, which all cores gather.
func gatherCodes[C uint8 | uint16 | uint32 | uint64](codes []C, rows []uint32) []C {
	out := make([]C, len(rows))
	InParts(len(rows), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = codes[rows[i]]
		}
	})
	return out
}
