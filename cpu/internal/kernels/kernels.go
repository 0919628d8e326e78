package kernels

import (
	"fmt"
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

// Width is the size of the codes in bits.
func Width(c table.Codes) int {
	switch {
	case c.U8 != nil:
		return 8
	case c.U16 != nil:
		return 16
	case c.U32 != nil:
		return 32
	}
	return 64
}

// Part is the codes of n rows from row on.
func Part(c table.Codes, row, n int) table.Codes {
	switch {
	case c.U8 != nil:
		return table.Codes{U8: c.U8[row : row+n]}
	case c.U16 != nil:
		return table.Codes{U16: c.U16[row : row+n]}
	case c.U32 != nil:
		return table.Codes{U32: c.U32[row : row+n]}
	}
	return table.Codes{U64: c.U64[row : row+n]}
}

// code is one of the widths of [table.Codes].
type code interface {
	uint8 | uint16 | uint32 | uint64
}

// Select writes to dst the rows of among whose codes are in r. dst and among may be
// one.
func (s Set) Select(dst, among []uint64, c table.Codes, r Range) {
	switch {
	case c.U8 != nil:
		selectRange(s, dst, among, c.U8, r)
	case c.U16 != nil:
		selectRange(s, dst, among, c.U16, r)
	case c.U32 != nil:
		selectRange(s, dst, among, c.U32, r)
	default:
		selectRange(s, dst, among, c.U64, r)
	}
}

func selectRange[T code](s Set, dst, among []uint64, codes []T, r Range) {
	w := 0
	if s == AVX2 {
		w = len(codes) / 64
		avx2Select(dst[:w], among, codes, T(r.Lo), T(r.Top))
	}
	portableSelect(dst[w:], among[w:], codes[w*64:], T(r.Lo), T(r.Top))
}

// Count returns how many codes are in r.
func (s Set) Count(c table.Codes, r Range) uint64 {
	switch {
	case c.U8 != nil:
		return countRange(s, c.U8, r)
	case c.U16 != nil:
		return countRange(s, c.U16, r)
	case c.U32 != nil:
		return countRange(s, c.U32, r)
	}
	return countRange(s, c.U64, r)
}

func countRange[T code](s Set, codes []T, r Range) uint64 {
	w, n := 0, uint64(0)
	if s == AVX2 {
		w = len(codes) / 64
		n = avx2Count(codes, w, T(r.Lo), T(r.Top))
	}
	return n + portableCount(codes[w*64:], T(r.Lo), T(r.Top))
}

// CountAmong returns how many rows of a selection have codes in r.
func (s Set) CountAmong(among []uint64, c table.Codes, r Range) uint64 {
	switch {
	case c.U8 != nil:
		return countAmongRange(s, among, c.U8, r)
	case c.U16 != nil:
		return countAmongRange(s, among, c.U16, r)
	case c.U32 != nil:
		return countAmongRange(s, among, c.U32, r)
	}
	return countAmongRange(s, among, c.U64, r)
}

func countAmongRange[T code](s Set, among []uint64, codes []T, r Range) uint64 {
	w, n := 0, uint64(0)
	if s == AVX2 {
		w = len(codes) / 64
		n = avx2CountAmong(among[:w], codes, T(r.Lo), T(r.Top))
	}
	return n + portableCountAmong(among[w:], codes[w*64:], T(r.Lo), T(r.Top))
}

// Sum returns the sum of the selected codes, of up to 2^32 rows, as hi * 2^64 + lo.
func (s Set) Sum(c table.Codes, sel []uint64) (hi, lo uint64) {
	switch {
	case c.U8 != nil:
		return sumSelected(s, c.U8, sel)
	case c.U16 != nil:
		return sumSelected(s, c.U16, sel)
	case c.U32 != nil:
		return sumSelected(s, c.U32, sel)
	}
	return sumSelected(s, c.U64, sel)
}

func sumSelected[T code](s Set, codes []T, sel []uint64) (hi, lo uint64) {
	w := 0
	if s == AVX2 {
		w = len(codes) / 64
		hi, lo = avx2Sum(codes, sel[:w])
	}
	restHi, restLo := portableSum(codes[w*64:], sel[w:])
	lo, carry := bits.Add64(lo, restLo, 0)
	hi, _ = bits.Add64(hi, restHi, carry)
	return hi, lo
}

// Extremes returns the smallest and the largest of the selected codes, of which
// there must be one.
func (s Set) Extremes(c table.Codes, sel []uint64) (lo, hi uint64) {
	switch {
	case c.U8 != nil:
		return extremes(s, c.U8, sel)
	case c.U16 != nil:
		return extremes(s, c.U16, sel)
	case c.U32 != nil:
		return extremes(s, c.U32, sel)
	}
	return extremes(s, c.U64, sel)
}

func extremes[T code](s Set, codes []T, sel []uint64) (uint64, uint64) {
	w, lo, hi := 0, ^T(0), T(0)
	if s == AVX2 {
		w = len(codes) / 64
		lo, hi = avx2Extremes(codes, sel[:w])
	}
	lo, hi = portableExtremes(codes[w*64:], sel[w:], lo, hi)
	return uint64(lo), uint64(hi)
}

// MultiplyAdd32 adds coef times each code to acc, modulo 2^32. The codes have at
// most 32 bits.
func (s Set) MultiplyAdd32(acc []uint32, c table.Codes, coef uint32) {
	switch {
	case c.U8 != nil:
		multiplyAdd(s, acc, c.U8, coef)
	case c.U16 != nil:
		multiplyAdd(s, acc, c.U16, coef)
	case c.U32 != nil:
		multiplyAdd(s, acc, c.U32, coef)
	default:
		panic(fmt.Sprintf("kernels: codes of %d bits into sums of 32", Width(c)))
	}
}

// MultiplyAdd64 adds coef times each code to acc, modulo 2^64.
func (s Set) MultiplyAdd64(acc []uint64, c table.Codes, coef uint64) {
	switch {
	case c.U8 != nil:
		multiplyAdd(s, acc, c.U8, coef)
	case c.U16 != nil:
		multiplyAdd(s, acc, c.U16, coef)
	case c.U32 != nil:
		multiplyAdd(s, acc, c.U32, coef)
	default:
		multiplyAdd(s, acc, c.U64, coef)
	}
}

func multiplyAdd[A uint32 | uint64, T code](s Set, acc []A, codes []T, coef A) {
	w := 0
	if s == AVX2 {
		w = len(codes) / 64
		avx2MultiplyAdd(acc, codes, w, coef)
	}
	portableMultiplyAdd(acc[w*64:], codes[w*64:], coef)
}
