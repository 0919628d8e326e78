package cpu

import (
	"math/bits"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/table"
)

// Between is a block without the rows whose codes in a segment are not from lo to hi. Rows that are NULL there stay
// where nulls is set. No row has a code where lo is above hi.
func Between(s *table.Segment, b table.Block, lo, hi uint64, nulls bool) table.Block {
	out := table.Block{Chunk: b.Chunk, Rows: []uint32{}, Values: b.Values}
	if b.Rows != nil {
		for _, row := range b.Rows {
			if code := s.Codes.At(int(row)); s.IsNull(int(row)) && nulls || !s.IsNull(int(row)) && lo <= code && code <= hi {
				out.Rows = append(out.Rows, row)
			}
		}
		return out
	}
	col := newSegment(s, kernels.Best())
	codes, some := kernels.Between(lo, max(lo, hi), col.Width())
	some = some && lo <= hi
	for row, end := b.First&^63, b.First+b.N; row < end; row += vector.BlockRows { // a word of Valid begins each
		n := min(vector.BlockRows, end-row)
		among, sel := make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
		setFirst(among, n)
		if row < b.First {
			among[0] &= ^uint64(0) << (b.First - row)
		}
		if some {
			col.Select(sel, among, row, codes)
			andValid(sel, s, row)
		}
		for w, m := range sel {
			if nulls && s.Valid != nil {
				m |= among[w] &^ s.Valid[row/64+w]
			}
			for ; m != 0; m &= m - 1 {
				out.Rows = append(out.Rows, uint32(row+64*w+bits.TrailingZeros64(m)))
			}
		}
	}
	return out
}
