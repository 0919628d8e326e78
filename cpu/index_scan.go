package cpu

import (
	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// WithIndexes has a backend look for rows in the indexes of segments that of knows.
func WithIndexes(of func(*table.Segment) []*index.Index) Option {
	return func(b *Backend) { b.indexes = of }
}

// IndexesOn lists the indexes of a segment.
func (b *Backend) IndexesOn(s *table.Segment) []*index.Index {
	if b.indexes == nil {
		return nil
	}
	return b.indexes(s)
}

// IndexUse is how an index serves a chunk of a query.
type IndexUse struct {
	*index.Index
	By    *predicate.Pred // what it decides
	Rest  *predicate.Pred // what is still asked of the rows that it finds
	Found int             // rows
	// Counted says that their number is all that is asked of them.
	Counted bool

	spans []predicate.Span
}

// IndexesOf says which index serves each chunk of a query, nil where none pays: where one finds a small part of the
// rows. It looks up how many these are.
func (b *Backend) IndexesOf(q *physical.Query) []*IndexUse {
	if b.indexes == nil {
		return nil
	}
	var out []*IndexUse
	counts := len(q.Aggs) > 0 && len(columnNeeds(q.Aggs)) == 0
	for i, p := range q.Chunks {
		if use := b.indexOf(q.Table.Chunks[i], p, counts); use != nil {
			if out == nil {
				out = make([]*IndexUse, len(q.Chunks))
			}
			out[i] = use
		}
	}
	return out
}

// indexOf is the use of the index that finds the fewest rows, or all of them where they are only counted. The checks of
// a chunk are of all its rows.
func (b *Backend) indexOf(c *table.Chunk, p physical.ChunkPlan, counts bool) (best *IndexUse) {
	if len(p.Checks) > 0 {
		return nil
	}
	parts := []*predicate.Pred{p.Pred}
	if p.Pred.Op == predicate.And {
		parts = p.Pred.Kids
	}
	for i, part := range parts {
		col, spans, ok := part.Spans(c)
		if !ok || c.Segments[col] == nil || (len(spans)-1)*b.spanRows > c.Rows {
			continue
		}
		for _, x := range b.indexes(c.Segments[col]) {
			n, ok := x.Count(spans)
			counted := counts && len(parts) == 1
			if ok && (counted || n*b.leastPart <= c.Rows) && (best == nil || n < best.Found) {
				best = &IndexUse{Index: x, By: part, Rest: without(parts, i), Found: n, Counted: counted, spans: spans}
			}
		}
	}
	return best
}

// without is the conjunction of all parts but one.
func without(parts []*predicate.Pred, i int) *predicate.Pred {
	rest := append(append([]*predicate.Pred{}, parts[:i]...), parts[i+1:]...)
	switch len(rest) {
	case 0:
		return &predicate.Pred{Op: predicate.True}
	case 1:
		return rest[0]
	}
	return &predicate.Pred{Op: predicate.And, Kids: rest}
}

// narrowed is a query over chunks of only the rows that indexes find, and of each chunk which rows these are; nil for
// all. Of the columns it has those that are still read. Rows that are counted have no numbers, unless they are listed.
func narrowed(q *physical.Query, uses []*IndexUse, listed bool) (*physical.Query, [][]uint32) {
	out, t := *q, *q.Table
	out.Table, t.Chunks, out.Chunks = &t, append([]*table.Chunk{}, t.Chunks...), append([]physical.ChunkPlan{}, q.Chunks...)
	found := make([][]uint32, len(uses))
	for i, use := range uses {
		if use == nil {
			continue
		}
		c := q.Table.Chunks[i]
		if listed || !use.Counted {
			found[i] = use.Find(use.spans, use.Found, c.Rows)
		}
		reads := use.Rest.Columns()
		for _, nd := range columnNeeds(q.Aggs) {
			reads = append(reads, nd.col)
		}
		few := &table.Chunk{Rows: use.Found, Segments: make([]*table.Segment, len(c.Segments))}
		for _, col := range reads {
			if s := c.Segments[col]; few.Segments[col] == nil {
				few.Segments[col] = s.Of(found[i])
			}
		}
		t.Chunks[i], out.Chunks[i].Pred = few, use.Rest
	}
	return &out, found
}

// inTable is a block of rows of a chunk that was narrowed to some rows, as rows of the whole chunk.
func inTable(b table.Block, found []uint32) table.Block {
	rows := make([]uint32, b.Len())
	for i := range rows {
		rows[i] = found[b.Row(i)]
	}
	return table.Block{Chunk: b.Chunk, Rows: rows}
}
