package kernels

/*
#cgo CFLAGS: -O3
#cgo noescape avx2_select
#cgo nocallback avx2_select
#cgo noescape avx2_sum
#cgo nocallback avx2_sum
#cgo noescape avx2_extremes
#cgo nocallback avx2_extremes
#cgo noescape avx2_multiply_add32
#cgo nocallback avx2_multiply_add32
#cgo noescape avx2_multiply_add64
#cgo nocallback avx2_multiply_add64
#include "avx2_amd64.h"
*/
import "C"

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// The kernels in avx2_amd64.c, for the codes of whole words, at least one.

func avx2Select(width int, dst, among []uint64, codes unsafe.Pointer, r Range) {
	C.avx2_select(C.int(width), words(dst), words(among), C.int64_t(len(dst)), codes, C.uint64_t(r.Lo), C.uint64_t(r.Top))
}

func avx2Sum(width int, sel []uint64, codes unsafe.Pointer) (hi, lo uint64) {
	var sum [2]uint64
	C.avx2_sum(C.int(width), words(sel), C.int64_t(len(sel)), codes, words(sum[:]))
	return sum[1], sum[0]
}

func avx2Extremes(width int, sel []uint64, codes unsafe.Pointer) (lo, hi uint64) {
	var ends [2]uint64
	C.avx2_extremes(C.int(width), words(sel), C.int64_t(len(sel)), codes, words(ends[:]))
	return ends[0], ends[1]
}

func avx2MultiplyAdd32(width int, acc []uint32, codes unsafe.Pointer, coef uint32) {
	C.avx2_multiply_add32(C.int(width), (*C.uint32_t)(&acc[0]), C.int64_t(len(acc)), codes, C.uint32_t(coef))
}

func avx2MultiplyAdd64(width int, acc []uint64, codes unsafe.Pointer, coef uint64) {
	C.avx2_multiply_add64(C.int(width), words(acc), C.int64_t(len(acc)), codes, C.uint64_t(coef))
}

func words(b []uint64) *C.uint64_t { return (*C.uint64_t)(&b[0]) }
