package cmd

import (
	"bufio"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

// columnarFormat writes one result set as record batches.
type columnarFormat struct {
	oneSet
	name string
	w    io.Writer
	open func(io.Writer, *arrow.Schema) (batchWriter, error)
}

// batchWriter is a file of record batches on its way.
type batchWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

func (f *columnarFormat) rows(r *engine.Rows) (err error) {
	if len(r.Columns()) == 0 {
		return nil
	}
	if err := f.begin(f.name); err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(f.w, 1<<16)
	out, err := f.open(buffer, r.Schema())
	if err != nil {
		return err
	}
	for b, failed := range r.Batches() {
		if failed != nil { // the caller asks for it
			return nil
		}
		err := out.Write(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return buffer.Flush()
}

func (f *columnarFormat) failed(string, error) error { return nil }
func (f *columnarFormat) close() error               { return nil }

// arrowStream opens an Arrow IPC file, or the stream format where the output is no
// file. The file format has one dictionary a column, and chunks of a table have each
// their own, so that text is plain there.
func arrowStream(file bool) func(io.Writer, *arrow.Schema) (batchWriter, error) {
	return func(w io.Writer, s *arrow.Schema) (batchWriter, error) {
		if !file {
			return ipc.NewWriter(w, ipc.WithSchema(s)), nil
		}
		s = plainText(s)
		out, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
		return textWriter{out, s}, err
	}
}

// parquetFile opens a Parquet file.
func parquetFile(w io.Writer, s *arrow.Schema) (batchWriter, error) {
	return ingest.NewParquetWriter(w, s)
}

// plainText is a schema with text in the place of dictionaries of it.
func plainText(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if d, ok := f.Type.(*arrow.DictionaryType); ok {
			fields[i].Type = d.ValueType
		}
	}
	return arrow.NewSchema(fields, nil)
}

// textWriter writes dictionaries as the text that they stand for.
type textWriter struct {
	batchWriter
	schema *arrow.Schema
}

// Write implements batchWriter.
func (t textWriter) Write(r arrow.RecordBatch) error {
	columns := make([]arrow.Array, r.NumCols())
	for i, a := range r.Columns() {
		columns[i] = a
		if d, ok := a.(*array.Dictionary); ok {
			columns[i] = decoded(d)
		}
	}
	return t.batchWriter.Write(array.NewRecordBatch(t.schema, columns, r.NumRows()))
}

func decoded(d *array.Dictionary) arrow.Array {
	words := d.Dictionary().(*array.String)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(d.Len())
	for i := range d.Len() {
		if d.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(words.Value(d.GetValueIndex(i)))
		}
	}
	return b.NewArray()
}
