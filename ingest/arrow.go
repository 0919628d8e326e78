package ingest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

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
	var fields []table.Field
	m, s, err := l.openArrow()
	if err != nil {
		return nil, err
	}
	for _, f := range s.Schema().Fields() {
		t, why := arrowType(f.Type)
		fields = append(fields, table.Field{Name: f.Name, Type: t, Unsupported: why})
	}
	m.close()
	if err := l.distinctNames(fields); err != nil {
		return nil, err
	}
	return l.without(fields, func() (*table.Table, error) { return l.arrowRows(fields) })
}

// openArrow reads up to the schema.
func (l *loader) openArrow() (*messages, *ipc.Reader, error) {
	in, err := l.open()
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReader(in)
	magic, err := r.Peek(8)
	m := &messages{r: r, close: func() { in.Close() }, file: bytes.HasPrefix(magic, arrowMagic), size: l.in.size}
	what := "neither an Arrow file nor a stream"
	switch {
	case err != nil && err != io.EOF:
		m.close()
		return nil, nil, err
	case bytes.HasPrefix(magic, []byte("FEA1")):
		m.close()
		return nil, nil, fmt.Errorf("version 1 of Feather is not supported: write it again as version 2")
	case m.file:
		what = "not a complete Arrow file"
		r.Discard(len(magic)) // which have been looked at
	}
	s, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(l.allocator()))
	if err != nil {
		m.close()
		return nil, nil, damaged(err, "%s: its schema", what)
	}
	return m, s, nil
}

// arrowType maps a type, or says why it cannot be used.
func arrowType(dt arrow.DataType) (t table.Type, unsupported string) {
	kind := func(k table.Kind) (table.Type, string) { return table.Type{Kind: k}, "" }
	switch dt := dt.(type) {
	case *arrow.NullType:
		return kind(table.Unknown)
	case *arrow.BooleanType:
		return kind(table.Boolean)
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Uint8Type:
		return kind(table.SmallInt)
	case *arrow.Int32Type, *arrow.Uint16Type:
		return kind(table.Integer)
	case *arrow.Int64Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return kind(table.BigInt)
	case *arrow.Float16Type, *arrow.Float32Type:
		return kind(table.Real)
	case *arrow.Float64Type:
		return kind(table.Double)
	case *arrow.Date32Type, *arrow.Date64Type:
		return kind(table.Date)
	case *arrow.TimestampType:
		if dt.Unit == arrow.Nanosecond {
			return t, "timestamps in nanoseconds"
		}
		return kind(table.Timestamp)
	case *arrow.DurationType:
		if dt.Unit == arrow.Nanosecond {
			return t, "durations in nanoseconds"
		}
		return kind(table.Interval)
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return kind(table.Varchar)
	case *arrow.DictionaryType:
		if _, nested := dt.ValueType.(*arrow.DictionaryType); !nested {
			return arrowType(dt.ValueType)
		}
	case *arrow.Decimal32Type, *arrow.Decimal64Type, *arrow.Decimal128Type:
		d := dt.(arrow.DecimalType)
		return decimalType(d.GetPrecision(), d.GetScale())
	}
	return t, "type " + show(dt.String())
}

func (l *loader) arrowRows(fields []table.Field) (*table.Table, error) {
	m, s, err := l.openArrow()
	if err != nil {
		return nil, err
	}
	defer m.close()
	b := table.NewBuilder(l.name, fields, l.opts.ChunkRows)
	done := int64(0)
	for s.Next() {
		rec := s.RecordBatch()
		// A column of NULLs takes no room, so nothing else bounds their number.
		if n := rec.NumRows(); n < 0 || n > 1<<20+l.in.size<<14 {
			return nil, damagef("a record batch of %d rows in a file of %s", n, size(l.in.size))
		}
		rows := int(rec.NumRows())
		for from := 0; from < rows; {
			n := min(rows-from, b.Room(), columnBatch)
			for i := range fields {
				if fields[i].Unsupported != "" {
					continue
				}
				if err := appendArrow(b.Column(i), fields[i].Type, rec.Column(i), from, from+n); err != nil {
					if why, ok := err.(overflow); ok {
						return nil, &badColumn{i, string(why)}
					}
					return nil, damaged(err, "column %s, rows %d to %d", show(fields[i].Name), done+1, done+int64(n))
				}
			}
			if err := b.EndRows(n); err != nil {
				return nil, err
			}
			from, done = from+n, done+int64(n)
			if err := l.step(b, m.read, l.in.size); err != nil {
				return nil, err
			}
		}
	}
	if err := s.Err(); err != nil && err != io.EOF {
		return nil, damaged(err, "after %s", numbers.Count(done, "row", "rows"))
	}
	if err := l.step(b, l.in.size, l.in.size); err != nil {
		return nil, err
	}
	return b.Table(), nil
}

