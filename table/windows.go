package table

import "math/bits"

// Windows cuts the chunk into chunks of so many rows, a multiple of 64; the last may have fewer. They share its codes
// and dictionaries. The bounds of their segments are those of the chunk, so that a predicate that was lowered for the
// chunk holds for its windows. A second call with the same number of rows returns the same segments.
func (c *Chunk) Windows(rows int) []*Chunk {
	if rows >= c.Rows {
		return []*Chunk{c}
	}
	list := make([]*Chunk, (c.Rows+rows-1)/rows)
	for i := range list {
		list[i] = &Chunk{Rows: min(rows, c.Rows-i*rows), Segments: make([]*Segment, len(c.Segments))}
	}
	for col, s := range c.Segments {
		if s == nil { // not read
			continue
		}
		for i, w := range s.windows(rows) {
			list[i].Segments[col] = w
		}
	}
	if c.Deleted > 0 {
		for _, w := range list {
			for _, live := range w.Segments[len(w.Segments)-1].Codes.U8 {
				w.Deleted += 1 - int(live)
			}
		}
	}
	return list
}

// windows are those of a segment, which the first call makes.
func (s *Segment) windows(rows int) []*Segment {
	s.cutting.Lock()
	defer s.cutting.Unlock()
	if list, ok := s.cuts[rows]; ok {
		return list
	}
	var list []*Segment
	for from := 0; from < s.Rows(); from += rows {
		list = append(list, s.window(from, min(rows, s.Rows()-from)))
	}
	if s.cuts == nil {
		s.cuts = map[int][]*Segment{}
	}
	s.cuts[rows] = list
	return list
}

// window is the segment's rows from row from on, a multiple of 64.
func (s *Segment) window(from, rows int) *Segment {
	out := &Segment{Type: s.Type, Base: s.Base, Max: s.Max, Bits: s.Bits, Dict: s.Dict, Spans: s.Spans, whole: s, from: from}
	switch c := s.Codes; {
	case c.U8 != nil:
		out.Codes.U8 = c.U8[from:][:rows:rows]
	case c.U16 != nil:
		out.Codes.U16 = c.U16[from:][:rows:rows]
	case c.U32 != nil:
		out.Codes.U32 = c.U32[from:][:rows:rows]
	default:
		out.Codes.U64 = c.U64[from:][:rows:rows]
	}
	out.NegativeZeros = s.NegativeZeros.window(from, rows)
	if s.Valid == nil {
		return out
	}
	out.Nulls = rows
	valid := s.Valid[from/64:][:(rows+63)/64]
	for i, word := range valid {
		if n := rows - 64*i; n < 64 {
			word &= 1<<n - 1
		}
		out.Nulls -= bits.OnesCount64(word)
	}
	if out.Nulls > 0 {
		out.Valid = valid
	}
	return out
}
