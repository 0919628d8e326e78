package kernels

import "math/bits"

// The loops in Go: for other machines, for the rows that do not fill a word, and
// what the others are tested against. Each is written once for all widths (the
// compiler makes a copy for each).

// group is the codes of a word's rows.
func group[T code](codes []T, word int) []T { return codes[word*64 : min(len(codes), word*64+64)] }

func selectRange[T code](dst, among []uint64, codes []T, lo, top T) {
	for w := range dst {
		m := among[w]
		if m != 0 {
			m &= inRange(group(codes, w), lo, top)
		}
		dst[w] = m
	}
}

// inRange returns the bits of up to 64 codes.
func inRange[T code](codes []T, lo, top T) (m uint64) {
	if len(codes) < 64 || isWide[T]() {
		for j, c := range codes {
			_, above := bits.Sub64(uint64(top), uint64(c-lo), 0)
			m |= (above ^ 1) << uint(j&63)
		}
		return m
	}
	k := uint64(top) + 1
	for j := 0; j < 64; j += 8 {
		// Both sides are at most 2^32, so the difference's top bit is the borrow.
		c := (*[8]T)(codes[j : j+8])
		m |= ((uint64(c[0]-lo)-k)>>63 |
			(uint64(c[1]-lo)-k)>>62&2 |
			(uint64(c[2]-lo)-k)>>61&4 |
			(uint64(c[3]-lo)-k)>>60&8 |
			(uint64(c[4]-lo)-k)>>59&16 |
			(uint64(c[5]-lo)-k)>>58&32 |
			(uint64(c[6]-lo)-k)>>57&64 |
			(uint64(c[7]-lo)-k)>>56&128) << uint(j&63)
	}
	return m
}

// isWide reports codes of 64 bits.
func isWide[T code]() bool { return uint64(^T(0)) == ^uint64(0) }

func (c *column[T]) Members(dst []uint64, row int, members []uint64) {
	for w := range dst {
		var m uint64
		for j, code := range group(c.codes[row:], w) {
			m |= (members[code>>6] >> (code & 63) & 1) << uint(j&63)
		}
		dst[w] = m
	}
}

func sum[T code](codes []T, sel []uint64) (hi, lo uint64) {
	if isWide[T]() {
		return sumWide(codes, sel)
	}
	for w, m := range sel {
		switch {
		case m == 0:
		case m == ^uint64(0):
			for _, c := range group(codes, w) {
				lo += uint64(c)
			}
		case bits.OnesCount64(m) > 12:
			for j, c := range group(codes, w) {
				lo += uint64(c) & -(m >> uint(j&63) & 1)
			}
		default:
			for g := group(codes, w); m != 0; m &= m - 1 {
				lo += uint64(g[bits.TrailingZeros64(m)])
			}
		}
	}
	return 0, lo
}

// sumWide adds codes of 64 bits into 128.
func sumWide[T code](codes []T, sel []uint64) (hi, lo uint64) {
	for w, m := range sel {
		var carry uint64
		for j, c := range group(codes, w) {
			lo, carry = bits.Add64(lo, uint64(c)&-(m>>uint(j&63)&1), 0)
			hi += carry
		}
	}
	return hi, lo
}

func extremes[T code](codes []T, sel []uint64, lo, hi T) (T, T) {
	for w, m := range sel {
		switch g := group(codes, w); m {
		case 0:
		case ^uint64(0):
			for _, c := range g {
				lo, hi = min(lo, c), max(hi, c)
			}
		default:
			for ; m != 0; m &= m - 1 {
				c := g[bits.TrailingZeros64(m)]
				lo, hi = min(lo, c), max(hi, c)
			}
		}
	}
	return lo, hi
}

func (c *column[T]) Gather(out, sel []uint64, row int) []uint64 {
	for w, m := range sel {
		for g := group(c.codes[row:], w); m != 0; m &= m - 1 {
			out = append(out, uint64(g[bits.TrailingZeros64(m)]))
		}
	}
	return out
}

func (c *column[T]) Load(dst []int64, row int, offset int64) {
	for i, code := range c.codes[row:][:len(dst)] {
		dst[i] = int64(code) + offset
	}
}

func multiplyAdd[A uint32 | uint64, T code](acc []A, codes []T, coef A) {
	for i, c := range codes[:len(acc)] {
		acc[i] += coef * A(c)
	}
}
