package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/table"
)

// dictionaryType is that of text from a column.
var dictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// arrowType is the Arrow type of an SQL type.
func arrowType(t table.Type) arrow.DataType {
	switch t.Kind {
	case table.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case table.SmallInt:
		return arrow.PrimitiveTypes.Int16
	case table.Integer:
		return arrow.PrimitiveTypes.Int32
	case table.BigInt:
		return arrow.PrimitiveTypes.Int64
	case table.Decimal:
		switch p := int32(max(t.Precision, t.Scale, 1)); {
		case p <= 38:
			return &arrow.Decimal128Type{Precision: p, Scale: int32(t.Scale)}
		case p <= 76:
			return &arrow.Decimal256Type{Precision: p, Scale: int32(t.Scale)}
		}
		return arrow.BinaryTypes.String
	case table.Real:
		return arrow.PrimitiveTypes.Float32
	case table.Double:
		return arrow.PrimitiveTypes.Float64
	case table.Date:
		return arrow.FixedWidthTypes.Date32
	case table.Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case table.Interval:
		return arrow.FixedWidthTypes.Duration_us
	}
	return arrow.BinaryTypes.String
}

// computed is columns of values, of equal length.
type computed []arrow.Array

// Len implements batch.
func (c computed) Len() int { return c[0].Len() }

func (c computed) cut(i, j int) batch {
	out := make(computed, len(c))
	for k, a := range c {
		out[k] = array.NewSlice(a, int64(i), int64(j))
	}
	return out
}

// computed is the row as columns of a schema.
func (v valueRow) computed(schema *arrow.Schema) computed {
	var out computed
	for i, f := range schema.Fields() {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type)
		appendValue(b, v[i])
		out = append(out, b.NewArray())
		b.Release()
	}
	return out
}

// appendValue appends a value to the builder of its type's Arrow type.
func appendValue(b array.Builder, v table.Value) {
	if v.Null {
		b.AppendNull()
		return
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
		b.Append(decimal128.FromBigInt(v.Unscaled()))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(v.Unscaled()))
	case *array.Float32Builder:
		b.Append(float32(v.F))
	case *array.Float64Builder:
		b.Append(v.F)
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.I))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.I))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(v.I))
	case *array.StringBuilder:
		b.Append(v.String())
	}
}

// valueOf is element i of an array as a value of type t.
func valueOf(a arrow.Array, i int, t table.Type) table.Value {
	v := table.Value{Type: t}
	if a.IsNull(i) {
		v.Null = true
		return v
	}
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			v.I = 1
		}
	case *array.Int16:
		v.I = int64(a.Value(i))
	case *array.Int32:
		v.I = int64(a.Value(i))
	case *array.Int64:
		v.I = a.Value(i)
	case *array.Decimal128:
		return table.Dec(t, a.Value(i).BigInt())
	case *array.Decimal256:
		return table.Dec(t, a.Value(i).BigInt())
	case *array.Float32:
		v.F = float64(a.Value(i))
	case *array.Float64:
		v.F = a.Value(i)
	case *array.Date32:
		v.I = int64(a.Value(i))
	case *array.Timestamp:
		v.I = int64(a.Value(i))
	case *array.Duration:
		v.I = int64(a.Value(i))
	case *array.Dictionary:
		v.S = a.Dictionary().(*array.String).Value(a.GetValueIndex(i))
	case *array.String:
		v.S = a.Value(i)
	}
	return v
}
