package ingest

import (
	"context"
	"io"

	"github.com/stencildb/stencildb/table"
)

// What WriteFile does with an open file.
var (
	WriteCSV     = delimited(',')
	WriteArrow   = batches(NewArrowFile)
	WriteParquet = batches(NewParquetFile)
)

// BlockBytes sets how much text of a CSV is scanned at a time.
func BlockBytes(n int) { blockBytes = n }

// FieldsUpTo sets the longest field, and says what it was.
func FieldsUpTo(n int) (before int) {
	before, maxField = maxField, n
	return before
}

// LoadFrom is what Load does with an open file.
func LoadFrom(ctx context.Context, name string, s Source, file io.ReaderAt, size int64, o Options) (t *table.Table, err error) {
	in := &input{SectionReader: io.NewSectionReader(file, 0, size)}
	f, err := opened([]*loader{{ctx: ctx, name: name, src: s, file: in, opts: o}}, s.Path)
	if err != nil {
		return nil, err
	}
	return f.Read(ctx, f.table.All(), o)
}

// Held is how many bytes of a source in memory a file keeps.
func Held(f *File) (n int) {
	for _, in := range f.inputs {
		n += len(in.data)
	}
	return n + len(f.src.Data)
}

// Present counts definition levels that are 1.
var Present = present

// Classify is what text looks like, and the digits of an integer or a DECIMAL.
func Classify(text []byte) (name string, whole, frac int) {
	k, d := classify(text)
	return [classes]string{"int", "long", "decimal", "float", "code", "huge", "beyond", "zeros", "word", "null", "empty", "date", "timestamp", "bool", "quoted", "text"}[k], d.whole, d.frac
}
