package ingest

import (
	"context"
	"runtime"

	"github.com/stencildb/stencildb/table"
)

// partRoom is about the most that a part of a CSV takes while it is converted: its text, the values, their codes, and
// what is made of those.
const partRoom = 32 << 20

// Parts is how many rows each of the parts has that [ConvertParts] makes of a CSV, some 1 MiB of text each. It is nil of what is no CSV, or can
// be read once only.
func (f *File) Parts() []int {
	if f.csv == nil || f.once {
		return nil
	}
	return f.csv.parts
}

// ColumnFields are the columns of the table, as they are known.
func (f *File) ColumnFields() []table.Field { return f.table.Fields }

// PartBytes estimates what columns of a part take in memory while it is read.
func (f *File) PartBytes(part int, columns []int) (n int64) {
	rows := int64(f.csv.parts[part])
	for _, i := range columns {
		n += f.csv.width(i)*rows + rows/8
		if f.fields[i].Type.Kind == table.Varchar {
			n += 3 * rows * f.csv.sampled.average(i)
		}
	}
	return n
}

// width is how many bytes a code of a column has at most, or about, of text.
func (r *csvReader) width(column int) int64 {
	switch r.fields[column].Type.Kind {
	case table.Boolean:
		return 1
	case table.SmallInt:
		return 2
	case table.Integer, table.Date, table.Real, table.Varchar:
		return 4
	case table.BigInt, table.Decimal:
		if n := r.infer[column].whole + r.infer[column].frac; n > 0 && n < 19 { // unless the type was declared
			most := uint64(2) // one sign and the other
			for range n {
				most *= 10
			}
			return int64(table.CodeWidth(most))
		}
	}
	return 8
}

// ConvertParts reads some columns, at least one, of a CSV that has parts, in one pass over its text, and keeps none of them. of is called with each part on
// several goroutines, and then with what it made, in order. The memory that o allows bounds how many parts are
// there at a time. Errors of the text are those of [File.Read].
func ConvertParts[T any](ctx context.Context, f *File, columns []int, o Options, of func(*table.Chunk) (T, error), then func(part int, t T) error) error {
	type made struct {
		t     T
		rows  int
		read  int64
		fault error // of the text
		err   error // of of
	}
	var failed error // of of or then, which is not the file's
	err := func() (err error) {
		defer f.file.explain(f.src.Path, &err)
		defer f.close()
		if err := f.reopen(ctx); err != nil {
			return err
		}
		defer collect()()
		r, l := f.csv, *f.csv.loader
		l.ctx, l.opts = ctx, o
		workers := runtime.GOMAXPROCS(0)
		if o.MemoryLimit > 0 {
			workers = int(max(1, min(int64(workers), o.MemoryLimit/partRoom)))
		}
		call := func(b block) (m made) {
			c := r.converted(b, columns)
			t := table.NewBuilder(r.name, r.some(columns), 0)
			m.read, m.fault = c.read, c.appendTo(t)
			if m.rows = t.Rows(); m.fault == nil && m.rows > 0 {
				m.t, m.err = of(t.Table().Chunks[0])
			}
			return m
		}
		at := 0
		next := func(m made) error {
			switch {
			case m.fault != nil:
				return m.fault
			case m.rows > 0 && (at == len(r.parts) || m.rows != r.parts[at]):
				return ErrChanged
			case m.rows > 0:
				if failed = m.err; failed == nil {
					failed = then(at, m.t)
				}
				at++
			}
			if failed != nil {
				return failed
			}
			return l.step(nil, m.read, r.size)
		}
		if err := pass(r, workers, call, next); err != nil {
			return err
		}
		if at < len(r.parts) {
			return ErrChanged
		}
		return l.step(nil, r.size, r.size)
	}()
	if failed != nil {
		return failed
	}
	return err
}

// lengths are those of the fields of some records.
type lengths struct {
	records int64
	bytes   []int64 // by column
}

// see takes in records of so many columns.
func (l *lengths) see(fields []field, columns int) {
	l.bytes = make([]int64, columns)
	for i, f := range fields {
		l.bytes[i%columns] += int64(f.to - f.from)
	}
	l.records = int64(len(fields) / columns)
}

func (l *lengths) add(other lengths) {
	if l.records == 0 {
		*l = other
		return
	}
	for i, n := range other.bytes {
		l.bytes[i] += n
	}
	l.records += other.records
}

// average is how long a field of a column is, rounded up.
func (l *lengths) average(column int) int64 {
	if l.records == 0 {
		return 0
	}
	return (l.bytes[column] + l.records - 1) / l.records
}
