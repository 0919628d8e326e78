package columnar

import (
	"math/bits"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// Statistics is what a file states about a column in a group of its rows. Who wants to use it asks one of its three
// questions: what is not answered has to be read. The zero value with nulls of -1 states nothing.
type Statistics struct {
	Lo, Hi  uint64 // ordinals that bound the values
	Bounded bool   // lo and hi are stated
	Exact   bool   // they are values, too
	Nulls   int    // how many rows are NULL; negative: not stated
}

// bounds are ordinals that no value lies outside of, to leave groups out by. They need not be values.
func (s Statistics) bounds() (lo, hi uint64, ok bool) { return s.Lo, s.Hi, s.Bounded }

// NullCount is the exact number of rows that are NULL.
func (s Statistics) NullCount() (n int, ok bool) { return s.Nulls, s.Nulls >= 0 }

// extremes are the ordinals of the smallest and the largest value.
func (s Statistics) extremes() (lo, hi uint64, ok bool) { return s.Lo, s.Hi, s.Bounded && s.Exact }

// within is what is known of the column in some rows of the group.
func (s Statistics) within() Statistics {
	if s.Exact = false; s.Nulls > 0 { // somewhere in the group
		s.Nulls = -1
	}
	return s
}

// zoneMaps is a column of the group as far as its statistics are stated. Its numbers bound those of the rows, and the codes
// are not right. It is nil where no bounds are stated, and not all rows are NULL.
func (s Statistics) zoneMaps(t table.Type, codes []uint8) *table.Segment {
	out := &table.Segment{Type: t, Codes: table.Codes{U8: codes}}
	n, counted := s.NullCount()
	if out.Nulls = n; !counted {
		out.Nulls, out.Inexact = 1, table.InexactNulls
	}
	lo, hi, ok := s.bounds()
	switch _, _, exact := s.extremes(); {
	case counted && n == len(codes):
		return out
	case !ok || arrays.InRange(t, lo, hi) != nil:
		return nil
	case !exact:
		out.Inexact |= table.InexactRange
	}
	out.Base, out.Max, out.Bits = lo, hi-lo, bits.Len64(hi-lo)
	return out
}

// Unstated is that of a column about which a file says nothing.
var Unstated = Statistics{Nulls: -1}
