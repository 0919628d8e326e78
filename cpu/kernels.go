package cpu

import (
	"math/bits"

	"github.com/stencildb/stencildb/plan"
)

// The inner loops that package kernels does not have. Each is written for all code
// widths through a type parameter (the compiler makes a copy for each) and handles
// words of 64 rows. A selection has one word for 64 rows; its bits past the last row
// are 0.

type anyCode interface {
	uint8 | uint16 | uint32 | uint64
}

// inTable sets bit i of dst where bit codes[i] of table is set.
func inTable[T anyCode](dst []uint64, codes []T, table []uint64) {
	for w := range dst {
		var m uint64
		for j, c := range codes[w*64 : min(len(codes), w*64+64)] {
			m |= (table[c>>6] >> (c & 63) & 1) << uint(j&63)
		}
		dst[w] = m
	}
}

// histogram counts the selected codes by (code + delta) >> shift, of those with
// code + delta <= span (all wrapping): span >> shift must be below [buckets].
func histogram[T anyCode](h *[buckets]uint64, codes []T, sel []uint64, delta, span uint64, shift uint) {
	for w, m := range sel {
		group := codes[w*64 : min(len(codes), w*64+64)]
		if m == ^uint64(0) {
			for _, c := range group {
				if v := uint64(c) + delta; v <= span {
					h[v>>(shift&63)%buckets]++
				}
			}
			continue
		}
		for ; m != 0; m &= m - 1 {
			if v := uint64(group[bits.TrailingZeros64(m)]) + delta; v <= span {
				h[v>>(shift&63)%buckets]++
			}
		}
	}
}

// histogramMapped is histogram of common[code] in the place of code.
func histogramMapped[T anyCode](h *[buckets]uint64, codes []T, sel []uint64, common []uint32, delta, span uint64, shift uint) {
	for w, m := range sel {
		group := codes[w*64 : min(len(codes), w*64+64)]
		for ; m != 0; m &= m - 1 {
			if v := uint64(common[group[bits.TrailingZeros64(m)]]) + delta; v <= span {
				h[v>>(shift&63)%buckets]++
			}
		}
	}
}

// buckets is the size of a histogram: 16 KiB, so that it stays in the
// first-level cache beside the codes.
const buckets = 1 << bucketBits

const bucketBits = 11

// addFloats adds the selected doubles, or REALs, given by their codes.
func addFloats[T anyCode](s *plan.FloatSum, codes []T, sel []uint64, base uint64, single bool) {
	for w, m := range sel {
		group := codes[w*64 : min(len(codes), w*64+64)]
		for ; m != 0; m &= m - 1 {
			s.Add(decodeFloat(uint64(group[bits.TrailingZeros64(m)])+base, single))
		}
	}
}

func countBits(sel []uint64) uint64 {
	var n int
	for _, w := range sel {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

func anyBit(sel []uint64) bool {
	for _, w := range sel {
		if w != 0 {
			return true
		}
	}
	return false
}

// setFirst sets the first n bits of dst and clears the others.
func setFirst(dst []uint64, n int) {
	for w := range dst {
		switch rest := n - w*64; {
		case rest >= 64:
			dst[w] = ^uint64(0)
		case rest > 0:
			dst[w] = 1<<uint(rest) - 1
		default:
			dst[w] = 0
		}
	}
}
