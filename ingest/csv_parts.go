package ingest

import (
	"context"

	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// Parts is how many rows each of the parts has that [ConvertParts] makes of a CSV, some 1 MiB of text each. It is nil of what is no CSV, or can
// be read once only.
func (f *File) Parts() []int {
	if f.text == nil || f.once {
		return nil
	}
	return f.text.PartRows
}

// ColumnFields are the columns of the table, as they are known.
func (f *File) ColumnFields() []table.Field { return f.table.Fields }

// PartBytes estimates what columns of a part take in memory while it is read.
func (f *File) PartBytes(part int, columns []int) int64 { return f.text.PartBytes(part, columns) }

// ConvertParts reads some columns, at least one, of a CSV that has parts, in one pass over its text, and keeps none of them. of is called with each part on
// several goroutines, and then with what it made, in order. The memory that o allows bounds how many parts are
// there at a time. Errors of the text are those of [File.Read].
func ConvertParts[T any](ctx context.Context, f *File, columns []int, o Options, of func(*table.Chunk) (T, error), then func(part int, t T) error) error {
	var failed error // of of or then, which is not the file's
	err := func() (err error) {
		defer f.from.Input.Explain(f.from.Source.Path, &err)
		defer f.close()
		if err := f.reopen(ctx); err != nil {
			return err
		}
		defer source.LimitGarbage()()
		failed, err = record.ConvertParts(ctx, f.text, columns, o, of, then)
		return err
	}()
	if failed != nil {
		return failed
	}
	return err
}
