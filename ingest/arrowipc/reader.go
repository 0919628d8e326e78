package arrowipc

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

var magic = []byte("ARROW1")

// Open reads an Arrow IPC stream, or a file (Feather version 2), which is a stream
// between magic words and with a footer. A file is mapped, not read. What is compressed takes
// memory until columns have been read, so that all of them are at once: once says so.
func Open(l *source.Loader) (fields []table.Field, list columnar.Groups, once bool, err error) {
	data, mapped, err := l.Content()
	if err != nil {
		return nil, nil, false, err
	}
	m, what := &messages{data: data}, "neither an Arrow file nor a stream"
	switch {
	case bytes.HasPrefix(data, []byte("FEA1")):
		return nil, nil, false, sqlstate.Errorf(sqlstate.FeatureNotSupported, "version 1 of Feather is not supported: write it again as version 2")
	case bytes.HasPrefix(data, magic):
		what, m.file, m.data = "not a complete Arrow file", true, data[min(len(data), 8):]
	}
	s, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(l.Allocator()), ipc.WithEnsureNativeEndian(false)) // swapping would be in place, and the file is mapped
	if err != nil {
		return nil, nil, false, source.Damaged(err, "%s: its schema", what)
	}
	if !s.Schema().IsNativeEndian() {
		return nil, nil, false, sqlstate.Errorf(sqlstate.FeatureNotSupported, "its numbers are big-endian, which is not supported: write it on a little-endian machine, or as Parquet or CSV")
	}
	for _, f := range s.Schema().Fields() {
		t, why := arrays.ColumnType(f.Type)
		fields = append(fields, table.Field{Name: f.Name, Type: t, Unsupported: why})
	}
	rows := int64(0)
	for s.Next() {
		rec := s.RecordBatch()
		rec.Retain()
		n, read := rec.NumRows(), m.read/int64(max(1, len(fields)))
		// A column of NULLs takes no room, so nothing else bounds their number.
		if n < 0 || n > 1<<20+l.Input.Size()<<14 {
			return nil, nil, false, source.Damagef("a record batch of %d rows in a file of %s", n, source.ShowSize(l.Input.Size()))
		}
		rows += n
		list = append(list, columnar.Group{
			Rows: int(n),
			Column: func(col int) (func(int) (arrow.Array, error), error) {
				a, at := rec.Column(col), 0
				return func(n int) (arrow.Array, error) {
					at += n
					return array.NewSlice(a, int64(at-n), int64(at)), nil
				}, nil
			},
			Stated: func(int) columnar.Statistics { return columnar.Unstated },
			Bytes:  func(int) int64 { return read },
			Name:   fmt.Sprintf("record batch %d", len(list)),
		})
		m.read = 0
	}
	if err := s.Err(); err != nil && err != io.EOF {
		return nil, nil, false, source.Damaged(err, "after %s", numbers.Count(rows, "row", "rows"))
	}
	return fields, list, m.packed || !mapped, nil
}
