package ingest

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/table"
)

// rowGroupRows is how many rows a row group that we write has at most.
const rowGroupRows = 1 << 20

// WriteParquet writes a table as Parquet, compressed with zstd. A column without
// a NULL is written as required. A DATE beyond 32 bits of days is an error.
func WriteParquet(w io.Writer, t *table.Table) error {
	if err := checkWritable(t); err != nil {
		return err
	}
	var nodes schema.FieldList
	for i, f := range t.Fields {
		n, err := parquetNode(f, hasNulls(t, i))
		if err != nil {
			return fmt.Errorf("column %s cannot be written: %w", show(f.Name), err)
		}
		nodes = append(nodes, n)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return err
	}
	pw := file.NewParquetWriter(w, root, file.WithWriterProps(parquetProperties()))
	for _, ch := range t.Compacted().Chunks {
		for from := 0; from < ch.Rows; from += rowGroupRows {
			if err := writeRowGroup(pw, ch, from, min(from+rowGroupRows, ch.Rows)); err != nil {
				return err
			}
		}
	}
	return pw.Close()
}

func hasNulls(t *table.Table, col int) bool {
	for _, ch := range t.Chunks {
		if ch.Segments[col].Nulls > 0 {
			return true
		}
	}
	return t.Fields[col].Type.Kind == table.Unknown
}

func parquetNode(f table.Field, nulls bool) (schema.Node, error) {
	rep := parquet.Repetitions.Required
	if nulls {
		rep = parquet.Repetitions.Optional
	}
	var lt schema.LogicalType = schema.NoLogicalType{}
	var pt parquet.Type
	switch f.Type.Kind {
	case table.Unknown:
		lt, pt = schema.NullLogicalType{}, parquet.Types.Int32
	case table.Boolean:
		pt = parquet.Types.Boolean
	case table.SmallInt:
		lt, pt = schema.NewIntLogicalType(16, true), parquet.Types.Int32
	case table.Integer:
		pt = parquet.Types.Int32
	case table.BigInt:
		pt = parquet.Types.Int64
	case table.Decimal:
		lt, pt = schema.NewDecimalLogicalType(int32(f.Type.Precision), int32(f.Type.Scale)), parquet.Types.Int64
	case table.Real:
		pt = parquet.Types.Float
	case table.Double:
		pt = parquet.Types.Double
	case table.Date:
		lt, pt = schema.DateLogicalType{}, parquet.Types.Int32
	case table.Timestamp:
		lt, pt = schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64
	case table.Varchar:
		lt, pt = schema.StringLogicalType{}, parquet.Types.ByteArray
	default:
		return nil, fmt.Errorf("no Parquet type for %s", f.Type)
	}
	return schema.NewPrimitiveNodeLogical(f.Name, rep, lt, pt, -1, -1)
}

func writeRowGroup(pw *file.Writer, ch *table.Chunk, from, to int) error {
	rg, err := pw.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for _, s := range ch.Segments {
		cw, err := rg.NextColumn()
		if err != nil {
			return err
		}
		switch cw := cw.(type) {
		case *file.BooleanColumnChunkWriter:
			err = writeColumn(cw.WriteBatch, s, from, to, func(v table.Value) (bool, error) { return v.I != 0, nil })
		case *file.Int32ColumnChunkWriter:
			err = writeColumn(cw.WriteBatch, s, from, to, int32Of)
		case *file.Int64ColumnChunkWriter:
			err = writeColumn(cw.WriteBatch, s, from, to, func(v table.Value) (int64, error) { return v.I, nil })
		case *file.Float32ColumnChunkWriter:
			err = writeColumn(cw.WriteBatch, s, from, to, func(v table.Value) (float32, error) { return float32(v.F), nil })
		case *file.Float64ColumnChunkWriter:
			err = writeColumn(cw.WriteBatch, s, from, to, func(v table.Value) (float64, error) { return v.F, nil })
		case *file.ByteArrayColumnChunkWriter:
			err = writeColumn(cw.WriteBatch, s, from, to, func(v table.Value) (parquet.ByteArray, error) { return parquet.ByteArray(v.S), nil })
		default:
			err = fmt.Errorf("unexpected column writer %T", cw)
		}
		if err != nil {
			return err
		}
		if err := cw.Close(); err != nil {
			return err
		}
	}
	return rg.Close()
}

func int32Of(v table.Value) (int32, error) {
	if v.I != int64(int32(v.I)) {
		return 0, fmt.Errorf("%s %s does not fit the format's 32 bits", v.Type, v)
	}
	return int32(v.I), nil
}

// writeColumn writes rows from..to-1 in batches: values without the NULLs, and
// definition levels with them.
func writeColumn[T any](write func([]T, []int16, []int16) (int64, error), s *table.Segment, from, to int, conv func(table.Value) (T, error)) error {
	values := make([]T, 0, columnBatch)
	def := make([]int16, 0, columnBatch)
	for from < to {
		values, def = values[:0], def[:0]
		end := min(from+columnBatch, to)
		for ; from < end; from++ {
			v := s.Value(from)
			if v.Null {
				def = append(def, 0)
				continue
			}
			x, err := conv(v)
			if err != nil {
				return err
			}
			values, def = append(values, x), append(def, 1)
		}
		if _, err := write(values, def, nil); err != nil {
			return err
		}
	}
	return nil
}
