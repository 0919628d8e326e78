package table

// Of is a segment of some rows of the segment, in the order in which they are listed, with their codes as they are.
func (s *Segment) Of(rows []uint32) *Segment {
	out := &Segment{Type: s.Type, Base: s.Base, Max: s.Max, Bits: s.Bits, Dict: s.Dict}
	switch c := s.Codes; {
	case c.U8 != nil:
		out.Codes.U8 = picked(c.U8, rows)
	case c.U16 != nil:
		out.Codes.U16 = picked(c.U16, rows)
	case c.U32 != nil:
		out.Codes.U32 = picked(c.U32, rows)
	default:
		out.Codes.U64 = picked(c.U64, rows)
	}
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

// picked are the codes of some rows, which all cores gather.
func picked[C uint8 | uint16 | uint32 | uint64](codes []C, rows []uint32) []C {
	out := make([]C, len(rows))
	InParts(len(rows), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = codes[rows[i]]
		}
	})
	return out
}
