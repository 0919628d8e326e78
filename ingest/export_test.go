package ingest

import (
	"context"
	"io"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/arrowipc"
	"github.com/stencildb/stencildb/ingest/csv"
	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// What WriteFile does with an open file.
var (
	WriteCSV     = csv.Writer(',')
	WriteArrow   = arrays.TableWriter(arrowipc.NewFile)
	WriteParquet = arrays.TableWriter(parquet.NewWriter)
)

// BlockBytes sets how much text of a CSV is scanned at a time.
func BlockBytes(n int) { record.BlockBytes = n }

// FieldsUpTo sets the longest field, and says what it was.
func FieldsUpTo(n int) (before int) {
	before, record.MaxField = record.MaxField, n
	return before
}

// LoadFrom is what Load does with an open file.
func LoadFrom(ctx context.Context, name string, s Source, file io.ReaderAt, size int64, o Options) (t *table.Table, err error) {
	in := &source.Input{SectionReader: io.NewSectionReader(file, 0, size)}
	f, err := opened([]*source.Loader{{Ctx: ctx, Name: name, Source: s, Input: in, Options: o}}, s.Path)
	if err != nil {
		return nil, err
	}
	return f.Read(ctx, f.table.All(), o)
}

// Held is how many bytes of a source in memory a file keeps.
func Held(f *File) (n int) {
	for _, in := range f.inputs {
		n += len(in.Data)
	}
	return n + len(f.from.Source.Data)
}

// Classify is what text looks like, and the digits of an integer or a DECIMAL.
func Classify(text []byte) (name string, whole, frac int) {
	k, d := inference.Classify(text)
	return [inference.Classes]string{"int", "long", "decimal", "float", "code", "huge", "beyond", "zeros", "word", "null", "empty", "date", "timestamp", "bool", "quoted", "text"}[k], d.Whole, d.Frac
}
