package kernels

import (
	"math/bits"
	"slices"

	"golang.org/x/sys/cpu"
)

// Sets lists the implementations that this machine runs.
func Sets() []Set {
	if cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT {
		return []Set{Portable, AVX2}
	}
	return []Set{Portable}
}

// sign is the bit that turns 64-bit codes into signed numbers of the same order.
const sign = 1 << 63

// avx2Select handles the rows of len(dst) words.
func avx2Select[T code](dst, among []uint64, codes []T, lo, top T) {
	switch c := any(codes).(type) {
	case []uint8:
		select8(dst, among, c, -uint8(lo), uint8(top))
	case []uint16:
		select16(dst, among, c, -uint16(lo), uint16(top))
	case []uint32:
		select32(dst, among, c, -uint32(lo), uint32(top))
	case []uint64:
		select64(dst, among, c, sign-uint64(lo), uint64(top)^sign)
	}
}

// avx2Count handles the rows of that many words.
func avx2Count[T code](codes []T, words int, lo, top T) uint64 {
	switch c := any(codes).(type) {
	case []uint8:
		return count8(c, words, -uint8(lo), uint8(top))
	case []uint16:
		return count16(c, words, -uint16(lo), uint16(top))
	case []uint32:
		return count32(c, words, -uint32(lo), uint32(top))
	case []uint64:
		return count64(c, words, sign-uint64(lo), uint64(top)^sign)
	}
	return 0
}

// avx2CountAmong handles the rows of len(among) words.
func avx2CountAmong[T code](among []uint64, codes []T, lo, top T) uint64 {
	switch c := any(codes).(type) {
	case []uint8:
		return countAmong8(among, c, -uint8(lo), uint8(top))
	case []uint16:
		return countAmong16(among, c, -uint16(lo), uint16(top))
	case []uint32:
		return countAmong32(among, c, -uint32(lo), uint32(top))
	case []uint64:
		return countAmong64(among, c, sign-uint64(lo), uint64(top)^sign)
	}
	return 0
}

// avx2Sum handles the rows of len(sel) words.
func avx2Sum[T code](codes []T, sel []uint64) (hi, lo uint64) {
	var lanes [8]uint64
	var weight uint // of the last four lanes, as a power of two
	switch c := any(codes).(type) {
	case []uint8:
		sum8(c, sel, &lanes)
	case []uint16:
		sum16(c, sel, &lanes)
		weight = 8
	case []uint32:
		sum32(c, sel, &lanes)
	case []uint64:
		sum64(c, sel, &lanes)
		weight = 32
	}
	first := lanes[0] + lanes[1] + lanes[2] + lanes[3]
	last := lanes[4] + lanes[5] + lanes[6] + lanes[7]
	lo, carry := bits.Add64(first, last<<weight, 0)
	return last>>(64-weight) + carry, lo
}

// avx2Extremes handles the rows of len(sel) words.
func avx2Extremes[T code](codes []T, sel []uint64) (T, T) {
	switch c := any(codes).(type) {
	case []uint8:
		var lo, hi [32]uint8
		extremes8(c, sel, &lo, &hi)
		return T(slices.Min(lo[:])), T(slices.Max(hi[:]))
	case []uint16:
		var lo, hi [16]uint16
		extremes16(c, sel, &lo, &hi)
		return T(slices.Min(lo[:])), T(slices.Max(hi[:]))
	case []uint32:
		var lo, hi [8]uint32
		extremes32(c, sel, &lo, &hi)
		return T(slices.Min(lo[:])), T(slices.Max(hi[:]))
	case []uint64:
		var lo, hi [4]uint64
		extremes64(c, sel, &lo, &hi)
		return T(slices.Min(lo[:])), T(slices.Max(hi[:]))
	}
	return ^T(0), 0
}

// avx2MultiplyAdd handles the rows of that many words.
func avx2MultiplyAdd[A uint32 | uint64, T code](acc []A, codes []T, words int, coef A) {
	switch acc := any(acc).(type) {
	case []uint32:
		switch c := any(codes).(type) {
		case []uint8:
			multiplyAdd32x8(acc, c, words, uint32(coef))
		case []uint16:
			multiplyAdd32x16(acc, c, words, uint32(coef))
		case []uint32:
			multiplyAdd32x32(acc, c, words, uint32(coef))
		}
	case []uint64:
		switch c := any(codes).(type) {
		case []uint8:
			multiplyAdd64x8(acc, c, words, uint64(coef))
		case []uint16:
			multiplyAdd64x16(acc, c, words, uint64(coef))
		case []uint32:
			multiplyAdd64x32(acc, c, words, uint64(coef))
		case []uint64:
			multiplyAdd64x64(acc, c, words, uint64(coef))
		}
	}
}
