package compute

import (
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// floatPartial is where the exact sum of a chunk's REALs or DOUBLEs will lie: the
// first words of a scratch block, and how to merge them into a sum once they have
// been read back.
type floatPartial struct {
	block textures.Block
	words int
	add   func(words []uint32, into *plan.FloatSum)
}
