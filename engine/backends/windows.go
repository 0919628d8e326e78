package backends

import (
	"slices"

	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// windows is a query over windows of the chunks of its table.
type windows struct {
	Whole  *physical.Query
	chunks []int // by window: its chunk in the table
	starts []int // by window: its first row there
}

// newWindows cuts the chunks of a query's table to windows of at most so many rows, a multiple of 64.
func newWindows(q *physical.Query, rows int) *windows {
	w := &windows{}
	t := *q.Table
	t.Chunks = nil
	for i, c := range q.Table.Chunks {
		start := 0
		for _, window := range c.Windows(rows) {
			t.Chunks, w.chunks, w.starts = append(t.Chunks, window), append(w.chunks, i), append(w.starts, start)
			start += window.Rows
		}
	}
	w.Whole = q.Windowed(&t, w.chunks)
	return w
}

// inTable is a block of a window as one of the chunk that it is of.
func (w *windows) inTable(b table.Block) table.Block {
	start := w.starts[b.Chunk]
	b.Chunk = w.chunks[b.Chunk]
	switch {
	case b.Values != nil:
	case b.Rows == nil:
		b.First += start
	default:
		b.Rows = Shifted(b.Rows, start)
	}
	return b
}

// states are what was found of the groups of windows as of the chunks that they are of.
func (w *windows) states(list []physical.GroupStates) {
	for i := range list {
		s := &list[i]
		s.Chunk, s.Rows = w.chunks[s.Chunk], Shifted(s.Rows, w.starts[s.Chunk])
	}
}

// runs are sorted rows of windows likewise.
func (w *windows) runs(list []physical.SortedRun) {
	for i := range list {
		r := &list[i]
		r.Chunk, r.Rows = w.chunks[r.Chunk], Shifted(r.Rows, w.starts[r.Chunk])
	}
}

// Shifted are rows that begin further on.
func Shifted(rows []uint32, start int) []uint32 {
	if start == 0 {
		return rows
	}
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i] += uint32(start)
	}
	return rows
}
