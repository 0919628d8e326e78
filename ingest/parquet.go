package ingest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// columnBatch is how many values of a column are decoded at a time.
const columnBatch = 1 << 14

// badColumn is the error of a column that turns out to hold what its type cannot:
// the load starts again without it, and naming it in a query is the error.
type badColumn struct {
	col int
	why string
}

func (e *badColumn) Error() string { return e.why }

// parquet reads a Parquet file with arrow-go's column readers. It does without
// arrow-go's pqarrow, which would link gRPC, and holds one batch of each column.
func (l *loader) parquet() (*table.Table, error) {
	alloc := l.allocator()
	props := parquet.NewReaderProperties(alloc)
	props.BufferedStreamEnabled = true
	props.MaxCompressedPageSize = l.in.size
	props.MaxUncompressedPageSize = int64(alloc.most)
	pf, err := file.NewParquetReader(l.in.file, file.WithReadProps(props))
	if err != nil {
		if l.encrypted() {
			return nil, fmt.Errorf("the Parquet file is encrypted, which is not supported: write it without")
		}
		return nil, damaged(err, "not a complete Parquet file: its footer")
	}
	fields, leaves := parquetFields(pf.MetaData().Schema)
	if err := l.distinctNames(fields); err != nil {
		return nil, err
	}
	return l.without(fields, func() (*table.Table, error) { return l.parquetRows(pf, fields, leaves) })
}

// without runs read until no column turns out bad; it marks those in fields.
func (l *loader) without(fields []table.Field, read func() (*table.Table, error)) (*table.Table, error) {
	for {
		t, err := read()
		bad, ok := err.(*badColumn)
		if !ok {
			return t, err
		}
		fields[bad.col].Unsupported = bad.why
	}
}

func (l *loader) parquetRows(pf *file.Reader, fields []table.Field, leaves []int) (*table.Table, error) {
	b := table.NewBuilder(l.name, fields, l.opts.ChunkRows)
	total, done := pf.NumRows(), int64(0)
	for g := range pf.NumRowGroups() {
		rg := pf.RowGroup(g)
		rows := rg.NumRows()
		if rows < 0 || done+rows > total {
			return nil, damagef("row group %d says it has %d rows", g, rows)
		}
		cols := make([]*parquetColumn, len(fields))
		for i, f := range fields {
			if f.Unsupported != "" {
				continue
			}
			r, err := rg.Column(leaves[i])
			if err != nil {
				return nil, columnError(rg, leaves[i], err, "column %s", show(f.Name))
			}
			cols[i] = newParquetColumn(r, f.Type)
		}
		for left := rows; left > 0; {
			n := int(min(left, int64(b.Room()), columnBatch))
			for i, c := range cols {
				if c == nil {
					continue
				}
				if err := c.read(b.Column(i), n); err != nil {
					if why, ok := err.(overflow); ok {
						return nil, &badColumn{i, string(why)}
					}
					return nil, columnError(rg, leaves[i], err, "column %s, rows %d to %d", show(fields[i].Name), done+1, done+int64(n))
				}
			}
			if err := b.EndRows(n); err != nil {
				return nil, err
			}
			left, done = left-int64(n), done+int64(n)
			if err := l.step(b, l.in.size*done/max(total, 1), l.in.size); err != nil {
				return nil, err
			}
		}
		for i, c := range cols {
			if c != nil && c.HasNext() {
				return nil, damagef("column %s: more values than the %s of row group %d", show(fields[i].Name), numbers.Count(rows, "row", "rows"), g)
			}
		}
	}
	if done != total {
		return nil, damagef("%d rows in its row groups, %d in its footer", done, total)
	}
	return b.Table(), nil
}

// encrypted reports a Parquet file whose footer says so.
func (l *loader) encrypted() bool {
	var magic [4]byte
	_, err := l.in.file.ReadAt(magic[:], l.in.size-int64(len(magic)))
	return err == nil && string(magic[:]) == "PARE"
}

// columnError is what reading a part of a column ended with: damage, unless the column
// is packed in a way that arrow-go does not know.
func columnError(rg *file.RowGroupReader, leaf int, err error, part string, args ...any) error {
	if c, e := rg.MetaData().ColumnChunk(leaf); e == nil {
		if _, e := compress.GetCodec(c.Compression()); e != nil {
			return fmt.Errorf(part+": compression with %s is not supported: write the file with another one, such as ZSTD", append(args, c.Compression())...)
		}
	}
	return damaged(err, part, args...)
}

// overflow is the error of a value beyond the range of its column's type.
type overflow string

func (o overflow) Error() string { return string(o) }

// pages is a column reader of any type.
type pages interface {
	HasNext() bool
	Err() error
}

// parquetColumn reads one column of one row group.
type parquetColumn struct {
	pages
	unknown bool  // the type of a column of NULLs
	max     int16 // definition level of a value that is there
	def     []int16
	read    func(c *table.ColumnBuilder, n int) error
}

