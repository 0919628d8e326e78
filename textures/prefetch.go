package textures

import (
	"slices"

	"github.com/stencildb/stencildb/table"
)

// Readable is what a pass reads: a [Block], a [Ref] or a [TargetRef].
type Readable interface {
	Bytes() int64
	key() key
	// uploads are the segments that it is uploaded from; none where it is not, or where one of
	// them has no such form.
	uploads() []*table.Segment
	reside(*Store) error
	// chunk is the chunk of its columns, over the same columns of another chunk. sending is how the upload
	// ring takes it, in slots of so many bytes, from a row on (of textures: a line).
	chunk() *table.Chunk
	over(*table.Chunk) Readable
	sending(slot, after int) sending
}

// Prefetch makes something resident before a pass needs it. It does so where the segments that it is uploaded
// from are ready, and there is room for it that nothing else takes.
func (s *Store) Prefetch(r Readable, ready func(*table.Segment) bool) error {
	list := r.uploads()
	if len(list) == 0 || slices.ContainsFunc(list, func(seg *table.Segment) bool { return !ready(seg) }) || s.used+r.Bytes() > s.budget {
		return nil
	}
	return r.reside(s)
}

// has reports whether a chunk has a column, which may be the mask of its deleted rows.
func has(c *table.Chunk, col int) bool { return col < len(c.Segments) && c.Segments[col] != nil }

func (b Block) uploads() []*table.Segment {
	if b.Chunk == nil || b.Plus != 0 || !has(b.Chunk, b.Col) {
		return nil
	}
	seg := b.Chunk.Segments[b.Col]
	if b.Window.Rows <= 0 || b.Part >= Parts(seg) || b.Content == Validity && seg.Nulls == 0 {
		return nil
	}
	return []*table.Segment{seg}
}

func (b Block) reside(s *Store) error { return s.Reside(b) }

func (r Ref) uploads() (list []*table.Segment) {
	if r.Chunk == nil {
		return nil
	}
	for _, c := range r.columns() {
		if !has(r.Chunk, c) {
			return nil
		}
		seg := r.Chunk.Segments[c]
		if r.Form == ValidBits && seg.Nulls == 0 || r.Form == HighWords && Parts(seg) < 2 {
			return nil
		}
		list = append(list, seg)
	}
	return list
}

func (r Ref) reside(s *Store) error {
	_, err := s.Texture(r)
	return err
}

func (t TargetRef) uploads() []*table.Segment {
	if t.Chunk == nil || !has(t.Chunk, t.Col) || !FitsDepth(t.Chunk.Segments[t.Col]) {
		return nil
	}
	return []*table.Segment{t.Chunk.Segments[t.Col]}
}

func (t TargetRef) reside(s *Store) error {
	_, err := s.Target(t)
	return err
}
