package predicates

import (
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// Copy is what a CopyToDepth has left in the depth buffer: a limb of an attribute's
// codes, to which CopyShifted has added Offset before.
type Copy struct {
	Col, Limb int
	Shifted   bool
	Offset    uint64
}

// Copied returns what a pass copies to depth, for those who look at passes; false where
// that is no attribute.
func Copied(p *pass.Pass) (c Copy, ok bool) {
	if p.Program.Name != "copy.frag" || p.Textures[0].Chunk == nil {
		return c, false
	}
	c.Col = p.Textures[0].Cols[0]
	defined := func(what string) bool { return strings.Contains(p.Program.Text, "#define "+what+"\n") }
	for _, u := range p.Uniforms {
		if u.Name == "offset" {
			c.Shifted = true
			for i, limb := range u.U {
				c.Offset |= uint64(limb) << (i * textures.LimbBits)
			}
		}
	}
	switch {
	case p.Textures[0].High, defined("LIMB 2"):
		c.Limb = 2
	case defined("CHANNEL g"), defined("LIMB 1"):
		c.Limb = 1
	}
	return c, true
}
