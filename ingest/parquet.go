package ingest

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// parquet reads a Parquet file with arrow-go's record readers. It does without
// arrow-go's pqarrow, which would link gRPC, and holds one batch of each column.
func (l *loader) parquet() (*File, error) {
	alloc := reusing{l.allocator()}
	props := parquet.NewReaderProperties(alloc)
	props.BufferedStreamEnabled = true
	props.MaxCompressedPageSize = l.file.Size()
	props.MaxUncompressedPageSize = int64(alloc.most)
	pf, err := file.NewParquetReader(l.file, file.WithReadProps(props))
	if err != nil {
		if l.encrypted() {
			return nil, fmt.Errorf("the Parquet file is encrypted, which is not supported: write it without")
		}
		return nil, damaged(err, "not a complete Parquet file: its footer")
	}
	fields, columns := parquetFields(pf.MetaData().Schema)
	var groups []group
	total, done, all := pf.NumRows(), int64(0), l.file.Size() // not to be asked for while somebody opens the file again
	for i := range pf.NumRowGroups() {
		rg := pf.RowGroup(i)
		rows := rg.NumRows()
		if rows < 0 || done+rows > total {
			return nil, damagef("row group %d says it has %d rows", i, rows)
		}
		done += rows
		groups = append(groups, group{
			rows: int(rows),
			column: func(col int) (func(int) (arrow.Array, error), error) {
				next, err := columns[col].open(pf, rg, alloc, columns[col].nonNull(rg))
				if err != nil {
					return nil, fmt.Errorf("column %s: %w", show(fields[col].Name), err)
				}
				return next, nil
			},
			bounds: func(col int) (bounds, bool) { return columns[col].bounds(rg) },
			bytes: func(col int) int64 {
				if chunk, err := rg.MetaData().ColumnChunk(columns[col].leaf); err == nil {
					return max(0, min(chunk.TotalCompressedSize(), all))
				}
				return 0
			},
		})
	}
	if done != total {
		return nil, damagef("%d rows in its row groups, %d in its footer", done, total)
	}
	return l.columnar(fields, groups)
}

// encrypted reports a Parquet file whose footer says so.
func (l *loader) encrypted() bool {
	var magic [4]byte
	_, err := l.file.ReadAt(magic[:], l.file.Size()-int64(len(magic)))
	return err == nil && string(magic[:]) == "PARE"
}

// parquetColumn is a column of a Parquet file.
type parquetColumn struct {
	leaf   int
	stored arrow.DataType // its values are laid out as Arrow's of this type
}

// bounds are those of the column's ordinals in a row group, where the file says them: of
// integers, days and microseconds.
func (c parquetColumn) bounds(rg *file.RowGroupReader) (b bounds, ok bool) {
	switch t, times := c.stored.(*arrow.TimestampType); {
	case c.stored == nil: // it cannot be read
		return b, false
	case times && t.Unit != arrow.Microsecond:
		return b, false
	case !times && !slices.Contains([]arrow.Type{arrow.INT32, arrow.INT64, arrow.DATE32}, c.stored.ID()):
		return b, false
	}
	chunk, err := rg.MetaData().ColumnChunk(c.leaf)
	if err != nil {
		return b, false
	}
	stats, err := chunk.Statistics()
	if err != nil || stats == nil || !stats.HasMinMax() {
		return b, false
	}
	switch s := stats.(type) {
	case *metadata.Int32Statistics:
		b.lo, b.hi = table.OrdinalInt(int64(s.Min())), table.OrdinalInt(int64(s.Max()))
	case *metadata.Int64Statistics:
		b.lo, b.hi = table.OrdinalInt(s.Min()), table.OrdinalInt(s.Max())
	}
	if b.nulls = -1; stats.HasNullCount() {
		b.nulls = stats.NullCount()
	}
	return b, b.lo <= b.hi
}

// nonNull reports whether the file says that the column, of numbers that may be NULL, has no NULL in a row group.
func (c parquetColumn) nonNull(rg *file.RowGroupReader) bool {
	chunk, err := rg.MetaData().ColumnChunk(c.leaf)
	if err != nil {
		return false
	}
	d := rg.MetaData().Schema.Column(c.leaf)
	if !slices.Contains([]parquet.Type{parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Float, parquet.Types.Double}, d.PhysicalType()) ||
		d.MaxDefinitionLevel() != 1 || d.MaxRepetitionLevel() != 0 {
		return false
	}
	stats, err := chunk.Statistics()
	return err == nil && stats != nil && stats.HasNullCount() && stats.NullCount() == 0
}

