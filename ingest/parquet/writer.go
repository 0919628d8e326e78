package parquet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/table"
)

const (
	// rowGroupRows is about how many rows a row group that we write has, groupText how many bytes of text at most, but for one row.
	rowGroupRows, groupText = 1 << 20, source.LeastAllocation / 2
	// pieceText is the most bytes of text that are written at a time, but for one row: a page has hardly more.
	pieceText = 8 << 20
)

// writer writes record batches. It keeps one row group in memory. (The library's
// own, pqarrow, brings gRPC with it.)
type writer struct {
	out    *file.Writer
	group  file.BufferedRowGroupWriter
	fields []arrow.Field
	rows   int // of the row group
	text   int // bytes of the row group
}

// Write implements [arrays.BatchWriter].
func (p *writer) Write(b arrow.RecordBatch) error {
	sizes := make([]int, b.NumRows())
	for _, a := range b.Columns() {
		addText(sizes, a)
	}
	for at := 0; at < len(sizes); {
		n, bytes := 0, 0
		for at+n < len(sizes) && (n == 0 || bytes+sizes[at+n] <= pieceText) {
			bytes += sizes[at+n]
			n++
		}
		piece := b.NewSlice(int64(at), int64(at+n))
		err := p.write(piece, bytes)
		piece.Release()
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// write writes rows with so many bytes of text.
func (p *writer) write(b arrow.RecordBatch, text int) error {
	if p.text+text > groupText {
		if err := p.end(); err != nil {
			return err
		}
	}
	if p.group == nil {
		group, err := p.out.AppendBufferedRowGroupChecked()
		if err != nil {
			return err
		}
		p.group = group
	}
	var columns parallel.Errors // each has a writer of its own
	columns.SetLimit(runtime.GOMAXPROCS(0))
	for i, a := range b.Columns() {
		c, err := p.group.Column(i)
		columns.Go(func() (failed error) {
			defer func() {
				if r := recover(); r != nil { // the Parquet library
					failed = fmt.Errorf("%v", r)
				}
			}()
			if err == nil {
				err = formOf(a.DataType()).write(c, a)
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", source.ShowName(p.fields[i].Name), err)
			}
			return nil
		})
	}
	if err := columns.Wait(); err != nil {
		return err
	}
	p.rows, p.text = p.rows+int(b.NumRows()), p.text+text
	if p.rows < rowGroupRows {
		return nil
	}
	return p.end()
}

// end ends the row group, if there is one.
func (p *writer) end() (err error) {
	if p.group != nil {
		err = p.group.Close()
	}
	p.group, p.rows, p.text = nil, 0, 0
	return err
}

// Close ends the file.
func (p *writer) Close() error {
	if err := p.end(); err != nil {
		return err
	}
	return p.out.Close()
}

// NewWriter begins a Parquet file of batches of a schema, compressed with zstd, in
// row groups of about a million rows. Text may come in dictionaries; types that Parquet
// has nothing for, such as intervals, are written as text.
func NewWriter(w io.Writer, s *arrow.Schema) (arrays.BatchWriter, error) {
	return newWriter(w, s, compress.Codecs.Zstd)
}

// WriteUncompressed writes a table as a Parquet file that is not compressed.
func WriteUncompressed(w io.Writer, t *table.Table) error {
	return arrays.TableWriter(func(w io.Writer, s *arrow.Schema) (arrays.BatchWriter, error) {
		return newWriter(w, s, compress.Codecs.Uncompressed)
	})(w, t)
}

// WriteChunks writes chunks without NULLs, of these columns, as a Parquet file. It keeps a row group and
// a chunk in memory. As of [ingest.WriteFile], the file appears whole or not at all.
func WriteChunks(ctx context.Context, path string, fields []table.Field, chunks iter.Seq2[*table.Chunk, error]) error {
	return files.Write(path, func(w io.Writer) error {
		buf := bufio.NewWriterSize(source.ContextWriter(ctx, w), 1<<20)
		out, err := arrays.NewChunkWriter(buf, fields, make([]bool, len(fields)), NewWriter)
		if err != nil {
			return err
		}
		for c, err := range chunks {
			if err == nil {
				err = out.WriteChunk(c)
			}
			if err != nil {
				return err
			}
		}
		return errors.Join(out.Close(), buf.Flush())
	})
}

// newWriter begins a Parquet file, with dictionaries but for plain columns.
func newWriter(w io.Writer, s *arrow.Schema, codec compress.Compression, plain ...string) (out arrays.TextWriter, err error) {
	s = arrays.AsText(s, func(t arrow.DataType) bool { return formOf(t).write == nil })
	var nodes schema.FieldList
	for _, f := range s.Fields() {
		repetition := parquet.Repetitions.Required
		if f.Nullable {
			repetition = parquet.Repetitions.Optional
		}
		form := formOf(f.Type)
		n, err := schema.NewPrimitiveNodeLogical(f.Name, repetition, form.logical, form.physical, form.length, -1)
		if err != nil {
			return out, fmt.Errorf("column %s cannot be written: %w", source.ShowName(f.Name), err)
		}
		nodes = append(nodes, n)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return out, err
	}
	properties := []parquet.WriterProperty{parquet.WithCompression(codec), parquet.WithCreatedBy("stencildb"), parquet.WithVersion(parquet.V2_LATEST)}
	for _, name := range plain {
		properties = append(properties, parquet.WithDictionaryFor(name, false))
	}
	return arrays.NewTextWriter(&writer{out: file.NewParquetWriter(w, root, file.WithWriterProps(parquet.NewWriterProperties(properties...))), fields: s.Fields()}, s), nil
}

// addText adds how many bytes of text each row has.
func addText(sizes []int, a arrow.Array) {
	switch a := a.(type) {
	case *array.String:
		for i := range sizes {
			sizes[i] += a.ValueLen(i)
		}
	case *array.Dictionary:
		for i := range sizes {
			if a.IsValid(i) {
				sizes[i] += len(arrays.DictionaryText(a, i))
			}
		}
	}
}