// appendArrow appends rows from..to-1 of an array.
func appendArrow(c *table.ColumnBuilder, t table.Type, a arrow.Array, from, to int) error {
	put, err := arrowPutter(c, t, a)
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if a.IsNull(i) {
			c.Null()
			continue
		}
		if err := put(i); err != nil {
			return err
		}
	}
	return nil
}

// arrowPutter returns the function that appends element i, which is not NULL.
func arrowPutter(c *table.ColumnBuilder, t table.Type, a arrow.Array) (func(i int) error, error) {
	putInt := func(v int64) error {
		if !t.Holds(v) {
			return outOf(t)
		}
		c.Int(v)
		return nil
	}
	micros := func(u arrow.TimeUnit, value func(i int) int64) func(i int) error {
		scale := int64(u.Multiplier() / time.Microsecond)
		return func(i int) error {
			v := value(i)
			us := v * scale
			if us/scale != v {
				return outOf(t)
			}
			return putInt(us)
		}
	}
	switch a := a.(type) {
	case *array.Boolean:
		return func(i int) error { return putInt(table.Bool(a.Value(i)).I) }, nil
	case *array.Int8:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Int16:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Int32:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Int64:
		return func(i int) error { return putInt(a.Value(i)) }, nil
	case *array.Uint8:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Uint16:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Uint32:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Uint64:
		return func(i int) error {
			if v := a.Value(i); v>>63 == 0 {
				return putInt(int64(v))
			}
			return outOf(t)
		}, nil
	case *array.Float16:
		return func(i int) error { c.Float(float64(a.Value(i).Float32())); return nil }, nil
	case *array.Float32:
		return func(i int) error { c.Float(float64(a.Value(i))); return nil }, nil
	case *array.Float64:
		return func(i int) error { c.Float(a.Value(i)); return nil }, nil
	case *array.Date32:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Date64:
		return func(i int) error { return putInt(floorDiv(int64(a.Value(i)), 24*60*60*1000)) }, nil
	case *array.Timestamp:
		return micros(a.DataType().(*arrow.TimestampType).Unit, func(i int) int64 { return int64(a.Value(i)) }), nil
	case *array.Duration:
		return micros(a.DataType().(*arrow.DurationType).Unit, func(i int) int64 { return int64(a.Value(i)) }), nil
	case *array.Decimal32:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Decimal64:
		return func(i int) error { return putInt(int64(a.Value(i))) }, nil
	case *array.Decimal128:
		return func(i int) error {
			v := a.Value(i)
			if lo := int64(v.LowBits()); v.HighBits() == lo>>63 {
				return putInt(lo)
			}
			return outOf(t)
		}, nil
	case *array.Dictionary:
		put, err := arrowPutter(c, t, a.Dictionary())
		if err != nil {
			return nil, err
		}
		values := a.Dictionary()
		return func(i int) error {
			k := a.GetValueIndex(i)
			switch {
			case k < 0 || k >= values.Len():
				return damagef("index %d into a dictionary of %d", k, values.Len())
			case values.IsNull(k):
				c.Null()
				return nil
			}
			return put(k)
		}, nil
	case *array.Null:
		return func(int) error { c.Null(); return nil }, nil // it has no validity
	}
	if s, ok := a.(interface{ Value(int) string }); ok && t.Kind == table.Varchar {
		return func(i int) error {
			v := s.Value(i)
			if !utf8.ValidString(v) {
				return damagef("text that is not valid UTF-8")
			}
			c.String(v)
			return nil
		}, nil
	}
	return nil, fmt.Errorf("unexpected type %s", a.DataType())
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
