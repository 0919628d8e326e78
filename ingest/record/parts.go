package record

import (
	"context"
	"runtime"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// partRoom is about the most that a part of a CSV takes while it is converted. It has room for its text, the values,
// their codes, and what is made of those.
const partRoom = 32 << 20

// PartBytes estimates what columns of a part take in memory while it is read.
func (r *Reader) PartBytes(part int, columns []int) (n int64) {
	rows := int64(r.PartRows[part])
	for _, i := range columns {
		n += r.width(i)*rows + rows/8
		if r.Fields[i].Type.Kind == table.Varchar {
			n += 3 * rows * r.sampled.average(i)
		}
	}
	return n
}

// width is how many bytes a code of a column has at most, or about, of text.
func (r *Reader) width(column int) int64 {
	switch r.Fields[column].Type.Kind {
	case table.Boolean:
		return 1
	case table.SmallInt:
		return 2
	case table.Integer, table.Date, table.Real, table.Varchar:
		return 4
	case table.BigInt, table.Decimal:
		if n := r.Inferred[column].Whole + r.Inferred[column].Frac; n > 0 && n < 19 { // unless the type was declared
			most := uint64(2) // one sign and the other
			for range n {
				most *= 10
			}
			return int64(table.CodeWidth(most))
		}
	}
	return 8
}

// ConvertParts reads some columns, at least one, in one pass over the text, and keeps none of them. of is called with each part on
// several goroutines, and then with what it made, in order. The memory that o allows bounds how many parts are
// there at a time. failed is the error of of or then, err that of the text.
func ConvertParts[T any](ctx context.Context, r *Reader, columns []int, o source.Options, of func(*table.Chunk) (T, error), then func(part int, t T) error) (failed, err error) {
	type made struct {
		t     T
		rows  int
		read  int64
		fault error // of the text
		err   error // of of
	}
	l := *r.Loader
	l.Ctx, l.Options = ctx, o
	workers := runtime.GOMAXPROCS(0)
	if o.MemoryLimit > 0 {
		workers = int(max(1, min(int64(workers), o.MemoryLimit/partRoom)))
	}
	call := func(b Block) (m made) {
		c := r.converted(b, columns)
		t := table.NewBuilder(r.Name, r.some(columns), 0)
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
		case m.rows > 0 && (at == len(r.PartRows) || m.rows != r.PartRows[at]):
			return source.ErrChanged
		case m.rows > 0:
			if failed = m.err; failed == nil {
				failed = then(at, m.t)
			}
			at++
		}
		if failed != nil {
			return failed
		}
		return l.Step(nil, m.read, r.size)
	}
	if err := Pass(r, workers, call, next); err != nil {
		return failed, err
	}
	if at < len(r.PartRows) {
		return nil, source.ErrChanged
	}
	return nil, l.Step(nil, r.size, r.size)
}
