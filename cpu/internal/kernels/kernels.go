package kernels

import (
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Set is an implementation of the kernels.
type Set uint8

// The implementations, the faster the later.
const (
	Portable Set = iota
	AVX2         // x86-64 with AVX2 and POPCNT
)

// Best is the fastest implementation that this machine runs.
func Best() Set { return slices.Max(Sets()) }

func (s Set) String() string { return [...]string{"portable", "avx2"}[s] }

// Range is a set of codes: those with code - Lo <= Top, unsigned and wrapping in
// their width. So it may go past the largest code and on from 0.
type Range struct{ Lo, Top uint64 }

// Where returns the codes of that many bits (8, 16, 32, 64) that are in relation op
// to k. ok is false when there are none.
func Where(op expr.CmpOp, k uint64, width int) (r Range, ok bool) {
	last := ^uint64(0) >> (64 - width)
	switch op {
	case expr.LT:
		return Range{0, min(k-1, last)}, k > 0
	case expr.LE:
		return Range{0, min(k, last)}, true
	case expr.GT:
		return Range{k + 1, last - (k + 1)}, k < last
	case expr.GE:
		return Range{k, last - k}, k <= last
	case expr.EQ:
		return Range{k, 0}, k <= last
	}
	if k > last {
		return Range{0, last}, true
	}
	return Range{(k + 1) & last, last - 1}, true
}

// Between returns the codes of that many bits from lo to hi, lo <= hi. ok is false
// when there are none.
func Between(lo, hi uint64, width int) (r Range, ok bool) {
	last := ^uint64(0) >> (64 - width)
	return Range{lo, min(hi, last) - lo}, lo <= last
}

// Codes are the codes of a chunk's rows with the loops over them, which begin at any row
// and take 64 rows for each word of a selection.
type Codes interface {
	// Width is the size of a code in bits.
	Width() int
	// Select writes to dst the rows of among whose codes are in r. dst and among may
	// be one.
	Select(dst, among []uint64, row int, r Range)
	// Members writes to dst the rows whose codes are set in a bitmap.
	Members(dst []uint64, row int, codes []uint64)
	// Sum returns the sum of the selected codes, of up to 2^32 rows, as hi * 2^64 + lo.
	Sum(sel []uint64, row int) (hi, lo uint64)
	// Extremes returns the smallest and the largest of the selected codes, of which
	// there must be one.
	Extremes(sel []uint64, row int) (lo, hi uint64)
	// Gather appends the selected codes.
	Gather(out, sel []uint64, row int) []uint64
	// Load writes code + offset of each row of dst.
	Load(dst []int64, row int, offset int64)
	// MultiplyAdd32 adds coef times each code to acc, modulo 2^32.
	MultiplyAdd32(acc []uint32, row int, coef uint32)
	// MultiplyAdd64 adds coef times each code to acc, modulo 2^64.
	MultiplyAdd64(acc []uint64, row int, coef uint64)
}

// Of returns codes with the kernels of a set.
func (s Set) Of(c table.Codes) Codes {
	switch {
	case c.U8 != nil:
		return newColumn(s, c.U8, avx2of8)
	case c.U16 != nil:
		return newColumn(s, c.U16, avx2of16)
	case c.U32 != nil:
		return newColumn(s, c.U32, avx2of32)
	}
	return newColumn(s, c.U64, avx2of64)
}

// code is one of the widths of [table.Codes].
type code interface {
	uint8 | uint16 | uint32 | uint64
}

// column implements [Codes]: its vector kernels take the words of which all 64 rows are
// there, the portable ones the rest.
type column[T code] struct {
	codes []T
	simd  *vectors[T] // nil for none
}

// vectors are the vector kernels for a width of codes.
type vectors[T code] struct {
	// selects writes the rows of among for which code + add <= top, wrapping: add and
	// top have bias added.
	selects func(dst, among []uint64, codes []T, add, top T)
	bias    T
	// sum adds up the selected codes in eight lanes, without overflow up to 2^32 rows. The
	// last four lanes count 2^high each.
	sum  func(codes []T, sel []uint64, lanes *[8]uint64)
	high uint
	// extremes writes the smallest and the largest selected codes of each lane of 32
	// bytes: the largest number and 0 where a lane has none.
	extremes func(codes []T, sel []uint64, lo, hi *T)
	// The others add coef times each code of so many words to acc, wrapping.
	multiplyAdd32 func(acc []uint32, codes []T, words int, coef uint32)
	multiplyAdd64 func(acc []uint64, codes []T, words int, coef uint64)
}

func newColumn[T code](s Set, codes []T, simd *vectors[T]) Codes {
	if s == Portable {
		simd = nil
	}
	return &column[T]{codes, simd}
}

func (c *column[T]) Width() int { return bits.Len64(uint64(^T(0))) }

// split parts the codes from row on: those of whole words, for vectors, and the rest.
func (c *column[T]) split(words, row int) (codes, rest []T, whole int) {
	codes = c.codes[row:]
	if c.simd != nil {
		whole = min(words, len(codes)/64)
	}
	return codes, codes[whole*64:], whole
}

func (c *column[T]) Select(dst, among []uint64, row int, r Range) {
	codes, rest, w := c.split(len(dst), row)
	if w > 0 {
		c.simd.selects(dst[:w], among, codes, c.simd.bias-T(r.Lo), T(r.Top)^c.simd.bias)
	}
	selectRange(dst[w:], among[w:], rest, T(r.Lo), T(r.Top))
}

func (c *column[T]) Sum(sel []uint64, row int) (hi, lo uint64) {
	codes, rest, w := c.split(len(sel), row)
	hi, lo = sum(rest, sel[w:])
	if w > 0 {
		var n [8]uint64
		c.simd.sum(codes, sel[:w], &n)
		high := n[4] + n[5] + n[6] + n[7]
		var carry, more uint64
		lo, carry = bits.Add64(lo, n[0]+n[1]+n[2]+n[3], 0)
		lo, more = bits.Add64(lo, high<<c.simd.high, 0)
		hi += high>>(64-c.simd.high) + carry + more
	}
	return hi, lo
}

func (c *column[T]) Extremes(sel []uint64, row int) (uint64, uint64) {
	codes, rest, w := c.split(len(sel), row)
	lo, hi := ^T(0), T(0)
	if w > 0 {
		var least, most [32]T
		lanes := 256 / c.Width()
		c.simd.extremes(codes, sel[:w], &least[0], &most[0])
		lo, hi = slices.Min(least[:lanes]), slices.Max(most[:lanes])
	}
	lo, hi = extremes(rest, sel[w:], lo, hi)
	return uint64(lo), uint64(hi)
}

func (c *column[T]) MultiplyAdd32(acc []uint32, row int, coef uint32) {
	codes, rest, w := c.split(len(acc)/64, row)
	if w > 0 && c.simd.multiplyAdd32 != nil {
		c.simd.multiplyAdd32(acc, codes, w, coef)
		acc, codes = acc[w*64:], rest
	}
	multiplyAdd(acc, codes, coef)
}

func (c *column[T]) MultiplyAdd64(acc []uint64, row int, coef uint64) {
	codes, rest, w := c.split(len(acc)/64, row)
	if w > 0 {
		c.simd.multiplyAdd64(acc, codes, w, coef)
	}
	multiplyAdd(acc[w*64:], rest, coef)
}
