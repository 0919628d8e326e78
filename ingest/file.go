package ingest

import (
	"context"
	"os"
	"slices"

	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// File is a source whose columns are known. They are read when they are asked for. What can be read once
// only, and compressed Arrow, is kept in memory until some are asked for, and then all of them are read.
type File struct {
	from      *source.Loader // the first, where there are several
	fields    []table.Field
	groups    columnar.Groups
	text      *record.Reader // of CSV and JSON, which have no groups
	once      bool           // all columns are read at once
	rows      int
	chunkRows int
	table     *table.Table    // what has been read
	inputs    []*source.Input // that it is read from
}

// Read reads columns, by their numbers, as far as that has not been done, and returns the
// table with them. A column with a value that its type cannot hold is an unsupported field
// from then on. A file that is not what it was when it was opened is an error.
func (f *File) Read(ctx context.Context, columns []int, o Options) (t *table.Table, err error) {
	read := func(i int) bool { return f.table.Fields[i].Unsupported != "" || f.table.Has([]int{i}) }
	left := slices.DeleteFunc(slices.Clone(columns), read)
	if len(left) == 0 {
		return f.table, ctx.Err()
	}
	if f.once {
		left = slices.DeleteFunc(f.table.All(), read)
	}
	slices.Sort(left)
	defer f.from.Input.Explain(f.from.Source.Path, &err)
	defer f.close()
	if err := f.reopen(ctx); err != nil {
		return nil, err
	}
	if err := f.add(ctx, left, o); err != nil {
		return nil, err
	}
	if f.once {
		f.letGo()
	}
	return f.table, nil
}

// reopen opens the inputs again, which close closes.
func (f *File) reopen(ctx context.Context) error {
	for _, in := range f.inputs {
		if err := in.Reopen(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) close() {
	for _, in := range f.inputs {
		in.Close()
	}
}

// Close closes the temporary files of what came through pipes: nothing more is read then. It may be called while something is, and twice.
func (f *File) Close() {
	for _, in := range f.inputs {
		in.Drop()
	}
}

// letGo gives the data of a source back of which all has been read.
func (f *File) letGo() {
	f.groups, f.text, f.once, f.from.Source.Data = nil, nil, false, nil
	for _, in := range f.inputs {
		if in.Once() {
			*in = *source.InMemory(nil)
		}
	}
}

// Fields is how many columns the file has.
func (f *File) Fields() int { return len(f.fields) }

// Path is that of the source, without options.
func (f *File) Path() string { return f.from.Source.Path }

// Unread is f as if nothing had been read of it; nil where that cannot be read again, as what is read as a whole. The two must not be read at
// the same time.
func (f *File) Unread() *File {
	if f.rows > 0 && len(f.groups) == 0 && f.text == nil {
		return nil
	}
	out := *f
	out.table = columnar.Snapshot(f.table)
	for _, c := range out.table.Chunks {
		clear(c.Segments)
	}
	return &out
}

// add puts columns into the table.
func (f *File) add(ctx context.Context, columns []int, o Options) error {
	if f.text != nil {
		if coming := o.Coming; coming != nil {
			o.Coming = func(t *table.Table) func(chunk, col int, s *table.Segment) {
				there := coming(f.with(t, columns))
				return func(chunk, col int, s *table.Segment) { there(chunk, columns[col], s) }
			}
		}
		t, err := f.text.Convert(ctx, columns, o)
		if err == nil {
			f.table = f.with(t, columns)
		}
		return err
	}
	next, err := f.groups.Read(ctx, f.table, f.chunkRows, columns, o)
	if err == nil {
		f.table = next
	}
	return err
}

// with is the table's next snapshot with a table of some of its columns.
func (f *File) with(t *table.Table, columns []int) *table.Table {
	next := columnar.Snapshot(f.table)
	for i, c := range t.Chunks {
		for k, col := range columns {
			next.Chunks[i].Segments[col] = c.Segments[k]
		}
	}
	return next
}

// Changed reports that the path is no more what it was when the file was opened.
func (f *File) Changed() bool {
	return slices.ContainsFunc(f.inputs, func(in *source.Input) bool {
		if in.Info == nil { // of no file
			return false
		}
		now, err := os.Stat(in.Path)
		return err != nil || in.Differs(now)
	})
}
