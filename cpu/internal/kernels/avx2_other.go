//go:build !amd64

package kernels

// Sets lists the implementations that this machine runs.
func Sets() []Set { return []Set{Portable} }

// The AVX2 kernels of other machines do nothing, for their Set is not in [Sets].

func avx2Select[T code](_, _ []uint64, _ []T, _, _ T) {}

func avx2Count[T code](_ []T, _ int, _, _ T) uint64 { return 0 }

func avx2CountAmong[T code](_ []uint64, _ []T, _, _ T) uint64 { return 0 }

func avx2Sum[T code](_ []T, _ []uint64) (hi, lo uint64) { return 0, 0 }

func avx2Extremes[T code](_ []T, _ []uint64) (T, T) { return ^T(0), 0 }

func avx2MultiplyAdd[A uint32 | uint64, T code](_ []A, _ []T, _ int, _ A) {}
