package table

import (
	"fmt"
	"math/bits"
)

// Check walks the whole segment and returns the first broken invariant.
func (s *Segment) Check() error {
	n := s.Rows()
	if s.Bits != bits.Len64(s.Max) {
		return fmt.Errorf("table: segment of max code %d says %d bits", s.Max, s.Bits)
	}
	if s.Valid != nil && len(s.Valid) != (n+63)/64 {
		return fmt.Errorf("table: validity of %d words for %d rows", len(s.Valid), n)
	}
	if s.Type.Kind == Varchar && s.NonNull() > 0 && s.Max >= uint64(len(s.Dict)) {
		return fmt.Errorf("table: code %d outside a dictionary of %d", s.Max, len(s.Dict))
	}
	for i := 1; i < len(s.Dict); i++ {
		if s.Dict[i-1] >= s.Dict[i] {
			return fmt.Errorf("table: dictionary entries %d and %d are not in order", i-1, i)
		}
	}
	if err := s.checkNegativeZeros(); err != nil {
		return err
	}
	nulls, top := 0, uint64(0)
	if s.Valid == nil {
		top, n = s.Codes.largest(), 0
	}
	for i := range n {
		c := s.Codes.At(i)
		if s.IsNull(i) {
			nulls++
			if c != 0 {
				return fmt.Errorf("table: NULL row %d has code %d", i, c)
			}
			continue
		}
		top = max(top, c)
	}
	if nulls != s.Nulls || top > s.Max {
		return fmt.Errorf("table: segment has %d NULLs and max code %d, says %d and at most %d", nulls, top, s.Nulls, s.Max)
	}
	return nil
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

// Check walks the whole table and returns the first broken invariant.
func (t *Table) Check() error {
	for ci, c := range t.Chunks {
		if err := t.check(c); err != nil {
			return fmt.Errorf("%w (%s chunk %d)", err, t.Name, ci)
		}
	}
	return nil
}

func (t *Table) check(c *Chunk) error {
	fields := t.Fields
	if c.Deleted != 0 {
		fields = t.Attributes()
	}
	if len(c.Segments) != len(fields) {
		return fmt.Errorf("table: %d segments for %d columns", len(c.Segments), len(fields))
	}
	for i, s := range c.Segments {
		f := fields[i]
		unread := i < len(t.Fields) && t.Chunks[0].Segments[i] == nil // or not supported: in all chunks
		if unread && s == nil {
			continue
		}
		if unread || s == nil || s.Rows() != c.Rows || s.Type != f.Type {
			return fmt.Errorf("table: %s does not fit its chunk", f.Name)
		}
		if err := s.Check(); err != nil {
			return fmt.Errorf("%w (%s)", err, f.Name)
		}
	}
	if c.Deleted != 0 {
		return c.checkLive()
	}
	return nil
}

// checkLive checks the hidden column.
func (c *Chunk) checkLive() error {
	s := c.Segments[len(c.Segments)-1]
	if s.Codes.U8 == nil || s.Base != 0 || s.Max > 1 || s.Valid != nil {
		return fmt.Errorf("table: %s is not a column of one bit", LiveField.Name)
	}
	live := 0
	for _, b := range s.Codes.U8 {
		live += int(b)
	}
	if live != c.Live() {
		return fmt.Errorf("table: %d rows live, the chunk says %d", live, c.Live())
	}
	return nil
}
