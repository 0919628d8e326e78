package physical

import (
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Part is the query over some chunks of its table, for one of several devices whose
// selections [partial.Merge] joins. Runs of the values of a part of the rows say too little to be merged.
func (q *Query) Part(chunks []int) *Query {
	p := &Query{Where: q.Where, Aggs: q.Aggs, Columns: q.Columns, ValuesOnly: q.ValuesOnly, Groups: q.Groups, Star: q.Star, Order: q.Order, KeyOnly: q.KeyOnly && len(chunks) == len(q.Chunks), chunkIDs: []int{}}
	var list []*table.Chunk
	for _, i := range chunks {
		list = append(list, q.Table.Chunks[i])
		p.Chunks = append(p.Chunks, q.Chunks[i])
		p.chunkIDs = append(p.chunkIDs, q.ChunkID(i))
		if q.windowOf != nil {
			p.windowOf = append(p.windowOf, q.windowOf[i])
		}
	}
	p.Table = q.Table.With(list...)
	return p
}

// Windowed is the query over another cut of its rows. Chunk i of t is a window of chunk of[i] of its table (see
// [table.Chunk.Windows]). All that was lowered for that chunk holds for it.
func (q *Query) Windowed(t *table.Table, of []int) *Query {
	out := *q
	out.Table, out.Chunks, out.windowOf = t, nil, nil
	for _, i := range of {
		out.Chunks = append(out.Chunks, q.Chunks[i])
		out.windowOf = append(out.windowOf, q.ChunkID(i))
	}
	return &out
}

// IsPart reports whether the query is over some chunks only: its order statistics,
// but for MIN and MAX, are found together with other parts.
func (q *Query) IsPart() bool { return q.chunkIDs != nil }

// ChunkID is a chunk's place in the whole table.
func (q *Query) ChunkID(chunk int) int {
	if q.chunkIDs == nil {
		return chunk
	}
	return q.chunkIDs[chunk]
}

// sourceChunk is the place of the chunk that a chunk is, or is a window of.
func (q *Query) sourceChunk(chunk int) int {
	if q.windowOf == nil {
		return q.ChunkID(chunk)
	}
	return q.windowOf[chunk]
}

// WithCodesIn selects those selected records of which the codes of a column are in a span of the space, without checks.
func (q *Query) WithCodesIn(col int, s *CodeSpace, in predicate.Span) *Query {
	out := &Query{Table: q.Table, Where: q.Where, Chunks: make([]ChunkPlan, len(q.Chunks)), chunkIDs: q.chunkIDs, windowOf: q.windowOf}
	for i, c := range q.Chunks {
		out.Chunks[i] = ChunkPlan{Pred: predicate.Never, scalar: c.scalar}
		chunk := q.Table.Chunks[i]
		seg := chunk.Segments[col]
		lo, ok := s.Local(seg, in.Lo)
		if !ok || in.Lo > in.Hi {
			continue
		}
		hi := seg.Max
		if in.Hi < s.Max() {
			if above, ok := s.Local(seg, in.Hi+1); ok {
				hi = above - 1 // modulo 2^64: below lo where above is 0
			}
		}
		if lo <= hi && hi <= seg.Max {
			out.Chunks[i].Pred = predicate.Combine(predicate.And, c.Pred, lower.InSpan(q.Table, chunk, col, predicate.Span{Lo: lo, Hi: hi}))
		}
	}
	return out
}
