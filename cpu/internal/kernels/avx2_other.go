//go:build !amd64

package kernels

// Sets lists the implementations that this machine runs.
func Sets() []Set { return []Set{Portable} }

var (
	avx2of8  *vectors[uint8]
	avx2of16 *vectors[uint16]
	avx2of32 *vectors[uint32]
	avx2of64 *vectors[uint64]
)
