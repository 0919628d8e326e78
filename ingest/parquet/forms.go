package parquet

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/source"
)

// storedForm is how Parquet has the values of an Arrow type.
type storedForm struct {
	logical  schema.LogicalType
	physical parquet.Type
	length   int                                                 // of fixed-length bytes, else -1
	write    func(w file.ColumnChunkWriter, a arrow.Array) error // nil: there is no form
}

// integersAs is [each] of integers as T.
func integersAs[T int32 | int64](w file.ColumnChunkWriter, a arrow.Array) error {
	value := arrays.Integers(a)
	return each(func(_ arrow.Array, i int) T { return T(value(i)) })(w, a)
}

// forms are those of the types that say no more than their name.
var forms = map[arrow.Type]storedForm{
	arrow.NULL:      {schema.NullLogicalType{}, parquet.Types.Int32, -1, each(func(*array.Null, int) int32 { return 0 })},
	arrow.BOOL:      {schema.NoLogicalType{}, parquet.Types.Boolean, -1, each((*array.Boolean).Value)},
	arrow.INT16:     {schema.NewIntLogicalType(16, true), parquet.Types.Int32, -1, integersAs[int32]},
	arrow.INT32:     {schema.NoLogicalType{}, parquet.Types.Int32, -1, integersAs[int32]},
	arrow.INT64:     {schema.NoLogicalType{}, parquet.Types.Int64, -1, integersAs[int64]},
	arrow.FLOAT32:   {schema.NoLogicalType{}, parquet.Types.Float, -1, each((*array.Float32).Value)},
	arrow.FLOAT64:   {schema.NoLogicalType{}, parquet.Types.Double, -1, each((*array.Float64).Value)},
	arrow.DATE32:    {schema.DateLogicalType{}, parquet.Types.Int32, -1, integersAs[int32]},
	arrow.TIMESTAMP: {schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64, -1, integersAs[int64]},
	arrow.STRING: {schema.StringLogicalType{}, parquet.Types.ByteArray, -1,
		each(func(a *array.String, i int) parquet.ByteArray { return parquet.ByteArray(a.Value(i)) })},
	arrow.DICTIONARY: {schema.StringLogicalType{}, parquet.Types.ByteArray, -1,
		each(func(a *array.Dictionary, i int) parquet.ByteArray {
			return parquet.ByteArray(arrays.DictionaryText(a, i))
		})},
}

// formOf is the form of a type.
func formOf(t arrow.DataType) storedForm {
	d, ok := t.(*arrow.Decimal128Type)
	form := storedForm{write: each(decimalBytes), physical: parquet.Types.FixedLenByteArray, length: 16}
	switch {
	case !ok:
		return forms[t.ID()]
	case d.Precision <= source.MaxPrecision:
		form.physical, form.length = parquet.Types.Int64, -1
		form.write = each(func(a *array.Decimal128, i int) int64 { return int64(a.Value(i).LowBits()) })
	}
	form.logical = schema.NewDecimalLogicalType(d.Precision, d.Scale)
	return form
}

// decimalBytes is a decimal's 16 bytes, the first the most significant.
func decimalBytes(a *array.Decimal128, i int) parquet.FixedLenByteArray {
	n, out := a.Value(i), make([]byte, 0, 16)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, uint64(n.HighBits())), n.LowBits())
}

// each writes the values without the NULLs and, where the column may have them,
// definition levels with them.
func each[A arrow.Array, T any](value func(a A, i int) T) func(file.ColumnChunkWriter, arrow.Array) error {
	return func(w file.ColumnChunkWriter, a arrow.Array) error {
		values, levels := make([]T, 0, a.Len()), make([]int16, a.Len())
		for i := range a.Len() {
			if a.DataType().ID() != arrow.NULL && a.IsValid(i) {
				values, levels[i] = append(values, value(a.(A), i)), 1
			}
		}
		_, err := w.(interface {
			WriteBatch([]T, []int16, []int16) (int64, error)
		}).WriteBatch(values, levels, nil)
		return err
	}
}
