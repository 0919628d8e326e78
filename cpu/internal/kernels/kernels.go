package kernels

import (
	"math/bits"
	"slices"
	"unsafe"

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

// Sets lists the implementations that this machine runs.
func Sets() []Set {
	if hasAVX2 {
		return []Set{Portable, AVX2}
	}
	return []Set{Portable}
}

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

// Codes are the codes of a chunk's rows with the loops over them. A loop begins at any row and reads 64 rows
// for each word of a selection.
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
		return &column[uint8]{c.U8, s == AVX2}
	case c.U16 != nil:
		return &column[uint16]{c.U16, s == AVX2}
	case c.U32 != nil:
		return &column[uint32]{c.U32, s == AVX2}
	}
	return &column[uint64]{c.U64, s == AVX2}
}

// code is one of the widths of [table.Codes].
type code interface {
	uint8 | uint16 | uint32 | uint64
}

// column implements [Codes]: its vector kernels take the words of which all 64 rows are
// there, the portable ones the rest.
type column[T code] struct {
	codes []T
	avx2  bool
}

func (c *column[T]) Width() int { return bits.Len64(uint64(^T(0))) }

// split parts so many words of codes from row on: those of whole words, for vectors, and
// the rest.
func (c *column[T]) split(words, row int) (codes unsafe.Pointer, whole int, rest []T) {
	rest = c.codes[row:]
	if whole = min(words, len(rest)/64); !c.avx2 || whole == 0 {
		return nil, 0, rest
	}
	return unsafe.Pointer(&rest[0]), whole, rest[whole*64:]
}

func (c *column[T]) Select(dst, among []uint64, row int, r Range) {
	codes, w, rest := c.split(len(dst), row)
	if w > 0 {
		avx2Select(c.Width(), dst[:w], among, codes, r)
	}
	selectRange(dst[w:], among[w:], rest, T(r.Lo), T(r.Top))
}

func (c *column[T]) Sum(sel []uint64, row int) (hi, lo uint64) {
	codes, w, rest := c.split(len(sel), row)
	hi, lo = sum(rest, sel[w:])
	if w > 0 {
		h, l := avx2Sum(c.Width(), sel[:w], codes)
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	return hi, lo
}

func (c *column[T]) Extremes(sel []uint64, row int) (uint64, uint64) {
	codes, w, rest := c.split(len(sel), row)
	lo, hi := uint64(^T(0)), uint64(0)
	if w > 0 {
		lo, hi = avx2Extremes(c.Width(), sel[:w], codes)
	}
	least, most := extremes(rest, sel[w:], T(lo), T(hi))
	return uint64(least), uint64(most)
}

func (c *column[T]) MultiplyAdd32(acc []uint32, row int, coef uint32) {
	codes, w, rest := c.split(len(acc)/64, row)
	if w > 0 {
		avx2MultiplyAdd32(c.Width(), acc[:w*64], codes, coef)
	}
	multiplyAdd(acc[w*64:], rest, coef)
}

func (c *column[T]) MultiplyAdd64(acc []uint64, row int, coef uint64) {
	codes, w, rest := c.split(len(acc)/64, row)
	if w > 0 {
		avx2MultiplyAdd64(c.Width(), acc[:w*64], codes, coef)
	}
	multiplyAdd(acc[w*64:], rest, coef)
}
