package hashtable

import (
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/table"
)

// Keys are numbers that are equal where the values of a key are, one a row; null says which rows have none, where some do.
type Keys struct {
	Numbers []uint64
	Null    table.Bitmap // nil for none
}

// SetNull says that a row has no number.
func (k *Keys) SetNull(i int) {
	if k.Null == nil {
		k.Null = table.NewBitmap(len(k.Numbers))
	}
	k.Null.Set(i)
}

// At are the numbers of rows.
func (k Keys) At(rows []uint32) Keys {
	out := Keys{Numbers: make([]uint64, len(rows))}
	for i, row := range rows {
		if out.Numbers[i] = k.Numbers[row]; k.IsNull(int(row)) {
			out.SetNull(i)
		}
	}
	return out
}

// IsNull reports that a row has no number.
func (k Keys) IsNull(i int) bool { return k.Null != nil && k.Null.Get(i) }

// Nulls is how many rows have no number.
func (k Keys) Nulls() int { return k.nullsIn(0, len(k.Numbers)) }

// nullsIn is nulls of the rows from lo, a multiple of 64, to before hi.
func (k Keys) nullsIn(lo, hi int) (n int) {
	if k.Null == nil {
		return 0
	}
	for w := lo / 64; w < hi/64; w++ {
		n += bits.OnesCount64(k.Null[w])
	}
	if rest := hi % 64; rest > 0 { // a bitmap of a block may say something of what lies behind it
		n += bits.OnesCount64(k.Null[hi/64] & (1<<rest - 1))
	}
	return n
}

// Row are the rows that have a number.
func (k Keys) Rows() []Row {
	const piece = 1 << 16
	at := make([]int, (len(k.Numbers)+piece-1)/piece+1) // where the rows of each piece go
	for p := range at[1:] {
		lo, hi := p*piece, min(len(k.Numbers), (p+1)*piece)
		at[p+1] = at[p] + hi - lo - k.nullsIn(lo, hi)
	}
	list := make([]Row, at[len(at)-1])
	ordered.Each(len(at)-1, func(p int) {
		to := list[at[p]:at[p]]
		for i := p * piece; i < min(len(k.Numbers), (p+1)*piece); i++ {
			if !k.IsNull(i) {
				to = append(to, Row{k.Numbers[i], uint32(i)})
			}
		}
	})
	return list
}

// ClearNulls clears the ranges of rows without a number.
func (k Keys) ClearNulls(from, to []uint32) {
	for w, m := range k.Null {
		for ; m != 0; m &= m - 1 {
			if i := 64*w + bits.TrailingZeros64(m); i < len(from) {
				from[i], to[i] = 0, 0
			}
		}
	}
}

// Row is a row with the number of its key.
type Row struct {
	Key uint64
	Row uint32
}

// fewKeyed is up to how many rows are not split.
const fewKeyed = 1 << 15

// Split puts rows in partitions, on all cores. The partition is the upper bits of a number of so many bits
// that is made of the row's key. Rows keep their order within a partition. It counts the rows, computes a
// prefix sum, and moves each row to its place.
func Split(list []Row, number func(uint64) uint64, width int) (out []Row, bounds []int) {
	parts := 1
	for parts < 1<<min(width, 12) && len(list)/parts > fewKeyed {
		parts *= 2
	}
	if parts == 1 {
		return slices.Clone(list), []int{0, len(list)}
	}
	shift := width - bits.Len(uint(parts-1))
	const pieces = 64
	counts := make([][]int, pieces)
	piece := func(i int) []Row { return list[len(list)*i/pieces : len(list)*(i+1)/pieces] }
	ordered.Each(pieces, func(i int) {
		counts[i] = make([]int, parts)
		for _, k := range piece(i) {
			counts[i][number(k.Key)>>shift]++
		}
	})
	at := 0
	for p := range parts {
		bounds = append(bounds, at)
		for i := range counts {
			counts[i][p], at = at, at+counts[i][p]
		}
	}
	out = make([]Row, len(list))
	ordered.Each(pieces, func(i int) {
		for _, k := range piece(i) {
			place := &counts[i][number(k.Key)>>shift]
			out[*place] = k
			*place++
		}
	})
	return out, append(bounds, at)
}
