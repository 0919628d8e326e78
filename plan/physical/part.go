package physical

import (
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Part is the query over some chunks of its table, for one of several devices whose
// selections [partial.Merge] joins. Runs of the values of a part of the rows say too little to be merged.
func (q *Query) Part(chunks []int) *Query {
	p := &Query{Where: q.Where, Aggs: q.Aggs, Columns: q.Columns, Gathered: q.Gathered, Groups: q.Groups, Star: q.Star, Order: q.Order, Alone: q.Alone && len(chunks) == len(q.Chunks), places: []int{}}
	var list []*table.Chunk
	for _, i := range chunks {
		list = append(list, q.Table.Chunks[i])
		p.Chunks = append(p.Chunks, q.Chunks[i])
		p.places = append(p.places, q.Place(i))
		if q.windowOf != nil {
			p.windowOf = append(p.windowOf, q.windowOf[i])
		}
	}
	p.Table = q.Table.With(list...)
	return p
}

// Windowed is the query over another cut of its rows: chunk i of t is a window of chunk of[i] of its table (see
// [table.Chunk.Windows]), of which everything holds that was lowered for that chunk.
func (q *Query) Windowed(t *table.Table, of []int) *Query {
	out := *q
	out.Table, out.Chunks, out.windowOf = t, nil, nil
	for _, i := range of {
		out.Chunks = append(out.Chunks, q.Chunks[i])
		out.windowOf = append(out.windowOf, q.Place(i))
	}
	return &out
}

// IsPart reports whether the query is over some chunks only: its order statistics,
// but for MIN and MAX, are found together with other parts.
func (q *Query) IsPart() bool { return q.places != nil }

// Place is a chunk's place in the whole table.
func (q *Query) Place(chunk int) int {
	if q.places == nil {
		return chunk
	}
	return q.places[chunk]
}

// whole is the place of the chunk that a chunk is, or is a window of.
func (q *Query) whole(chunk int) int {
	if q.windowOf == nil {
		return q.Place(chunk)
	}
	return q.windowOf[chunk]
}

// Within selects those selected records of which the codes of a column are in a span of the space, without checks.
func (q *Query) Within(col int, s *Space, in predicate.Span) *Query {
	out := &Query{Table: q.Table, Where: q.Where, Chunks: make([]ChunkPlan, len(q.Chunks)), places: q.places, windowOf: q.windowOf}
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
