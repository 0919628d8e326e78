package ingest

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/table"
)

// arrowBatch is how many rows a record batch that we write has at most.
const arrowBatch = 1 << 16

// WriteArrow writes a table as an Arrow IPC file (Feather version 2),
// uncompressed. A DATE beyond 32 bits of days is an error.
func WriteArrow(w io.Writer, t *table.Table) error {
	if err := checkWritable(t); err != nil {
		return err
	}
	var fields []arrow.Field
	for _, f := range t.Fields {
		dt, err := arrowTypeOf(f.Type)
		if err != nil {
			return fmt.Errorf("column %s cannot be written: %w", show(f.Name), err)
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: dt, Nullable: true})
	}
	sc := arrow.NewSchema(fields, nil)
	fw, err := ipc.NewFileWriter(w, ipc.WithSchema(sc))
	if err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.NewGoAllocator(), sc)
	defer b.Release()
	for _, ch := range t.Compacted().Chunks {
		for from := 0; from < ch.Rows; from += arrowBatch {
			to := min(from+arrowBatch, ch.Rows)
			for i, s := range ch.Segments {
				for r := from; r < to; r++ {
					if err := appendArrowValue(b.Field(i), s.Value(r)); err != nil {
						return fmt.Errorf("column %s: %w", show(t.Fields[i].Name), err)
					}
				}
			}
			rec := b.NewRecordBatch()
			err := fw.Write(rec)
			rec.Release()
			if err != nil {
				return err
			}
		}
	}
	return fw.Close()
}

func arrowTypeOf(t table.Type) (arrow.DataType, error) {
	switch t.Kind {
	case table.Unknown:
		return arrow.Null, nil
	case table.Boolean:
		return arrow.FixedWidthTypes.Boolean, nil
	case table.SmallInt:
		return arrow.PrimitiveTypes.Int16, nil
	case table.Integer:
		return arrow.PrimitiveTypes.Int32, nil
	case table.BigInt:
		return arrow.PrimitiveTypes.Int64, nil
	case table.Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}, nil
	case table.Real:
		return arrow.PrimitiveTypes.Float32, nil
	case table.Double:
		return arrow.PrimitiveTypes.Float64, nil
	case table.Date:
		return arrow.FixedWidthTypes.Date32, nil
	case table.Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}, nil
	case table.Varchar:
		return arrow.BinaryTypes.String, nil
	}
	return nil, fmt.Errorf("no Arrow type for %s", t)
}

func appendArrowValue(b array.Builder, v table.Value) error {
	if v.Null {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.I != 0)
	case *array.Int16Builder:
		b.Append(int16(v.I))
	case *array.Int32Builder:
		b.Append(int32(v.I))
	case *array.Int64Builder:
		b.Append(v.I)
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(v.I))
	case *array.Float32Builder:
		b.Append(float32(v.F))
	case *array.Float64Builder:
		b.Append(v.F)
	case *array.Date32Builder:
		d, err := int32Of(v)
		if err != nil {
			return err
		}
		b.Append(arrow.Date32(d))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.I))
	case *array.StringBuilder:
		b.Append(v.S)
	default:
		return fmt.Errorf("no Arrow value for %s", v.Type)
	}
	return nil
}
