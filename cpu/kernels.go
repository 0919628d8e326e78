package cpu

import "math/bits"

// The inner loops. Each is written for one code width through a type parameter
// (the compiler makes a copy for each width) and handles whole words of 64 rows.
// A selection has one word for 64 rows; its bits past the last row are 0. A
// faster form for one instruction set can replace any of them.

type narrowCode interface{ uint8 | uint16 | uint32 }

type anyCode interface{ narrowCode | uint64 }

// below sets bit i of dst where codes[i]-lo, wrapping in the width of T, is less
// than k. Every comparison and range on codes is this test or its complement.
func below[T narrowCode](dst []uint64, codes []T, lo T, k uint64) {
	for w := range dst {
		row := w * 64
		if len(codes)-row < 64 {
			dst[w] = belowTail(codes[row:], lo, k)
			return
		}
		var m uint64
		group := codes[row : row+64 : row+64]
		for j := 0; j < 64; j += 8 {
			// Both sides are below 2^33, so the difference's top bit is the borrow.
			c := (*[8]T)(group[j : j+8])
			m |= ((uint64(c[0]-lo)-k)>>63 |
				(uint64(c[1]-lo)-k)>>62&2 |
				(uint64(c[2]-lo)-k)>>61&4 |
				(uint64(c[3]-lo)-k)>>60&8 |
				(uint64(c[4]-lo)-k)>>59&16 |
				(uint64(c[5]-lo)-k)>>58&32 |
				(uint64(c[6]-lo)-k)>>57&64 |
				(uint64(c[7]-lo)-k)>>56&128) << uint(j&63)
		}
		dst[w] = m
	}
}

// below64 is below for codes of 64 bits.
func below64(dst []uint64, codes []uint64, lo, k uint64) {
	for w := range dst {
		group := codes[w*64 : min(len(codes), w*64+64)]
		dst[w] = belowTail(group, lo, k)
	}
}

func belowTail[T anyCode](codes []T, lo T, k uint64) uint64 {
	var m uint64
	for j, c := range codes {
		_, borrow := bits.Sub64(uint64(c-lo), k, 0)
		m |= borrow << uint(j&63)
	}
	return m
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

// sumSelected adds the selected codes; at most 2^32 of them.
func sumSelected[T narrowCode](codes []T, sel []uint64) (sum uint64) {
	for w, m := range sel {
		group := codes[w*64 : min(len(codes), w*64+64)]
		switch {
		case m == 0:
		case m == ^uint64(0):
			for _, c := range group {
				sum += uint64(c)
			}
		case bits.OnesCount64(m) > 12:
			for j, c := range group {
				sum += uint64(c) & -(m >> uint(j&63) & 1)
			}
		default:
			for ; m != 0; m &= m - 1 {
				sum += uint64(group[bits.TrailingZeros64(m)])
			}
		}
	}
	return sum
}

// sumSelected64 adds the selected codes of 64 bits into 128.
func sumSelected64(codes []uint64, sel []uint64) (hi, lo uint64) {
	for w, m := range sel {
		var c uint64
		for j, v := range codes[w*64 : min(len(codes), w*64+64)] {
			lo, c = bits.Add64(lo, v&-(m>>uint(j&63)&1), 0)
			hi += c
		}
	}
	return hi, lo
}

// extremes widens lo and hi to hold the selected codes.
func extremes[T anyCode](codes []T, sel []uint64, lo, hi T) (T, T) {
	for w, m := range sel {
		group := codes[w*64 : min(len(codes), w*64+64)]
		switch {
		case m == 0:
		case m == ^uint64(0):
			for _, c := range group {
				lo, hi = min(lo, c), max(hi, c)
			}
		default:
			for ; m != 0; m &= m - 1 {
				c := group[bits.TrailingZeros64(m)]
				lo, hi = min(lo, c), max(hi, c)
			}
		}
	}
	return lo, hi
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
func addFloats[T anyCode](s *FloatSum, codes []T, sel []uint64, base uint64, single bool) {
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
