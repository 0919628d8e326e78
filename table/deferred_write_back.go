package table

import (
	"context"
	"math/bits"
)

// A segment may exist before its codes: a device has made them, and the host's copy follows. All else is right from the
// beginning, including the number of codes and their width. Whoever reads the codes calls AwaitCodes first.

// Deferred returns the segment that an update makes of s, which has no NULLs. The new values have ordinals from least to most. Its codes
// are where those of s are, or nowhere, until [Segment.Over] chooses the place. [Segment.AwaitCodes] waits until [Segment.CodesWritten] is called.
func (s *Segment) Deferred(least, most uint64) *Segment {
	out := &Segment{Type: s.Type, Base: min(s.Base, least), written: make(chan struct{})}
	out.own.Store(true)
	out.Max = max(s.Base+s.Max, most) - out.Base
	out.Bits = bits.Len64(out.Max)
	planes := uint64(1)<<out.Bits - 1
	if out.Base == s.Base {
		planes = s.Varying() | (1<<bits.Len64(most-s.Base) - 1)
	}
	out.varying.Do(func() { out.planes = planes; out.known.Store(true) })
	if out.Codes = s.Codes; !out.shares(s) {
		out.Codes = NewCodes(s.Rows(), out.Bits)
	}
	return out
}

// shares reports that the codes of the rows that keep their values are those of the segment that s was made of.
func (s *Segment) shares(old *Segment) bool {
	return s.Base == old.Base && NewCodes(0, s.Bits).Width() <= old.Codes.Width()
}

// Over chooses where the codes of s stand. It takes the codes of the old segment over, if nobody reads them and they have the same
// form. Otherwise the codes have memory of their own, and written copies the old codes there.
func (s *Segment) Over(old *Segment, free Free) (written func()) {
	switch {
	case !s.shares(old):
		return func() { (&space{base: s.Base, bits: s.Bits}).fill(s.Codes, 0, 0, old) }
	case free.of(old):
		return func() {}
	}
	s.Codes = old.Codes.blank()
	return func() { copyCodes(s.Codes, old.Codes) }
}

// CodesWritten says that the codes are written.
func (s *Segment) CodesWritten() { close(s.written) }

// AwaitCodes waits until the codes of columns that have been read are written, or ctx ends.
func (t *Table) AwaitCodes(ctx context.Context, columns []int) error {
	for _, c := range t.Chunks {
		for _, col := range columns {
			s := c.Segments[col]
			if s == nil || s.written == nil {
				continue
			}
			select {
			case <-s.written:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}
