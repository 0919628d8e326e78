package pass

import (
	"slices"

	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Touches lists what a pass reads and writes on the device; zero values stand for nothing.
func (p *Pass) Touches() (list []textures.Readable) {
	if p.Target.Shape.Rows > 0 {
		list = append(list, p.Target)
	}
	if p.Color != nil {
		list = append(list, textures.Ref{Temp: p.Color})
	}
	for _, r := range p.Textures {
		list = append(list, r)
	}
	if d := p.Dispatch; d != nil {
		for _, b := range slices.Concat(d.Blocks, d.Addressed) {
			list = append(list, b)
		}
	}
	return list
}

// Prefetch makes resident what a pass will read of segments that are ready, as far as there is room
// for it: [textures.Store.Prefetch].
func (g *GL) Prefetch(p *Pass, ready func(*table.Segment) bool) error {
	g.store.Begin()
	for _, r := range p.Touches() {
		if err := g.scope.cancel.Err(); err != nil {
			return err
		}
		if err := g.store.Prefetch(r, ready); err != nil {
			return err
		}
	}
	return nil
}