// open begins to read the column in a row group, without its definition levels where it is nonNull.
// Where NULLs turn up then, it is read from its beginning with them.
func (c parquetColumn) open(pf *file.Reader, rg *file.RowGroupReader, alloc reusing, nonNull bool) (func(n int) (arrow.Array, error), error) {
	chunk, err := rg.MetaData().ColumnChunk(c.leaf)
	if err != nil {
		return nil, damaged(err, "its place in the file")
	}
	if _, err := compress.GetCodec(chunk.Compression()); err != nil {
		return nil, fmt.Errorf("compression with %s is not supported: write the file with another one, such as ZSTD", chunk.Compression())
	}
	if n := chunk.NumValues(); n != rg.NumRows() {
		return nil, damagef("%s in a row group of %s", numbers.Count(int(n), "value", "values"), numbers.Count(int(rg.NumRows()), "row", "rows"))
	}
	pages, err := rg.GetColumnPageReader(c.leaf)
	if err != nil {
		return nil, damaged(err, "its pages")
	}
	d, plain := pf.MetaData().Schema.Column(c.leaf), &withoutLevels{PageReader: pages}
	if nonNull {
		d, pages = schema.NewColumn(d.SchemaNode().(*schema.PrimitiveNode), 0, 0), plain
	}
	r := file.NewRecordReader(d, file.LevelInfo{DefLevel: d.MaxDefinitionLevel()}, c.stored, alloc, pf.BufferPool())
	if err := r.(file.RecordReaderWithError).SetPageReaderWithError(pages); err != nil {
		return nil, damaged(err, "its pages")
	}
	left := rg.NumRows()
	var again func(n int) (arrow.Array, error)
	return func(n int) (arrow.Array, error) {
		if again != nil {
			return again(n)
		}
		r.Reset()
		got, err := r.ReadRecords(int64(n))
		if plain.nulls {
			r.Release()
			if again, err = c.open(pf, rg, alloc, false); err == nil {
				err = skip(again, int(rg.NumRows()-left))
			}
			if err != nil {
				return nil, err
			}
			return again(n)
		}
		if err == nil && got != int64(n) {
			err = damagef("the column ends %s too early", numbers.Count(n-int(got), "value", "values"))
		}
		if err != nil {
			return nil, err
		}
		a := c.array(r, n)
		if left -= int64(n); left == 0 {
			if more, _ := r.ReadRecords(1); more > 0 {
				return nil, damagef("more values than the %s of its row group", numbers.Count(rg.NumRows(), "row", "rows"))
			}
			r.Release()
			if err := pages.Close(); err != nil {
				return nil, err
			}
		}
		return a, nil
	}, nil
}

// skip passes over the next rows of a column.
func skip(next func(n int) (arrow.Array, error), rows int) error {
	for rows > 0 {
		n := min(rows, columnBatch)
		a, err := next(n)
		if err != nil {
			return err
		}
		a.Release()
		rows -= n
	}
	return nil
}

// array returns the n values that have been read.
func (c parquetColumn) array(r file.RecordReader, n int) arrow.Array {
	var buffers []*memory.Buffer
	nulls := int(r.NullCount())
	switch r := r.(type) {
	case file.BinaryRecordReader:
		d := r.GetBuilderChunks()[0].Data()
		buffers, nulls = d.Buffers(), d.NullN()
	case file.BooleanRecordReader:
		buffers = []*memory.Buffer{r.ReleaseValidBits(), r.ReleaseValueBitmap()}
	default:
		buffers = []*memory.Buffer{r.ReleaseValidBits(), r.ReleaseValues()}
	}
	data := array.NewData(c.stored, n, buffers, nil, nulls, 0)
	defer data.Release()
	if _, kept := r.(file.BinaryRecordReader); !kept {
		for _, b := range buffers { // now the array's
			if b != nil {
				b.Release()
			}
		}
	}
	return array.MakeFromData(data)
}
