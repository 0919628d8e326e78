package parquet

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Open reads a Parquet file with arrow-go's record readers. It does without
// arrow-go's pqarrow, which would link gRPC, and holds one batch of each column.
func Open(l *source.Loader) ([]table.Field, columnar.Groups, error) {
	meta, err := readFooter(l.Input)
	if err != nil {
		return nil, nil, err
	}
	p := &openedFile{l.Input, meta, l.PageAllocator(), &sync.Pool{New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) }}}
	fields, columns := fields(meta.Schema)
	var list columnar.Groups
	total, done, all := meta.GetNumRows(), int64(0), l.Input.Size() // not to be asked for while somebody opens the file again
	for i, rg := range meta.RowGroups {
		rows := rg.NumRows
		if rows < 0 || rows > math.MaxInt64-done {
			return nil, nil, source.Damagef("row group %d says it has %d rows", i, rows)
		}
		if done += rows; len(rg.Columns) < meta.Schema.NumColumns() {
			return nil, nil, source.Damagef("row group %d has %s of %d", i, numbers.Count(len(rg.Columns), "column", "columns"), meta.Schema.NumColumns())
		}
		list = append(list, columnar.Group{
			Rows: int(rows),
			Name: fmt.Sprintf("row group %d", i),
			Column: func(col int) (func(int) (arrow.Array, error), error) {
				next, err := columns[col].open(p, i)
				switch {
				case source.IsDamaged(err):
					return nil, source.Damaged(err, "column %s, row group %d", source.ShowName(fields[col].Name), i)
				case err != nil:
					return nil, fmt.Errorf("column %s, row group %d: %w", source.ShowName(fields[col].Name), i, err)
				}
				return next, nil
			},
			Stated: func(col int) columnar.Statistics {
				if columns[col].stored == nil {
					return columnar.Unstated
				}
				return columns[col].statistics(meta, i).use(meta.Schema.Column(columns[col].leaf))
			},
			Bytes: func(col int) int64 {
				if chunk := rg.Columns[columns[col].leaf].MetaData; chunk != nil {
					return max(0, min(chunk.TotalCompressedSize, all))
				}
				return 0
			},
		})
	}
	if done != total && total != 0 { // which an old writer, parquet-rs 0.3, has always stated
		return nil, nil, source.Damagef("%d rows in its row groups, %d in its footer", done, total)
	}
	return fields, list, nil
}

// openedFile is an open file.
type openedFile struct {
	in      *source.Input
	meta    *metadata.FileMetaData
	alloc   source.PageAllocator
	buffers *sync.Pool // of record readers
}

// column is a column of a Parquet file.
type column struct {
	leaf   int
	stored arrow.DataType // its values are laid out as Arrow's of this type
}

// full reports whether the footer states that the column, of numbers that may be NULL, has no NULL in a row group.
func (c column) full(d *schema.Column, s chunkStatistics) bool {
	n, ok := s.use(d).NullCount()
	return ok && n == 0 && d.MaxDefinitionLevel() == 1 &&
		slices.Contains([]parquet.Type{parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Float, parquet.Types.Double}, d.PhysicalType())
}

// pages begins to read the pages of the column in a row group.
func (c column) pages(p *openedFile, group int, full bool) (*pageReader, error) {
	rg := p.meta.RowGroup(group)
	chunk, err := rg.ColumnChunk(c.leaf)
	switch {
	case err != nil:
		return nil, source.Damaged(err, "its place in the file")
	case chunk.FilePath() != "":
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "its values are in another file, %s, which is not supported: write it with them", source.ShowName(chunk.FilePath()))
	case chunk.NumValues() != rg.NumRows():
		return nil, source.Damagef("%s in a row group of %s", numbers.Count(chunk.NumValues(), "value", "values"), numbers.Count(rg.NumRows(), "row", "rows"))
	}
	from, size := chunk.DataPageOffset(), chunk.TotalCompressedSize()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		from = min(from, chunk.DictionaryPageOffset())
	}
	if p.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		size = min(size, math.MaxInt64-100) + 100 // which does not count the header of the dictionary
	}
	if from < 0 || size < 0 || from > p.in.Size() {
		return nil, source.Damagef("its values would be %d bytes at %d in the file", size, from)
	}
	pages, err := newPageReader(io.NewSectionReader(p.in, from, min(size, p.in.Size()-from)), p.meta.Schema.Column(c.leaf), full, chunk.Compression(), rg.NumRows(), p.alloc)
	if err != nil {
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "compression with %s is not supported: write the file with another one, such as ZSTD", chunk.Compression())
	}
	return pages, nil
}

// open begins to read the column in a row group, and compares what it reads with what the footer states.
func (c column) open(p *openedFile, group int) (func(n int) (arrow.Array, error), error) {
	d, stated := p.meta.Schema.Column(c.leaf), c.statistics(p.meta, group)
	full := c.full(d, stated)
	pages, err := c.pages(p, group, full)
	if err != nil {
		return nil, err
	}
	if full {
		d = schema.NewColumn(d.SchemaNode().(*schema.PrimitiveNode), 0, 0)
	}
	r := file.NewRecordReader(d, file.LevelInfo{DefLevel: d.MaxDefinitionLevel()}, c.stored, p.alloc, p.buffers)
	if err := r.(file.RecordReaderWithError).SetPageReaderWithError(pages); err != nil {
		return nil, source.Damaged(err, "its pages")
	}
	verify := stated.verifier()
	return func(n int) (arrow.Array, error) {
		r.Reset()
		got, err := r.ReadRecords(int64(n))
		switch {
		case pages.err != nil:
			err = pages.err
		case err == nil && got != int64(n):
			err = source.Damagef("the column ends %s too early", numbers.Count(n-int(got), "value", "values"))
		}
		if err != nil {
			return nil, err
		}
		a := c.array(r, n)
		if err := verify.add(a); err != nil {
			a.Release()
			return nil, err
		}
		if verify.left == 0 {
			r.Release()
			return a, pages.Close()
		}
		return a, nil
	}, nil
}

// array returns the n values that have been read.
func (c column) array(r file.RecordReader, n int) arrow.Array {
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
