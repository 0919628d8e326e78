package debugger

import (
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

const (
	maxSample  = 1 << 20 // records of a chunk that ranks and number lines are made of
	maxEntries = 4096    // of a table of ranks
)

// whole stands for all limbs of a code.
const whole = -1

// scaleKey names what a scale is of.
type scaleKey struct {
	chunk *table.Chunk
	col   int
	limb  int // or whole
}

// top returns the largest number that the scale is for.
func (k scaleKey) top() uint64 {
	seg := k.chunk.Segments[k.col]
	if k.limb == whole {
		return seg.Max
	}
	return textures.LimbMax(seg.Max, k.limb)
}

// ranks returns where numbers lie by rank, 0 to 1: entry i of n is for the number
// i * top / (n-1), others lie between. A number's place is the share of records
// with a smaller one, with the largest number at 1.
func (k scaleKey) ranks() []float32 {
	seg, top := k.chunk.Segments[k.col], k.top()
	if top == 0 {
		return []float32{0, 1}
	}
	n := int(min(top, maxEntries-1)) + 1
	out := make([]float32, n)
	counts := make([]uint32, n)
	for row := 0; row < k.chunk.Rows; row += stride(k.chunk.Rows) {
		if seg.IsNull(row) {
			continue
		}
		v := seg.Codes.At(row)
		if k.limb != whole {
			v = textures.Limb(v, k.limb)
		}
		counts[int(float64(v)/float64(top)*float64(n-1))]++
	}
	below := uint32(0)
	for i, c := range counts {
		out[i] = float32(below)
		below += c
	}
	if most := out[n-1]; most > 0 {
		for i := range out {
			out[i] /= most
		}
	}
	out[n-1] = 1
	return out
}

// stride is how far the sampled records of a chunk are apart.
func stride(rows int) int { return (rows + maxSample - 1) / maxSample }
