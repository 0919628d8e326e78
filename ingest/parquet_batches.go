package ingest

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// ParquetWriter writes record batches as Parquet, compressed with zstd, in row groups of
// about a million rows. It keeps one row group in memory. (The library's own, pqarrow,
// brings gRPC with it.)
type ParquetWriter struct {
	out    *file.Writer
	group  file.BufferedRowGroupWriter
	fields []arrow.Field
	rows   int // of the row group
}

// NewParquetWriter begins a file of batches of a schema. A type that Parquet has nothing
// for is an error.
func NewParquetWriter(w io.Writer, s *arrow.Schema) (*ParquetWriter, error) {
	var nodes schema.FieldList
	for _, f := range s.Fields() {
		n, err := arrowNode(f)
		if err != nil {
			return nil, fmt.Errorf("column %s cannot be written: %w", show(f.Name), err)
		}
		nodes = append(nodes, n)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, err
	}
	return &ParquetWriter{out: file.NewParquetWriter(w, root, file.WithWriterProps(parquetProperties())), fields: s.Fields()}, nil
}

func parquetProperties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCreatedBy("stencildb"),
		parquet.WithVersion(parquet.V2_LATEST))
}

// arrowNode is the Parquet type of an Arrow type.
func arrowNode(f arrow.Field) (schema.Node, error) {
	var lt schema.LogicalType = schema.NoLogicalType{}
	var pt parquet.Type
	length := -1
	switch t := f.Type.(type) {
	case *arrow.BooleanType:
		pt = parquet.Types.Boolean
	case *arrow.Int16Type:
		lt, pt = schema.NewIntLogicalType(16, true), parquet.Types.Int32
	case *arrow.Int32Type:
		pt = parquet.Types.Int32
	case *arrow.Int64Type:
		pt = parquet.Types.Int64
	case *arrow.Decimal128Type:
		lt, pt, length = schema.NewDecimalLogicalType(t.Precision, t.Scale), parquet.Types.FixedLenByteArray, 16
	case *arrow.Float32Type:
		pt = parquet.Types.Float
	case *arrow.Float64Type:
		pt = parquet.Types.Double
	case *arrow.Date32Type:
		lt, pt = schema.DateLogicalType{}, parquet.Types.Int32
	case *arrow.TimestampType:
		lt, pt = schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64
	case *arrow.StringType, *arrow.DictionaryType:
		lt, pt = schema.StringLogicalType{}, parquet.Types.ByteArray
	default:
		return nil, fmt.Errorf("there is no Parquet type for %s", f.Type)
	}
	return schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Optional, lt, pt, length, -1)
}

// Write adds a batch, whose text columns may be dictionaries.
func (p *ParquetWriter) Write(b arrow.RecordBatch) error {
	if p.group == nil {
		group, err := p.out.AppendBufferedRowGroupChecked()
		if err != nil {
			return err
		}
		p.group = group
	}
	for i, a := range b.Columns() {
		c, err := p.group.Column(i)
		if err == nil {
			err = writeArray(c, a)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", show(p.fields[i].Name), err)
		}
	}
	if p.rows += int(b.NumRows()); p.rows < rowGroupRows {
		return nil
	}
	err := p.group.Close()
	p.group, p.rows = nil, 0
	return err
}

// Close ends the file.
func (p *ParquetWriter) Close() error {
	if p.group != nil {
		if err := p.group.Close(); err != nil {
			return err
		}
	}
	return p.out.Close()
}

func writeArray(c file.ColumnChunkWriter, a arrow.Array) error {
	switch c := c.(type) {
	case *file.BooleanColumnChunkWriter:
		return writeValues(c.WriteBatch, a, a.(*array.Boolean).Value)
	case *file.Int32ColumnChunkWriter:
		switch a := a.(type) {
		case *array.Int16:
			return writeValues(c.WriteBatch, a, func(i int) int32 { return int32(a.Value(i)) })
		case *array.Date32:
			return writeValues(c.WriteBatch, a, func(i int) int32 { return int32(a.Value(i)) })
		}
		return writeValues(c.WriteBatch, a, a.(*array.Int32).Value)
	case *file.Int64ColumnChunkWriter:
		if t, ok := a.(*array.Timestamp); ok {
			return writeValues(c.WriteBatch, a, func(i int) int64 { return int64(t.Value(i)) })
		}
		return writeValues(c.WriteBatch, a, a.(*array.Int64).Value)
	case *file.Float32ColumnChunkWriter:
		return writeValues(c.WriteBatch, a, a.(*array.Float32).Value)
	case *file.Float64ColumnChunkWriter:
		return writeValues(c.WriteBatch, a, a.(*array.Float64).Value)
	case *file.FixedLenByteArrayColumnChunkWriter:
		d := a.(*array.Decimal128)
		return writeValues(c.WriteBatch, a, func(i int) parquet.FixedLenByteArray { return fixedBytes(d.Value(i)) })
	case *file.ByteArrayColumnChunkWriter:
		text := func(i int) string { return a.(*array.String).Value(i) }
		if d, ok := a.(*array.Dictionary); ok {
			words := d.Dictionary().(*array.String)
			text = func(i int) string { return words.Value(d.GetValueIndex(i)) }
		}
		return writeValues(c.WriteBatch, a, func(i int) parquet.ByteArray { return parquet.ByteArray(text(i)) })
	}
	return fmt.Errorf("unexpected column writer %T", c)
}

// fixedBytes is a decimal's 16 bytes as Parquet has them.
func fixedBytes(n decimal128.Num) parquet.FixedLenByteArray {
	out := make([]byte, 16)
	for i := range 8 {
		out[i], out[8+i] = byte(n.HighBits()>>(56-8*i)), byte(n.LowBits()>>(56-8*i))
	}
	return out
}

// writeValues writes the values without the NULLs, and definition levels with them.
func writeValues[T any](write func([]T, []int16, []int16) (int64, error), a arrow.Array, value func(int) T) error {
	values, def := make([]T, 0, a.Len()), make([]int16, a.Len())
	for i := range a.Len() {
		if a.IsValid(i) {
			values, def[i] = append(values, value(i)), 1
		}
	}
	_, err := write(values, def, nil)
	return err
}
