package engine

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// rowIDs is rows of a table in any order, by their places. A row's place is its number in its chunk plus the
// start of the chunk.
type rowIDs struct {
	ids    []uint64
	starts []uint64 // by chunk: the place of its first row
}

// chunkStarts are the places of the first rows of a table's chunks, and that behind the last row.
func chunkStarts(t *table.Table) (starts []uint64, end uint64) {
	for _, c := range t.Chunks {
		starts = append(starts, end)
		end += uint64(c.Rows)
	}
	return starts, end
}

func (p rowIDs) Len() int           { return len(p.ids) }
func (p rowIDs) cut(i, j int) batch { return rowIDs{p.ids[i:j], p.starts} }

// at is the chunk of a row, and its number there.
func (p rowIDs) at(i int) (chunk, row int) {
	place := p.ids[i]
	if len(p.starts) > 1 {
		chunk, _ = slices.BinarySearchFunc(p.starts, place, func(start, place uint64) int { return cmp.Or(cmp.Compare(start, place), -1) })
		chunk-- // the last that does not start behind the place
	}
	return chunk, int(place - p.starts[chunk])
}

// blocks are the rows by their chunks, each block in the order of the rows here. of tells for each row which
// of the blocks it is in.
func (p rowIDs) blocks() (blocks []table.Block, of []int) {
	of = make([]int, len(p.ids))
	if len(p.starts) == 1 && len(p.ids) > 0 {
		rows := make([]uint32, len(p.ids))
		for i, place := range p.ids {
			rows[i] = uint32(place - p.starts[0])
		}
		return []table.Block{{Rows: rows}}, of
	}
	at := make([]int, len(p.starts)) // by chunk, 1 for the first
	for i := range p.ids {
		chunk, row := p.at(i)
		if at[chunk] == 0 {
			blocks = append(blocks, table.Block{Chunk: chunk})
			at[chunk] = len(blocks)
		}
		of[i] = at[chunk] - 1
		b := &blocks[of[i]]
		b.Rows = append(b.Rows, uint32(row))
	}
	return blocks, of
}

// byRowID is [gather.batch] of rows of several chunks.
func (g *gather) byRowID(eval *vector.Evaluator, p rowIDs) (batch, error) {
	blocks, of := p.blocks()
	if len(blocks) == 1 {
		return g.batch(eval, blocks[0])
	}
	parts, errs := make([]computed, len(blocks)), make([]error, len(blocks))
	for i, b := range blocks {
		out, err := g.batch(eval, b)
		parts[i], _ = out.(computed)
		errs[i] = err
	}
	rows, next := make([]int, 0, len(of)), make([]int, len(parts)) // of each, its number in its part
	for _, part := range of {
		if errs[part] != nil && (parts[part] == nil || next[part] == parts[part].Len()) {
			out := g.joined(parts, of[:len(rows)], rows)
			return out, errs[part]
		}
		rows = append(rows, next[part])
		next[part]++
	}
	return g.joined(parts, of, rows), nil
}

// joined is columns of which row i is row rows[i] of part of[i]; nil without rows.
func (g *gather) joined(parts []computed, of, rows []int) batch {
	if len(rows) == 0 {
		return nil
	}
	out := make(computed, len(g.items))
	for k, item := range g.items {
		t := item.E.Type()
		var dt arrow.DataType = arrays.TypeOf(t)
		if _, coded := parts[of[0]][k].(*array.Dictionary); coded {
			dt = arrays.DictionaryType
		}
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		b.Reserve(len(rows))
		read := make([]func(i int) table.Value, len(parts))
		for i, row := range rows {
			part := of[i]
			if read[part] == nil {
				read[part] = arrays.Values(parts[part][k], t)
			}
			arrays.AppendValue(b, read[part](row))
		}
		out[k] = b.NewArray()
		b.Release()
	}
	return out
}
