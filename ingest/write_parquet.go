package ingest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/table"
)

const (
	// rowGroupRows is about how many rows a row group that we write has, groupText how many bytes of text at most, but for one row.
	rowGroupRows, groupText = 1 << 20, 64 << 20
	// pieceText is the most bytes of text that are written at a time, but for one row: a page has hardly more.
	pieceText = 8 << 20
)

// parquetWriter writes record batches. It keeps one row group in memory. (The library's
// own, pqarrow, brings gRPC with it.)
type parquetWriter struct {
	out    *file.Writer
	group  file.BufferedRowGroupWriter
	fields []arrow.Field
	rows   int // of the row group
	text   int // bytes of the row group
}

// NewParquetFile begins a Parquet file of batches of a schema, compressed with zstd, in
// row groups of about a million rows. Text may come in dictionaries; types that Parquet
// has nothing for, such as intervals, are written as text.
func NewParquetFile(w io.Writer, s *arrow.Schema) (BatchWriter, error) {
	return parquetFile(w, s, compress.Codecs.Zstd)
}

// WritePlainParquet writes a table as a Parquet file that is not compressed.
func WritePlainParquet(w io.Writer, t *table.Table) error {
	return batches(func(w io.Writer, s *arrow.Schema) (BatchWriter, error) {
		return parquetFile(w, s, compress.Codecs.Uncompressed)
	})(w, t)
}

// RowsFile is a Parquet file of rows of tables with the same fields, one behind the other, compressed with zstd. It keeps a row group in memory.
type RowsFile struct {
	out    *chunkWriter
	groups *parquetWriter
	buf    *bufio.Writer
}

// NewRowsFile begins a file whose first rows are of a table, which says how columns are written. The columns that nullable names may have NULLs; where it is
// nil, those of which the table has some.
func NewRowsFile(w io.Writer, t *table.Table, nullable []bool) (*RowsFile, error) {
	nulls := make([]bool, len(t.Fields))
	for _, c := range t.Chunks {
		for i, s := range c.Segments {
			if s == nil {
				return nil, fmt.Errorf("column %s has not been read", show(t.Fields[i].Name))
			}
			nulls[i] = nulls[i] || s.Nulls > 0
		}
	}
	if nullable != nil {
		nulls = nullable
	}
	f := &RowsFile{buf: bufio.NewWriterSize(w, 1<<20)} // the Parquet library panics where its first bytes cannot be written
	var err error
	f.out, err = newChunkWriter(f.buf, t.Fields, nulls, func(w io.Writer, s *arrow.Schema) (BatchWriter, error) {
		out, err := parquetFile(w, s, compress.Codecs.Zstd, manyValued(t)...)
		f.groups, _ = out.BatchWriter.(*parquetWriter)
		return out, err
	})
	return f, err
}

// Write writes the rows of a table from row from to before row to, as one row group, or several of about a million rows. None of its rows is deleted.
func (f *RowsFile) Write(t *table.Table, from, to int) error {
	first := 0
	for _, c := range t.Chunks {
		if lo, hi := max(from, first), min(to, first+c.Rows); lo < hi {
			if err := f.out.writeRows(c, lo-first, hi-first); err != nil {
				return err
			}
		}
		first += c.Rows
	}
	return f.groups.end()
}

// Close ends the file.
func (f *RowsFile) Close() error { return errors.Join(f.out.Close(), f.buf.Flush()) }

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

// WriteChunks writes chunks without NULLs, of these columns, as a Parquet file. It keeps a row group and
// a chunk in memory. As of [WriteFile], the file appears whole or not at all.
func WriteChunks(ctx context.Context, path string, fields []table.Field, chunks iter.Seq2[*table.Chunk, error]) error {
	return files.Write(path, func(w io.Writer) error {
		buf := bufio.NewWriterSize(untilDone{ctx, w}, 1<<20)
		out, err := newChunkWriter(buf, fields, make([]bool, len(fields)), NewParquetFile)
		if err != nil {
			return err
		}
		for c, err := range chunks {
			if err == nil {
				err = out.write(c)
			}
			if err != nil {
				return err
			}
		}
		return errors.Join(out.Close(), buf.Flush())
	})
}

