package engine

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// columnsOf are some columns of a block's rows, texts without a dictionary.
func columnsOf(c *table.Chunk, b table.Block, columns []int) (out computed) {
	var of arrays.Columns
	for _, i := range columns {
		if s := c.Segments[i]; s.Type.Kind == table.Varchar {
			out = append(out, texts(s, b))
		} else {
			out = append(out, of.Array(s, b))
		}
	}
	if len(columns) == 0 {
		out = computed{array.NewNull(b.Len())}
	}
	return out
}

// appendAll appends a batch to a table, in as many chunks as it takes.
func appendAll(b *table.Builder, rows batch, fields []table.Field) error {
	for i := 0; i < rows.Len(); {
		n := min(rows.Len()-i, b.Room())
		if err := appendRows(b, rows.cut(i, i+n), fields); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// fieldsAt are those of fields at some places.
func fieldsAt(fields []table.Field, columns []int) (out []table.Field) {
	for _, i := range columns {
		out = append(out, fields[i])
	}
	return out
}

// widened is a table of some columns of fields as one of all, without segments for the others.
func widened(t *table.Table, fields []table.Field, columns []int) *table.Table {
	out := &table.Table{Name: t.Name, Fields: fields}
	for _, c := range t.Chunks {
		chunk := &table.Chunk{Rows: c.Rows, Segments: make([]*table.Segment, len(fields))}
		for k, i := range columns {
			chunk.Segments[i] = c.Segments[k]
		}
		out.Chunks = append(out.Chunks, chunk)
	}
	return out
}

// texts is a column of text as an Arrow array without a dictionary.
func texts(s *table.Segment, b table.Block) *array.String {
	out := array.NewStringBuilder(memory.DefaultAllocator)
	defer out.Release()
	out.Reserve(b.Len())
	bytes := 0
	for i := range b.Len() {
		if row := b.Row(i); !s.IsNull(row) {
			bytes += len(s.Dict[s.Codes.At(row)])
		}
	}
	out.ReserveData(bytes)
	for i := range b.Len() {
		if row := b.Row(i); s.IsNull(row) {
			out.AppendNull()
		} else {
			out.Append(s.Dict[s.Codes.At(row)])
		}
	}
	return out.NewStringArray()
}
