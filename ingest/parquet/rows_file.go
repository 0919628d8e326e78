package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// RowsFile is a Parquet file of rows of tables with the same fields, one behind the other, compressed with zstd. It keeps a row group in memory.
type RowsFile struct {
	out    *arrays.ChunkWriter
	groups *writer
	buf    *bufio.Writer
}

// Write writes the rows of a table from row from to before row to, as one row group, or several of about a million rows. None of its rows is deleted.
func (f *RowsFile) Write(t *table.Table, from, to int) error {
	first := 0
	for _, c := range t.Chunks {
		if lo, hi := max(from, first), min(to, first+c.Rows); lo < hi {
			if err := f.out.WriteRows(c, lo-first, hi-first); err != nil {
				return err
			}
		}
		first += c.Rows
	}
	return f.groups.end()
}

// Close ends the file.
func (f *RowsFile) Close() error { return errors.Join(f.out.Close(), f.buf.Flush()) }

// NewRowsFile begins a file whose first rows are of a table, which says how columns are written. The columns that nullable names may have NULLs; where it is
// nil, those of which the table has some.
func NewRowsFile(w io.Writer, t *table.Table, nullable []bool) (*RowsFile, error) {
	nulls := make([]bool, len(t.Fields))
	for _, c := range t.Chunks {
		for i, s := range c.Segments {
			if s == nil {
				return nil, fmt.Errorf("column %s has not been read", source.ShowName(t.Fields[i].Name))
			}
			nulls[i] = nulls[i] || s.Nulls > 0
		}
	}
	if nullable != nil {
		nulls = nullable
	}
	f := &RowsFile{buf: bufio.NewWriterSize(w, 1<<20)} // the Parquet library panics where its first bytes cannot be written
	var err error
	f.out, err = arrays.NewChunkWriter(f.buf, t.Fields, nulls, func(w io.Writer, s *arrow.Schema) (arrays.BatchWriter, error) {
		out, err := newWriter(w, s, compress.Codecs.Zstd, manyValued(t)...)
		f.groups, _ = out.BatchWriter.(*writer)
		return out, err
	})
	return f, err
}

// manyValued names the columns of numbers whose values hardly come twice: to look for those that do takes longer than to write them.
func manyValued(t *table.Table) (names []string) {
	const sample, most = 1024, 1010 // of 50,000 values the sample has so many
	for i, f := range t.Fields {
		if f.Type.Kind == table.Varchar {
			continue
		}
		var codes []uint64
		for _, c := range t.Chunks {
			for k := range min(sample/len(t.Chunks), c.Rows) {
				codes = append(codes, c.Segments[i].Base+c.Segments[i].Codes.At(k*c.Rows/max(1, sample/len(t.Chunks))))
			}
		}
		slices.Sort(codes)
		if len(slices.Compact(codes)) > most {
			names = append(names, f.Name)
		}
	}
	return names
}