// parquetFile begins a Parquet file, with dictionaries but for plain columns.
func parquetFile(w io.Writer, s *arrow.Schema, codec compress.Compression, plain ...string) (out textWriter, err error) {
	s = asText(s, func(t arrow.DataType) bool { return formOf(t).write == nil })
	var nodes schema.FieldList
	for _, f := range s.Fields() {
		repetition := parquet.Repetitions.Required
		if f.Nullable {
			repetition = parquet.Repetitions.Optional
		}
		form := formOf(f.Type)
		n, err := schema.NewPrimitiveNodeLogical(f.Name, repetition, form.logical, form.physical, form.length, -1)
		if err != nil {
			return out, fmt.Errorf("column %s cannot be written: %w", show(f.Name), err)
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
	return textWriter{&parquetWriter{out: file.NewParquetWriter(w, root, file.WithWriterProps(parquet.NewWriterProperties(properties...))), fields: s.Fields()}, s}, nil
}

// parquetForm is how Parquet has the values of an Arrow type.
type parquetForm struct {
	logical  schema.LogicalType
	physical parquet.Type
	length   int                                                 // of fixed-length bytes, else -1
	write    func(w file.ColumnChunkWriter, a arrow.Array) error // nil: there is no form
}

// integersAs is [each] of integers as T.
func integersAs[T int32 | int64](w file.ColumnChunkWriter, a arrow.Array) error {
	value := integers(a)
	return each(func(_ arrow.Array, i int) T { return T(value(i)) })(w, a)
}

// forms are those of the types that say no more than their name.
var forms = map[arrow.Type]parquetForm{
	arrow.NULL:      {schema.NullLogicalType{}, parquet.Types.Int32, -1, each(func(*array.Null, int) int32 { return 0 })},
	arrow.BOOL:      {schema.NoLogicalType{}, parquet.Types.Boolean, -1, each((*array.Boolean).Value)},
	arrow.INT16:     {schema.NewIntLogicalType(16, true), parquet.Types.Int32, -1, integersAs[int32]},
	arrow.INT32:     {schema.NoLogicalType{}, parquet.Types.Int32, -1, integersAs[int32]},
	arrow.INT64:     {schema.NoLogicalType{}, parquet.Types.Int64, -1, integersAs[int64]},
	arrow.FLOAT32:   {schema.NoLogicalType{}, parquet.Types.Float, -1, each((*array.Float32).Value)},
	arrow.FLOAT64:   {schema.NoLogicalType{}, parquet.Types.Double, -1, each((*array.Float64).Value)},
	arrow.DATE32:    {schema.DateLogicalType{}, parquet.Types.Int32, -1, integersAs[int32]},
	arrow.TIMESTAMP: {schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64, -1, integersAs[int64]},
	arrow.STRING: {schema.StringLogicalType{}, parquet.Types.ByteArray, -1,
		each(func(a *array.String, i int) parquet.ByteArray { return parquet.ByteArray(a.Value(i)) })},
	arrow.DICTIONARY: {schema.StringLogicalType{}, parquet.Types.ByteArray, -1,
		each(func(a *array.Dictionary, i int) parquet.ByteArray { return parquet.ByteArray(word(a, i)) })},
}

// formOf is the form of a type.
func formOf(t arrow.DataType) parquetForm {
	d, ok := t.(*arrow.Decimal128Type)
	form := parquetForm{write: each(decimalBytes), physical: parquet.Types.FixedLenByteArray, length: 16}
	switch {
	case !ok:
		return forms[t.ID()]
	case d.Precision <= maxPrecision:
		form.physical, form.length = parquet.Types.Int64, -1
		form.write = each(func(a *array.Decimal128, i int) int64 { return int64(a.Value(i).LowBits()) })
	}
	form.logical = schema.NewDecimalLogicalType(d.Precision, d.Scale)
	return form
}

// decimalBytes is a decimal's 16 bytes, the first the most significant.
func decimalBytes(a *array.Decimal128, i int) parquet.FixedLenByteArray {
	n, out := a.Value(i), make([]byte, 0, 16)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, uint64(n.HighBits())), n.LowBits())
}

// each writes the values without the NULLs and, where the column may have them,
// definition levels with them.
func each[A arrow.Array, T any](value func(a A, i int) T) func(file.ColumnChunkWriter, arrow.Array) error {
	return func(w file.ColumnChunkWriter, a arrow.Array) error {
		values, levels := make([]T, 0, a.Len()), make([]int16, a.Len())
		for i := range a.Len() {
			if a.DataType().ID() != arrow.NULL && a.IsValid(i) {
				values, levels[i] = append(values, value(a.(A), i)), 1
			}
		}
		_, err := w.(interface {
			WriteBatch([]T, []int16, []int16) (int64, error)
		}).WriteBatch(values, levels, nil)
		return err
	}
}

// Write implements [BatchWriter].
func (p *parquetWriter) Write(b arrow.RecordBatch) error {
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
				sizes[i] += len(word(a, i))
			}
		}
	}
}

// write writes rows with so many bytes of text.
func (p *parquetWriter) write(b arrow.RecordBatch, text int) error {
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
				return fmt.Errorf("column %s: %w", show(p.fields[i].Name), err)
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
func (p *parquetWriter) end() (err error) {
	if p.group != nil {
		err = p.group.Close()
	}
	p.group, p.rows, p.text = nil, 0, 0
	return err
}

// Close ends the file.
func (p *parquetWriter) Close() error {
	if err := p.end(); err != nil {
		return err
	}
	return p.out.Close()
}
