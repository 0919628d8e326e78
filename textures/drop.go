package textures

import (
	"maps"
	"slices"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/table"
)

// Drop frees what is resident of segments: their next use uploads them again.
func (s *Store) Drop(segments ...*table.Segment) {
	dropped := map[*table.Segment]bool{}
	for _, seg := range segments {
		dropped[seg] = true
	}
	for _, e := range slices.Collect(maps.Keys(s.entries)) {
		if slices.ContainsFunc(e.segments, func(seg *table.Segment) bool { return dropped[seg] }) {
			e.free()
		}
	}
}

// Copy has the device copy the contents of one block to another of the same size,
// both made resident first; it does not wait.
func (s *Store) Copy(to, from Block) error {
	a, err := s.block(from)
	if err != nil {
		return err
	}
	b, err := s.block(to)
	if err != nil {
		return err
	}
	gl.CopyNamedBufferSubData(a.buffer, b.buffer, 0, 0, int(min(a.bytes, b.bytes)))
	return s.ctx.Check("textures: copy " + from.describe(s.fields))
}
