package kernels

import "golang.org/x/sys/cpu"

// Sets lists the implementations that this machine runs.
func Sets() []Set {
	if cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT {
		return []Set{Portable, AVX2}
	}
	return []Set{Portable}
}

// The kernels in avx2_amd64.s. Codes of 64 bits compare there as signed numbers, for which
// the bias keeps the order. Codes of 16 bits are added as low and as high bytes, those of
// 64 bits as halves.
var (
	avx2of8  = &vectors[uint8]{select8, 0, sum8, 0, extremes8, multiplyAdd32x8, multiplyAdd64x8}
	avx2of16 = &vectors[uint16]{select16, 0, sum16, 8, extremes16, multiplyAdd32x16, multiplyAdd64x16}
	avx2of32 = &vectors[uint32]{select32, 0, sum32, 0, extremes32, multiplyAdd32x32, multiplyAdd64x32}
	avx2of64 = &vectors[uint64]{select64, 1 << 63, sum64, 32, extremes64, nil, multiplyAdd64x64}
)
