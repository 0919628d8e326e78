package table

import (
	"fmt"
	"slices"
)

// -0 and 0 are equal and print differently. A segment has one code for both, so that codes compare as values do.
// [Segment.NegativeZeros] tells them apart where rows become values. What follows takes that bitmap to where rows
// go. A nil bitmap stays nil.

// signed makes signed ordinals of the ordinals of a block's rows.
func (s *Segment) signed(ordinals []uint64, b Block) {
	for i := range ordinals {
		if s.NegativeZeros.Get(b.Row(i)) {
			ordinals[i]--
		}
	}
}

// SignedOrdinals are the signed ordinals of a block's rows of a segment of REAL, or of DOUBLE; any where a row is NULL.
func (s *Segment) SignedOrdinals(b Block) []uint64 {
	out := Gather(s.Codes, b, s.Base)
	if s.NegativeZeros != nil {
		s.signed(out, b)
	}
	return out
}

// negativeZeros makes zeros of the ordinals held that are -0's, and notes their rows.
func (c *ColumnBuilder) negativeZeros(negative uint64) {
	for i, o := range c.ords {
		row := c.packed + i
		if o != negative || c.valid != nil && !c.valid.Get(row) {
			continue
		}
		if c.negative == nil || row>>6 >= len(c.negative) {
			c.negative = append(c.negative, make(Bitmap, row>>6+1-len(c.negative))...)
		}
		c.ords[i]++
		c.negative.Set(row)
	}
}

// sized is the bitmap of n rows, of which those behind its last bit have none set.
func (b Bitmap) sized(n int) Bitmap {
	if b == nil {
		return nil
	}
	return append(b, make(Bitmap, (n+63)/64-len(b))...)
}

// any is the bitmap, nil where no bit is set.
func (b Bitmap) any() Bitmap {
	for _, word := range b {
		if word != 0 {
			return b
		}
	}
	return nil
}

// window is the bits of rows from row from on; both numbers are multiples of 64, but at the end of the bitmap.
func (b Bitmap) window(from, rows int) Bitmap {
	if b == nil {
		return nil
	}
	return b[from/64:][:(rows+63)/64].any()
}

// Of is the bits of some rows, in the order in which they are listed; nil where none of these is set.
func (b Bitmap) Of(rows []uint32) Bitmap {
	if b == nil {
		return nil
	}
	out := NewBitmap(len(rows))
	for i, row := range rows {
		if b.Get(int(row)) {
			out.Set(i)
		}
	}
	return out.any()
}

// then is the bitmap of n rows, and behind it another of so many rows.
func (b Bitmap) then(n int, other Bitmap, rows int) Bitmap {
	out := NewBitmap(n + rows)
	copy(out, b)
	for i, word := range other {
		at := n/64 + i
		out[at] |= word << (n % 64)
		if n%64 != 0 && at+1 < len(out) {
			out[at+1] |= word >> (64 - n%64)
		}
	}
	return out
}

// assigned is the bitmap of n rows with the bits of another, from its bit from on, in some rows.
func (b Bitmap) assigned(n int, rows []int, values Bitmap, from int) Bitmap {
	if b == nil && values == nil {
		return nil
	}
	out := slices.Clone(b)
	if out == nil {
		out = NewBitmap(n)
	}
	for i, row := range rows {
		out[row>>6] &^= 1 << (uint(row) & 63)
		if values != nil && values.Get(from+i) {
			out.Set(row)
		}
	}
	return out.any()
}

// checkNegativeZeros checks that the rows of -0 are rows of 0.
func (s *Segment) checkNegativeZeros() error {
	if s.NegativeZeros == nil {
		return nil
	}
	negative, float := s.Type.negativeZero()
	if !float || len(s.NegativeZeros) != (s.Rows()+63)/64 {
		return fmt.Errorf("table: negative zeros of %d words for %d rows of %v", len(s.NegativeZeros), s.Rows(), s.Type)
	}
	for i := range 64 * len(s.NegativeZeros) {
		if s.NegativeZeros.Get(i) && (i >= s.Rows() || s.IsNull(i) || s.Base+s.Codes.At(i) != negative+1) {
			return fmt.Errorf("table: row %d is no zero, and said to be a negative one", i)
		}
	}
	return nil
}
