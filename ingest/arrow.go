package ingest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

var arrowMagic = []byte("ARROW1")

// arrow reads an Arrow IPC stream, or a file (Feather version 2), which is a stream
// between magic words and with a footer, batch by batch.
func (l *loader) arrow() (*table.Table, error) {
	in, err := l.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := bufio.NewReader(in)
	magic, err := r.Peek(8)
	m := &messages{r: r, file: bytes.HasPrefix(magic, arrowMagic), size: l.file.Size()}
	what := "neither an Arrow file nor a stream"
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case bytes.HasPrefix(magic, []byte("FEA1")):
		return nil, fmt.Errorf("version 1 of Feather is not supported: write it again as version 2")
	case m.file:
		what = "not a complete Arrow file"
		r.Discard(len(magic)) // which have been looked at
	}
	s, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(l.allocator()))
	if err != nil {
		return nil, damaged(err, "%s: its schema", what)
	}
	var fields []table.Field
	for _, f := range s.Schema().Fields() {
		t, why := arrowType(f.Type)
		fields = append(fields, table.Field{Name: f.Name, Type: t, Unsupported: why})
	}
	return l.columnar(fields, func(yield func(group, error) bool) {
		rows := int64(0)
		for s.Next() {
			rec := s.RecordBatch()
			// A column of NULLs takes no room, so nothing else bounds their number.
			if n := rec.NumRows(); n < 0 || n > 1<<20+l.file.Size()<<14 {
				err = damagef("a record batch of %d rows in a file of %s", n, size(l.file.Size()))
			}
			rows += rec.NumRows()
			column := func(i int) (func(int) (arrow.Array, error), error) {
				a, at := rec.Column(i), 0
				return func(n int) (arrow.Array, error) {
					at += n
					return array.NewSlice(a, int64(at-n), int64(at)), nil
				}, nil
			}
			if !yield(group{rec.NumRows(), m.read, column}, err) {
				return
			}
		}
		if err := s.Err(); err != nil && err != io.EOF {
			yield(group{}, damaged(err, "after %s", numbers.Count(rows, "row", "rows")))
		}
	})
}

// arrowKinds are the types of Arrow's types that say no more than their name.
var arrowKinds = map[arrow.Type]table.Kind{
	arrow.NULL: table.Unknown, arrow.BOOL: table.Boolean, arrow.INT8: table.SmallInt, arrow.INT16: table.SmallInt, arrow.UINT8: table.SmallInt,
	arrow.INT32: table.Integer, arrow.UINT16: table.Integer, arrow.INT64: table.BigInt, arrow.UINT32: table.BigInt, arrow.UINT64: table.BigInt,
	arrow.FLOAT16: table.Real, arrow.FLOAT32: table.Real, arrow.FLOAT64: table.Double, arrow.DATE32: table.Date, arrow.DATE64: table.Date,
	arrow.TIMESTAMP: table.Timestamp, arrow.DURATION: table.Interval,
	arrow.STRING: table.Varchar, arrow.LARGE_STRING: table.Varchar, arrow.STRING_VIEW: table.Varchar,
}

// arrowType maps a type, or says why it cannot be used.
func arrowType(dt arrow.DataType) (t table.Type, unsupported string) {
	kind, known := arrowKinds[dt.ID()]
	switch t := dt.(type) {
	case arrow.TemporalWithUnit:
		if known && t.TimeUnit() == arrow.Nanosecond {
			return table.Type{}, t.Name() + "s in nanoseconds"
		}
	case *arrow.DictionaryType:
		if t.ValueType.ID() != arrow.DICTIONARY {
			return arrowType(t.ValueType)
		}
	case *arrow.Decimal32Type, *arrow.Decimal64Type, *arrow.Decimal128Type:
		d := dt.(arrow.DecimalType)
		return decimalType(d.GetPrecision(), d.GetScale())
	}
	if !known {
		unsupported = "type " + show(dt.String())
	}
	return table.Type{Kind: kind}, unsupported
}
