package textures

import (
	"cmp"
	"fmt"
	"slices"

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

// entry is one object on the device that counts against the budget; what owns an
// object embeds it.
type entry struct {
	kind     Kind
	segments []*table.Segment // none for working memory
	bytes    int64
	used     uint64 // the store's clock at the last use
	// held says that a scope has the entry: its contents exist nowhere else, so that it
	// stays.
	held bool
	free func() // deletes the object and forgets it
}

// of reports whether the entry is a chunk's, or working memory where there is none.
func (e *entry) of(chunk *table.Chunk) bool {
	if chunk == nil || len(e.segments) == 0 {
		return chunk == nil && len(e.segments) == 0
	}
	return slices.Contains(chunk.Segments, e.segments[0])
}

// keep counts a new entry, which free deletes.
func (s *Store) keep(e *entry, free func()) {
	e.free = free
	s.entries[e] = struct{}{}
	s.used += e.bytes
	s.touch(e)
}

// forget is the reverse of keep; what frees an entry calls it.
func (s *Store) forget(e *entry) {
	delete(s.entries, e)
	s.used -= e.bytes
}

// touch notes a use.
func (s *Store) touch(e *entry) {
	s.clock++
	e.used = s.clock
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
		e.What, size(e.Need), size(e.Budget), size(e.Free), todo)
}

func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// reserve makes room for n bytes of a chunk (nil: working memory), by evicting
// what the current pass does not use and no scope holds. What this scope has not used since
// it was entered goes first, least recently used first. After that its own columns go, those of other chunks
// before those of this one, and the most recently used first: a query goes over
// its chunks and columns again and again in the same order, where evicting the
// least recently used would evict each just before it is needed.
func (s *Store) reserve(what string, chunk *table.Chunk, n int64) error {
	if s.used+n <= s.budget {
		return nil
	}
	var victims []*entry
	free := s.budget - s.used
	for e := range s.entries {
		if !e.held && e.used <= s.pass {
			victims = append(victims, e)
			free += e.bytes
		}
	}
	if n > free {
		return &BudgetError{What: what, Need: n, Free: max(0, free), Budget: s.budget}
	}
	rank := func(e *entry) int {
		switch {
		case e.used <= s.scope.entered:
			return 0
		case !e.of(chunk):
			return 1
		}
		return 2
	}
	slices.SortFunc(victims, func(a, b *entry) int {
		if c := cmp.Compare(rank(a), rank(b)); c != 0 {
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
		v.free()
	}
	return nil
}

// Resident lists the segments that are on the device, those used last first: one
// Residency for each segment and kind.
func (s *Store) Resident() []Residency {
	type key struct {
		segment *table.Segment
		kind    Kind
	}
	type of struct {
		bytes int64
		last  uint64
		place int // among those of a packed texture
	}
	sum := map[key]of{}
	for e := range s.entries {
		for i, seg := range e.segments {
			k := key{seg, e.kind}
			x := sum[k]
			x.bytes += e.bytes / int64(len(e.segments))
			if e.used >= x.last {
				x.last, x.place = e.used, i
			}
			sum[k] = x
		}
	}
	list := make([]Residency, 0, len(sum))
	for k, x := range sum {
		list = append(list, Residency{k.segment, k.kind, x.bytes})
	}
	slices.SortFunc(list, func(a, b Residency) int {
		x, y := sum[key{a.Segment, a.Kind}], sum[key{b.Segment, b.Kind}]
		return cmp.Or(cmp.Compare(y.last, x.last), cmp.Compare(x.place, y.place))
	})
	return list
}

// Usage returns what of the budget is taken.
func (s *Store) Usage() Usage {
	u := Usage{Budget: s.budget, Used: s.used}
	for e := range s.entries {
		if len(e.segments) == 0 {
			u.Working += e.bytes
		}
	}
	return u
}
