package compute

import (
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// stored says which bits of a column's codes have planes; the others are 0 in every
// code. The stored bits of a code, moved together, are a dense code: it has a plane
// for each bit and orders as the code does.
type stored uint64

func storedOf(seg *table.Segment) stored { return stored(seg.Varying()) }

// planes returns how many planes there are in all.
func (s stored) planes() int { return bits.OnesCount64(uint64(s)) }

// part returns which bits of a part (32 bits) are stored.
func (s stored) part(i int) uint32 { return uint32(s >> (32 * i)) }

// dense moves the stored bits of a code together.
func (s stored) dense(code uint64) uint64 {
	var d uint64
	for i, v := 0, uint64(s); v != 0; i, v = i+1, v&(v-1) {
		d |= code >> bits.TrailingZeros64(v) & 1 << i
	}
	return d
}

// code is the inverse of dense.
func (s stored) code(dense uint64) uint64 {
	var c uint64
	for v := uint64(s); v != 0; v &= v - 1 {
		c |= dense & 1 << bits.TrailingZeros64(v)
		dense >>= 1
	}
	return c
}

// holds reports whether a code can occur: whether it has no bit that is not stored.
func (s stored) holds(code uint64) bool { return code&^uint64(s) == 0 }

// threshold translates code < c to dense codes: it is dense < t, or true of all.
//
// Where c has a bit that is not stored, codes that agree with c above the highest such bit are less: their
// bit is 0. Then t is one more than c's upper part.
func (s stored) threshold(c uint64) (t uint64, all bool) {
	gap := c &^ uint64(s)
	if gap == 0 {
		return s.dense(c), false
	}
	j := bits.Len64(gap) - 1
	upper := s >> j >> 1
	t = upper.dense(c>>j>>1) + 1
	if t>>upper.planes() != 0 {
		return 0, true
	}
	return t << (s & (1<<j - 1)).planes(), false
}

// after is threshold(c + 1): code <= c.
func (s stored) after(c uint64) (t uint64, all bool) {
	if c == ^uint64(0) {
		return 0, true
	}
	return s.threshold(c + 1)
}
