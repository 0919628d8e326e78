package storage

import (
	"slices"

	"github.com/stencildb/stencildb/table"
)

// An UPDATE writes the codes of its rows anew. A new value may have no code in its chunk: a text that the chunk does not have, or a number
// below its smallest. Then each such statement would change all codes of the column. Few rows of a large chunk move instead: they are
// deleted there and added behind the last, where chunks are small.
var (
	movingRows = 1 << 12 // of a chunk of fewer rows none moves
	movingPart = 64      // of a statement that changes more than this part of a chunk's rows none moves
)

// MoveRows is the change of a table in which some updates are deletions and additions. It updates these rows to values for which their chunks have no
// codes. It is the change itself where there are none.
func (c *Change) MoveRows(t *table.Table) (Change, error) {
	if len(c.Update) == 0 || c.Define != nil || len(c.Delete) > 0 || c.Compact || slices.ContainsFunc(t.Fields, func(f table.Field) bool { return f.Unsupported != "" }) {
		return *c, nil
	}
	rows := c.Update[0].Rows
	for _, u := range c.Update {
		if len(u.Rows) != len(rows) || len(rows) > 0 && &u.Rows[0] != &rows[0] {
			return *c, nil
		}
	}
	var moves []int // places in rows
	err := eachChunk(t.Chunks, rows, func(i int, places []int, from int) error {
		chunk := t.Chunks[i]
		if chunk.Rows < movingRows || len(places) > chunk.Rows/movingPart {
			return nil
		}
		for k := from; k < from+len(places); k++ {
			if slices.ContainsFunc(c.Update, func(u Update) bool { return !chunk.Segments[u.Column].HasRoom(u.Values, k) }) {
				moves = append(moves, k)
			}
		}
		return nil
	})
	if err != nil || len(moves) == 0 {
		return *c, err
	}
	out := *c
	columns := make([][]table.Value, len(t.Fields))
	for _, k := range moves {
		out.Delete = append(out.Delete, rows[k])
		chunk, at := t.At(rows[k])
		for col := range columns {
			columns[col] = append(columns[col], chunk.Segments[col].Value(at))
		}
		for _, u := range c.Update {
			columns[u.Column][len(columns[u.Column])-1] = u.Values.Value(k)
		}
	}
	chunk := &table.Chunk{Rows: len(out.Delete)}
	for i, f := range t.Fields {
		chunk.Segments = append(chunk.Segments, table.SegmentOf(f.Type, columns[i]...))
	}
	out.Append, out.Update = append(slices.Clip(c.Append), chunk), nil
	if len(moves) == len(rows) {
		return out, nil
	}
	var stay []uint32 // places in rows
	var left []int
	for k, row := range rows {
		if _, moved := slices.BinarySearch(moves, k); !moved {
			stay, left = append(stay, uint32(k)), append(left, row)
		}
	}
	for _, u := range c.Update {
		out.Update = append(out.Update, Update{Column: u.Column, Rows: left, Values: u.Values.Of(stay)})
	}
	return out, nil
}
