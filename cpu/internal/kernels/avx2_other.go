//go:build !amd64

package kernels

import "unsafe"

const hasAVX2 = false

// Nothing calls these without AVX2.

func avx2Select(int, []uint64, []uint64, unsafe.Pointer, Range)  {}
func avx2Sum(int, []uint64, unsafe.Pointer) (hi, lo uint64)      { return }
func avx2Extremes(int, []uint64, unsafe.Pointer) (lo, hi uint64) { return }
func avx2MultiplyAdd32(int, []uint32, unsafe.Pointer, uint32)    {}
func avx2MultiplyAdd64(int, []uint64, unsafe.Pointer, uint64)    {}
