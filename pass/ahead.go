package pass

import (
	"slices"

	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Ahead makes resident what a pass will read of segments that are ready, as far as there is room
// for it: [textures.Store.Ahead].
func (g *GL) Ahead(p *Pass, ready func(*table.Segment) bool) error {
	reads := []textures.Readable{p.Target}
	for _, r := range p.Textures {
		reads = append(reads, r)
	}
	if d := p.Dispatch; d != nil {
		for _, b := range slices.Concat(d.Blocks, d.Addressed) {
			reads = append(reads, b)
		}
	}
	g.store.Begin()
	for _, r := range reads {
		if err := g.scope.cancel.Err(); err != nil {
			return err
		}
		if err := g.store.Ahead(r, ready); err != nil {
			return err
		}
	}
	return nil
}
