package physical

import (
	"iter"
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// SelectedRows is which of the records from First to before First + N of a chunk are selected, as a device
// returns them. It is All of them, or their numbers in the chunk, ascending, or a bit a record, whichever is
// shorter. For a query with [Query.ValuesOnly] it is the selected records by themselves.
type SelectedRows struct {
	First, N int
	All      bool
	Rows     []uint32
	Bits     []uint32 // bit r % 32 of word r / 32 is that of record First + r; 0 behind N
	// Values are chunks of the selected records alone, with segments for the columns that the query wants.
	Values []*table.Chunk
}

// Parts cuts the bits of n records off, n a multiple of 32, time after time; what has no
// bits is one part.
func (m SelectedRows) Parts(n int) iter.Seq[SelectedRows] {
	return func(yield func(SelectedRows) bool) {
		for len(m.Bits) > n/32 && m.N > n {
			if !yield(SelectedRows{First: m.First, N: n, Bits: m.Bits[:n/32]}) {
				return
			}
			m.First, m.N, m.Bits = m.First+n, m.N-n, m.Bits[n/32:]
		}
		yield(m)
	}
}

// Lists yields the numbers of the selected records in the chunk, ascending, at most n at
// a time, n at least 32. A list is its taker's.
func (m SelectedRows) Lists(n int) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		rows := m.Rows
		for len(rows) > 0 {
			k := min(n, len(rows))
			if !yield(rows[:k:k]) {
				return
			}
			rows = rows[k:]
		}
		var list []uint32
		for i, word := range m.Bits {
			if word == 0 {
				continue
			}
			if len(list)+32 > n {
				if !yield(list) {
					return
				}
				list = nil
			}
			if list == nil {
				list = make([]uint32, 0, n)
			}
			for first := uint32(m.First + 32*i); word != 0; word &= word - 1 {
				list = append(list, first+uint32(bits.TrailingZeros32(word)))
			}
		}
		if len(list) > 0 {
			yield(list)
		}
	}
}
