package ingest

import (
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/stencildb/stencildb/table"
)

// columnBatch is how many values of a column are decoded at a time.
const columnBatch = 1 << 14

// group is some of the rows of a file that has them column by column: a row group of a
// Parquet file, a record batch of Arrow. Each column can be read by itself.
type group struct {
	rows int64
	read int64 // bytes of the file up to its end
	// column begins to read a column; next returns its next n rows as an array.
	column func(i int) (next func(n int) (arrow.Array, error), err error)
}

// overflow is the error of a value beyond the range of its column's type: the column is
// left out, and naming it in a query is the error.
type overflow string

func (o overflow) Error() string { return string(o) }

func outOf(t table.Type) error { return overflow("a value out of range for " + t.String()) }

// columnar reads the supported fields of a file, group by group.
func (l *loader) columnar(fields []table.Field, groups iter.Seq2[group, error]) (*table.Table, error) {
	if err := l.distinctNames(fields); err != nil {
		return nil, err
	}
	b := table.NewBuilder(l.name, fields, l.opts.ChunkRows)
	row, read := int64(0), int64(0)
	for g, err := range groups {
		if err != nil {
			return nil, err
		}
		next := make([]func(int) (arrow.Array, error), len(fields))
		for i, f := range fields {
			if f.Unsupported != "" {
				continue
			}
			if next[i], err = g.column(i); err != nil {
				return nil, err
			}
		}
		for done := int64(0); done < g.rows; {
			n := int(min(g.rows-done, int64(b.Room()), columnBatch))
			for i, f := range fields {
				if next[i] == nil {
					continue
				}
				a, err := next[i](n)
				if err == nil {
					err = appendArray(b.Column(i), f.Type, a)
				}
				if why, ok := err.(overflow); ok {
					b.Drop(i, string(why))
					next[i], fields[i].Unsupported = nil, string(why)
				} else if err != nil {
					return nil, damaged(err, "column %s, rows %d to %d", show(f.Name), row+1, row+int64(n))
				}
			}
			if err := b.EndRows(n); err != nil {
				return nil, err
			}
			row, done = row+int64(n), done+int64(n)
			if err := l.step(b, read+(g.read-read)*done/g.rows, l.file.Size()); err != nil {
				return nil, err
			}
		}
		read = g.read
	}
	if err := l.step(b, l.file.Size(), l.file.Size()); err != nil {
		return nil, err
	}
	return b.Table(), nil
}

// appendArray appends an array's elements.
func appendArray(c *table.ColumnBuilder, t table.Type, a arrow.Array) error {
	put, err := putter(c, t, a)
	if err != nil {
		return err
	}
	nulls := a.NullN() > 0
	for i := range a.Len() {
		if nulls && a.IsNull(i) {
			c.Null()
		} else if err := put(i); err != nil {
			return err
		}
	}
	return nil
}

// putter returns the function that appends element i, which is not NULL.
func putter(c *table.ColumnBuilder, t table.Type, a arrow.Array) (func(i int) error, error) {
	lo, hi := t.Limits()
	putInt := func(v int64) error {
		if v < lo || v > hi {
			return outOf(t)
		}
		c.Int(v)
		return nil
	}
	value := integers(a)
	switch temporal, ok := a.DataType().(arrow.TemporalWithUnit); {
	case a.DataType().ID() == arrow.NULL: // it has no validity
		return func(int) error { c.Null(); return nil }, nil
	case t.Kind == table.Unknown:
		return func(int) error { return damagef("a value in a column of nulls") }, nil
	case value != nil && ok:
		scale := int64(temporal.TimeUnit().Multiplier() / time.Microsecond)
		return func(i int) error {
			v := value(i)
			if v*scale/scale != v {
				return outOf(t)
			}
			return putInt(v * scale)
		}, nil
	case value != nil:
		return func(i int) error { return putInt(value(i)) }, nil
	}
	switch a := a.(type) {
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
	case *array.Decimal128:
		return func(i int) error {
			v := a.Value(i)
			if lo := int64(v.LowBits()); v.HighBits() == lo>>63 {
				return putInt(lo)
			}
			return outOf(t)
		}, nil
	case *array.Dictionary:
		values := a.Dictionary()
		put, err := putter(c, t, values)
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
		}, err
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
	if s, ok := a.(interface{ Value(int) []byte }); ok && t.Kind == table.Decimal { // of Parquet
		return func(i int) error {
			if v, ok := bigEndian(s.Value(i)); ok {
				return putInt(v)
			}
			return outOf(t)
		}, nil
	}
	return nil, fmt.Errorf("unexpected type %s", a.DataType())
}

// integers returns the function that reads element i of an array of integers of up to 64
// bits with a sign, among them days, milliseconds as days, times in their unit, unscaled
// decimals and booleans; nil for other arrays.
func integers(a arrow.Array) func(i int) int64 {
	switch d := a.Data(); a.DataType().ID() {
	case arrow.BOOL:
		return func(i int) int64 { return table.Bool(a.(*array.Boolean).Value(i)).I }
	case arrow.INT8:
		return values[int8](d)
	case arrow.UINT8:
		return values[uint8](d)
	case arrow.INT16:
		return values[int16](d)
	case arrow.UINT16:
		return values[uint16](d)
	case arrow.INT32, arrow.DATE32, arrow.DECIMAL32:
		return values[int32](d)
	case arrow.UINT32:
		return values[uint32](d)
	case arrow.INT64, arrow.DECIMAL64, arrow.TIMESTAMP, arrow.DURATION:
		return values[int64](d)
	case arrow.DATE64:
		ms := values[int64](d)
		return func(i int) int64 { return table.FloorDiv(ms(i), 24*60*60*1000) }
	}
	return nil
}

func values[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64](d arrow.ArrayData) func(i int) int64 {
	list := arrow.GetValues[T](d, 1)
	return func(i int) int64 { return int64(list[i]) }
}

// bigEndian reads two's complement; ok is false beyond 64 bits.
func bigEndian(v []byte) (i int64, ok bool) {
	if len(v) == 0 {
		return 0, false
	}
	pad := byte(int8(v[0]) >> 7)
	for ; len(v) > 8; v = v[1:] {
		if v[0] != pad || v[1]>>7 != pad>>7 {
			return 0, false
		}
	}
	i = int64(int8(v[0]))
	for _, c := range v[1:] {
		i = i<<8 | int64(c)
	}
	return i, true
}
