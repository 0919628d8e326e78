package textures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// Kind is what an object on the device holds, in words.
type Kind string

// The kinds of what is resident.
const (
	FloatTexture   Kind = "float texture"
	DepthTexture   Kind = "depth texture"
	BitPlanes      Kind = "bit planes"
	CodeBlock      Kind = "codes"
	ValidityPlane  Kind = "validity plane"
	IntegerTexture Kind = "integer texture"
	WorkingMemory  Kind = "working memory"
)

// Residency says that a segment is on the device in some form.
type Residency struct {
	Segment *table.Segment
	Kind    Kind
	Bytes   int64 // of all its parts; a packed texture's are shared out evenly
}

// Usage is what of a store's budget is taken, in bytes.
type Usage struct {
	Budget  int64 // the most there may be
	Used    int64 // of columns and working memory, at most Budget
	Working int64 // of Used: depth-stencil buffers, masks, lists, storage blocks of queries, in use or kept for the next query
}

// of reports whether the object is a chunk's, or working memory where there is none.
func (o *object) of(chunk *table.Chunk) bool {
	if chunk == nil || len(o.segments) == 0 {
		return chunk == nil && len(o.segments) == 0
	}
	return slices.Contains(chunk.Segments, o.segments[0])
}

// BudgetError says that something does not fit the byte budget; nothing was
// allocated.
type BudgetError struct {
	What   string
	Need   int64 // bytes
	Free   int64 // bytes that are free or can be freed
	Budget int64 // bytes
}

func (e *BudgetError) Error() string {
	todo := "raise --gpu-memory"
	if e.Need <= e.Budget {
		todo = "queries hold the rest; " + todo
	}
	return fmt.Sprintf("%s needs %s of GPU memory, but of the budget of %s only %s can be freed: %s",
		e.What, glctx.FormatSize(e.Need), glctx.FormatSize(e.Budget), glctx.FormatSize(e.Free), todo)
}

// reserve makes room for n bytes of a chunk (nil: working memory), by evicting
// what the current pass does not use and no scope holds. What this scope has not used since
// it was entered goes first, least recently used first. After that its own columns go, those of other chunks
// before those of this one, and the most recently used first: a query goes over
// its chunks and columns again and again in the same order, where evicting the
// least recently used would evict each just before it is needed. Among equals what is made alike goes first, and
// its memory is handed on: making buffers and textures costs as much as filling them.
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

// Fits reports whether blocks are resident, or can be made so without evicting anything.
func (s *Store) Fits(blocks []Block) bool {
	need := s.used
	for _, b := range blocks {
		if s.objects[b.key()] == nil {
			need += b.Bytes()
		}
	}
	return need <= s.budget
}

// Resident lists the segments that are on the device, those used last first: one
// Residency for each segment and kind.
func (s *Store) Resident() []Residency {
	type key struct {
		segment *table.Segment
		kind    Kind
	}
	var list []Residency
	place := map[key]int{}
	for _, o := range slices.SortedFunc(maps.Keys(s.entries), func(a, b *object) int { return cmp.Compare(b.used, a.used) }) {
		for _, seg := range o.segments {
			i, seen := place[key{seg, o.kind}]
			if !seen {
				i = len(list)
				place[key{seg, o.kind}] = i
				list = append(list, Residency{Segment: seg, Kind: o.kind})
			}
			list[i].Bytes += o.bytes / int64(len(o.segments))
		}
	}
	return list
}

// Usage returns what of the budget is taken.
func (s *Store) Usage() Usage {
	u := Usage{Budget: s.budget, Used: s.used}
	for o := range s.entries {
		if len(o.segments) == 0 {
			u.Working += o.bytes
		}
	}
	return u
}
