package ingest

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

var arrowMagic = []byte("ARROW1")

// arrow reads an Arrow IPC stream, or a file (Feather version 2), which is a stream
// between magic words and with a footer. A file is mapped, not read. What is compressed takes
// memory until columns have been read, so that all of them are at once.
func (l *loader) arrow() (*File, error) {
	data, mapped, err := l.text()
	if err != nil {
		return nil, err
	}
	m, what := &messages{data: data}, "neither an Arrow file nor a stream"
	switch {
	case bytes.HasPrefix(data, []byte("FEA1")):
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "version 1 of Feather is not supported: write it again as version 2")
	case bytes.HasPrefix(data, arrowMagic):
		what, m.file, m.data = "not a complete Arrow file", true, data[min(len(data), 8):]
	}
	s, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(l.allocator()), ipc.WithEnsureNativeEndian(false)) // swapping would be in place, and the file is mapped
	if err != nil {
		return nil, damaged(err, "%s: its schema", what)
	}
	if !s.Schema().IsNativeEndian() {
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "its numbers are big-endian, which is not supported: write it on a little-endian machine, or as Parquet or CSV")
	}
	var fields []table.Field
	for _, f := range s.Schema().Fields() {
		t, why := arrowType(f.Type)
		fields = append(fields, table.Field{Name: f.Name, Type: t, Unsupported: why})
	}
	var groups []group
	rows := int64(0)
	for s.Next() {
		rec := s.RecordBatch()
		rec.Retain()
		n, read := rec.NumRows(), m.read/int64(max(1, len(fields)))
		// A column of NULLs takes no room, so nothing else bounds their number.
		if n < 0 || n > 1<<20+l.file.Size()<<14 {
			return nil, damagef("a record batch of %d rows in a file of %s", n, size(l.file.Size()))
		}
		rows += n
		groups = append(groups, group{
			rows: int(n),
			column: func(col int) (func(int) (arrow.Array, error), error) {
				a, at := rec.Column(col), 0
				return func(n int) (arrow.Array, error) {
					at += n
					return array.NewSlice(a, int64(at-n), int64(at)), nil
				}, nil
			},
			stated: func(int) statistics { return unstated },
			bytes:  func(int) int64 { return read },
			name:   fmt.Sprintf("record batch %d", len(groups)),
		})
		m.read = 0
	}
	if err := s.Err(); err != nil && err != io.EOF {
		return nil, damaged(err, "after %s", numbers.Count(rows, "row", "rows"))
	}
	f, err := l.columnar(fields, groups)
	if err != nil {
		return nil, err
	}
	f.once = m.packed || !mapped
	return f, nil
}

// arrowKinds are the types of Arrow's types that say no more than their name.
var arrowKinds = map[arrow.Type]table.Kind{
	arrow.NULL: table.Unknown, arrow.BOOL: table.Boolean, arrow.INT8: table.SmallInt, arrow.INT16: table.SmallInt, arrow.UINT8: table.SmallInt,
	arrow.INT32: table.Integer, arrow.UINT16: table.Integer, arrow.INT64: table.BigInt, arrow.UINT32: table.BigInt, arrow.UINT64: table.BigInt,
	arrow.FLOAT16: table.Real, arrow.FLOAT32: table.Real, arrow.FLOAT64: table.Double, arrow.DATE32: table.Date, arrow.DATE64: table.Date,
	arrow.TIMESTAMP: table.Timestamp, arrow.DURATION: table.Interval, arrow.INTERVAL_MONTH_DAY_NANO: table.Interval,
	arrow.STRING: table.Varchar, arrow.LARGE_STRING: table.Varchar, arrow.STRING_VIEW: table.Varchar,
}

// arrowType maps a type, or says why it cannot be used.
func arrowType(dt arrow.DataType) (t table.Type, unsupported string) {
	kind, known := arrowKinds[dt.ID()]
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		if t.ValueType.ID() != arrow.DICTIONARY {
			return arrowType(t.ValueType)
		}
	case *arrow.Decimal32Type, *arrow.Decimal64Type, *arrow.Decimal128Type, *arrow.Decimal256Type:
		d := dt.(arrow.DecimalType)
		return decimalType(d.GetPrecision(), d.GetScale())
	}
	if !known {
		unsupported = "type " + show(dt.String())
	}
	return table.Type{Kind: kind}, unsupported
}
