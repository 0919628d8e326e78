package textures

import (
	"cmp"
	"slices"

	"github.com/stencildb/stencildb/table"
)

// reserve makes room for n bytes of a chunk (nil: working memory), by evicting what the current pass does not
// use and no scope holds. What this scope has not used since it was entered goes first, least recently used
// first. After that its own columns go, those of other chunks before those of this one, and the most recently
// used first. A query goes over its chunks and columns again and again in the same order. Evicting the least
// recently used would evict each just before it is needed. Among equals what is made alike goes first, and its
// memory is handed on: making buffers and textures costs as much as filling them.
func (s *Store) reserve(what string, chunk *table.Chunk, o *object) (alike *object, err error) {
	n := o.bytes
	if s.used+n <= s.budget {
		return nil, nil
	}
	var victims []*object
	free := s.budget - s.used
	for o := range s.entries {
		if !o.held && o.used <= s.pass {
			victims = append(victims, o)
			free += o.bytes
		}
	}
	if n > free {
		return nil, &BudgetError{What: what, Need: n, Free: max(0, free), Budget: s.budget}
	}
	rank := func(o *object) int {
		switch {
		case o.used <= s.scope.entered:
			return 0
		case !o.of(chunk):
			return 1
		}
		return 2
	}
	other := func(v *object) int {
		if o.made != (shape{}) && v.made == o.made {
			return 0
		}
		return 1
	}
	slices.SortFunc(victims, func(a, b *object) int {
		if c := cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(other(a), other(b))); c != 0 {
			return c
		}
		if rank(a) == 0 {
			return cmp.Compare(a.used, b.used)
		}
		return cmp.Compare(b.used, a.used)
	})
	for _, v := range victims {
		if s.used+n <= s.budget {
			break
		}
		if alike == nil && other(v) == 0 {
			alike = &object{buffer: v.buffer, texture: v.texture, address: v.address}
			v.buffer, v.texture = 0, 0
		}
		s.free(v)
	}
	return alike, nil
}

// shape is what buffers and textures of columns that are made alike have in common: the bytes, or the format and the texels.
type shape struct {
	bytes         int64
	internal      uint32
	width, height int
}
