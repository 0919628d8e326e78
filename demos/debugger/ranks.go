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

// scale is how the codes of an attribute become places on a colour scale; without a
// chunk, numbers up to 2^24.
type scale struct {
	chunk  *table.Chunk
	col    int
	limb   int  // or whole
	linear bool // in proportion, not by rank
}

// top returns the largest number that the scale is for.
func (s scale) top() uint64 {
	switch {
	case s.chunk == nil:
		return 1 << textures.LimbBits
	case s.limb == whole:
		return s.chunk.Segments[s.col].Max
	}
	return textures.LimbMax(s.chunk.Segments[s.col].Max, s.limb)
}

func (s scale) nulls() bool { return s.chunk != nil && s.chunk.Segments[s.col].Nulls > 0 }

// places returns where numbers lie, 0 to 1: entry i of n is for the number
// i * top / (n-1), others lie between. By rank a number's place is the share of records
// with a smaller one, with the largest number at 1.
func (s scale) places() []float32 {
	top := s.top()
	if s.chunk == nil || s.linear || top == 0 {
		return []float32{0, 1}
	}
	seg, n := s.chunk.Segments[s.col], int(min(top, maxEntries-1))+1
	out := make([]float32, n)
	counts := make([]uint32, n)
	for row := 0; row < s.chunk.Rows; row += stride(s.chunk.Rows) {
		if seg.IsNull(row) {
			continue
		}
		v := seg.Codes.At(row)
		if s.limb != whole {
			v = textures.Limb(v, s.limb)
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