func newParquetColumn(r file.ColumnChunkReader, t table.Type) *parquetColumn {
	d := r.Descriptor()
	c := &parquetColumn{pages: r, unknown: t.Kind == table.Unknown, max: d.MaxDefinitionLevel(), def: make([]int16, columnBatch)}
	switch r := r.(type) {
	case *file.BooleanColumnChunkReader:
		c.read = reader(c, r.ReadBatch, func(b *table.ColumnBuilder, v bool) error { b.Int(table.Bool(v).I); return nil })
	case *file.Int32ColumnChunkReader:
		c.read = reader(c, r.ReadBatch, integer[int32](d, t))
	case *file.Int64ColumnChunkReader:
		c.read = reader(c, r.ReadBatch, integer[int64](d, t))
	case *file.Float32ColumnChunkReader:
		c.read = reader(c, r.ReadBatch, func(b *table.ColumnBuilder, v float32) error { b.Float(float64(v)); return nil })
	case *file.Float64ColumnChunkReader:
		c.read = reader(c, r.ReadBatch, func(b *table.ColumnBuilder, v float64) error { b.Float(v); return nil })
	case *file.ByteArrayColumnChunkReader:
		c.read = reader(c, r.ReadBatch, func(b *table.ColumnBuilder, v parquet.ByteArray) error { return bytesValue(b, t, v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		c.read = reader(c, r.ReadBatch, func(b *table.ColumnBuilder, v parquet.FixedLenByteArray) error { return bytesValue(b, t, v) })
	}
	if c.read == nil || !stores(r.Type(), t) {
		c.read = func(*table.ColumnBuilder, int) error { return damagef("%s stored as %s", t, r.Type()) }
	}
	return c
}

// reader makes the function that reads n rows: values through put, NULLs from the
// definition levels.
func reader[T any](c *parquetColumn, readBatch func(int64, []T, []int16, []int16) (int64, int, error),
	put func(*table.ColumnBuilder, T) error) func(*table.ColumnBuilder, int) error {
	values := make([]T, columnBatch)
	return func(b *table.ColumnBuilder, n int) error {
		for n > 0 {
			var levels int64
			var got int
			err := c.Err()
			if err == nil && c.HasNext() {
				levels, got, err = readBatch(int64(n), values, c.def, nil)
			}
			switch {
			case err != nil:
				return err
			case levels <= 0 || levels > int64(n) || got > int(levels) || c.max == 0 && got != int(levels):
				return cmp.Or(c.Err(), damagef("the column ends %s too early", numbers.Count(n, "value", "values")))
			}
			k := 0
			for i := range int(levels) {
				if c.max > 0 && c.def[i] < c.max {
					b.Null()
					continue
				}
				if k == got {
					return damagef("fewer values than its levels say")
				}
				if c.unknown {
					return damagef("a value in a column of nulls")
				}
				if err := put(b, values[k]); err != nil {
					return err
				}
				k++
			}
			n -= int(levels)
		}
		return nil
	}
}

// integer checks and converts INT32 and INT64: integers, days, timestamps, a scaled
// DECIMAL.
func integer[T int32 | int64](d *schema.Column, t table.Type) func(*table.ColumnBuilder, T) error {
	width, scale := int8(8*unsafe.Sizeof(T(0))), int64(1)
	lt, ok := d.LogicalType().(interface {
		BitWidth() int8
		IsSigned() bool
	})
	unsigned := ok && !lt.IsSigned() && lt.BitWidth() == width
	if lt, ok := d.LogicalType().(interface{ TimeUnit() schema.TimeUnitType }); ok && t.Kind == table.Timestamp && lt.TimeUnit() == schema.TimeUnitMillis {
		scale = 1000
	}
	return func(b *table.ColumnBuilder, v T) error {
		x := int64(v)
		if unsigned && width == 32 {
			x = int64(uint32(v))
		}
		us := x * scale
		if scale > 1 && us/scale != x || unsigned && x < 0 || !t.Holds(us) {
			return outOf(t)
		}
		b.Int(us)
		return nil
	}
}

func outOf(t table.Type) error { return overflow("a value out of range for " + t.String()) }

// bytesValue converts a byte array: text, a DECIMAL in big-endian two's
// complement, half precision in little-endian.
func bytesValue(b *table.ColumnBuilder, t table.Type, v []byte) error {
	switch t.Kind {
	case table.Varchar:
		if !utf8.Valid(v) {
			return damagef("text that is not valid UTF-8")
		}
		b.String(view(v))
	case table.Decimal:
		i, ok := bigEndian(v)
		if !ok || !t.Holds(i) {
			return outOf(t)
		}
		b.Int(i)
	case table.Real:
		if len(v) != 2 {
			return damagef("half precision of %d bytes", len(v))
		}
		b.Float(float64(float16.FromBits(binary.LittleEndian.Uint16(v)).Float32()))
	default:
		return damagef("bytes in a column of %s", t)
	}
	return nil
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
