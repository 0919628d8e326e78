package table

import (
	"fmt"
	"slices"
)

// Attributes returns the table's fields and, behind them, [LiveField].
func (t *Table) Attributes() []Field { return append(slices.Clip(t.Fields), LiveField) }

// Field returns field col, that of the hidden column for col = len(t.Fields).
func (t *Table) Field(col int) Field {
	if col == len(t.Fields) {
		return LiveField
	}
	return t.Fields[col]
}

// All lists the table's columns by their numbers.
func (t *Table) All() []int {
	all := make([]int, len(t.Fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// Has reports whether columns have been read, as far as they can be: none of a table that has not been opened (nil).
func (t *Table) Has(columns []int) bool {
	if t == nil {
		return false
	}
	for _, col := range columns {
		if t.Fields[col].Unsupported == "" && len(t.Chunks) > 0 && t.Chunks[0].Segments[col] == nil {
			return false
		}
	}
	return true
}

// Renewed returns a snapshot of the same rows whose segments are copies: nothing is kept of these
// yet by their identity.
func (t *Table) Renewed() *Table {
	var chunks []*Chunk
	for _, c := range t.Chunks {
		fresh := &Chunk{Rows: c.Rows, Deleted: c.Deleted}
		for _, seg := range c.Segments {
			if seg != nil { // which has been read
				seg = seg.Copy()
			}
			fresh.Segments = append(fresh.Segments, seg)
		}
		chunks = append(chunks, fresh)
	}
	return t.With(chunks...)
}

// Compacted returns a table of the same rows without the deleted ones. Chunks without
// deleted rows are shared; one of which all rows are deleted is left out.
func (t *Table) Compacted() *Table {
	var chunks []*Chunk
	for _, c := range t.Chunks {
		switch {
		case c.Deleted == 0:
			chunks = append(chunks, c)
		case c.Live() > 0:
			chunks = append(chunks, c.compacted())
		}
	}
	return t.With(chunks...)
}

// Undeleted returns the table with its deleted rows as others, and their numbers, ascending: rows are counted over all chunks, from 0.
func (t *Table) Undeleted() (all *Table, gone []int) {
	var chunks []*Chunk
	first := 0
	for _, c := range t.Chunks {
		for at := 0; c.Deleted > 0 && at < c.Rows; at++ {
			if !c.IsLive(at) {
				gone = append(gone, first+at)
			}
		}
		chunks, first = append(chunks, &Chunk{Rows: c.Rows, Segments: c.fields()}), first+c.Rows
	}
	return t.With(chunks...), gone
}

// compacted is the chunk without its deleted rows, in the same codes.
func (c *Chunk) compacted() *Chunk {
	marks := NewBitmap(c.Rows)
	live := c.live().Codes.U8
	InParts(c.Rows, func(from, to int) {
		for i := from; i < to; i++ {
			marks[i>>6] |= uint64(live[i]) << (i & 63)
		}
	})
	rows := marks.Rows()
	out := &Chunk{Rows: len(rows)}
	for _, s := range c.fields() {
		if s != nil { // else of an unsupported field, or not read
			s = s.Of(rows).trimmed()
			s.own.Store(true)
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}

// Delete returns the chunk with rows deleted; those that were deleted before stay so.
// The segments of the fields are shared. A row outside the chunk is an error.
func (c *Chunk) Delete(rows []int) (*Chunk, error) { return c.Strike(rows, nil) }

// Strike is Delete that takes over the codes of the hidden column where it is free; its segment must not be read then.
func (c *Chunk) Strike(rows []int, free Free) (*Chunk, error) {
	for _, r := range rows {
		if r < 0 || r >= c.Rows {
			return nil, fmt.Errorf("table: row %d of a chunk of %d rows cannot be deleted", r, c.Rows)
		}
	}
	before := c.live()
	deleted, gone := c.Deleted, make([]uint32, 0, len(rows))
	for _, r := range rows {
		if before.Codes.U8[r] != 0 {
			gone = append(gone, uint32(r))
		}
	}
	slices.Sort(gone)
	gone = slices.Compact(gone)
	if deleted += len(gone); deleted == c.Deleted {
		return c, nil
	}
	s := &Segment{Type: LiveField.Type, Codes: before.Codes, Max: 1, Bits: 1}
	s.own.Store(true)
	if c.Deleted > 0 && !free.of(before) {
		s.Codes = Codes{U8: slices.Clone(before.Codes.U8)}
	}
	for _, r := range gone {
		s.Codes.U8[r] = 0
	}
	if c.Deleted > 0 {
		s.follow(before, gone)
	}
	return &Chunk{Rows: c.Rows, Deleted: deleted, Segments: append(slices.Clip(c.fields()), s)}, nil
}
