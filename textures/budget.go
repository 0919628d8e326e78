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
