package arrays

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// DictionaryType is that of text of a table's column.
var DictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// arrowTypes are the Arrow types of all but NUMERIC and text.
var arrowTypes = map[table.Kind]arrow.DataType{
	table.Unknown: arrow.Null, table.Boolean: arrow.FixedWidthTypes.Boolean, table.SmallInt: arrow.PrimitiveTypes.Int16,
	table.Integer: arrow.PrimitiveTypes.Int32, table.BigInt: arrow.PrimitiveTypes.Int64,
	table.Real: arrow.PrimitiveTypes.Float32, table.Double: arrow.PrimitiveTypes.Float64, table.Date: arrow.FixedWidthTypes.Date32,
	table.Timestamp: &arrow.TimestampType{Unit: arrow.Microsecond}, table.Interval: arrow.FixedWidthTypes.MonthDayNanoInterval,
}

// TypeOf is the Arrow type of an SQL type. A NUMERIC is Decimal128, Decimal256 beyond
// 38 digits and text beyond 76, an interval Interval[MonthDayNano].
func TypeOf(t table.Type) arrow.DataType {
	p, scale := int32(max(t.Precision, t.Scale, 1)), int32(t.Scale)
	dt, ok := arrowTypes[t.Kind]
	switch {
	case ok:
		return dt
	case t.Kind == table.Array:
		return arrow.ListOf(TypeOf(t.Element()))
	case t.Kind == table.Decimal && p <= 38:
		return &arrow.Decimal128Type{Precision: p, Scale: scale}
	case t.Kind == table.Decimal && p <= 76:
		return &arrow.Decimal256Type{Precision: p, Scale: scale}
	}
	return arrow.BinaryTypes.String
}

// arrowKinds are the types of Arrow's types that say no more than their name.
var arrowKinds = map[arrow.Type]table.Kind{
	arrow.NULL: table.Unknown, arrow.BOOL: table.Boolean, arrow.INT8: table.SmallInt, arrow.INT16: table.SmallInt, arrow.UINT8: table.SmallInt,
	arrow.INT32: table.Integer, arrow.UINT16: table.Integer, arrow.INT64: table.BigInt, arrow.UINT32: table.BigInt, arrow.UINT64: table.BigInt,
	arrow.FLOAT16: table.Real, arrow.FLOAT32: table.Real, arrow.FLOAT64: table.Double, arrow.DATE32: table.Date, arrow.DATE64: table.Date,
	arrow.TIMESTAMP: table.Timestamp, arrow.DURATION: table.Interval, arrow.INTERVAL_MONTH_DAY_NANO: table.Interval,
	arrow.STRING: table.Varchar, arrow.LARGE_STRING: table.Varchar, arrow.STRING_VIEW: table.Varchar,
}

// ColumnType maps a type, or says why it cannot be used.
func ColumnType(dt arrow.DataType) (t table.Type, unsupported string) {
	kind, known := arrowKinds[dt.ID()]
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		if t.ValueType.ID() != arrow.DICTIONARY {
			return ColumnType(t.ValueType)
		}
	case *arrow.Decimal32Type, *arrow.Decimal64Type, *arrow.Decimal128Type, *arrow.Decimal256Type:
		d := dt.(arrow.DecimalType)
		return DecimalType(d.GetPrecision(), d.GetScale())
	}
	if !known {
		unsupported = "type " + source.ShowName(dt.String())
	}
	return table.Type{Kind: kind}, unsupported
}

// DecimalType is the type of a DECIMAL. One of more digits than ours have is one of as many: whether the values have no more is seen as they
// are read.
func DecimalType(precision, scale int32) (table.Type, string) {
	if precision < 1 || scale < 0 || scale > min(precision, source.MaxPrecision) {
		return table.Type{}, fmt.Sprintf("DECIMAL(%d,%d): more than %d digits after the point, or than in all", precision, scale, source.MaxPrecision)
	}
	return table.Type{Kind: table.Decimal, Precision: int(min(precision, source.MaxPrecision)), Scale: int(scale)}, ""
}

// IntKind is the narrowest SQL integer that holds an integer of so many bits; for
// 64 unsigned bits BIGINT, whose values are checked.
func IntKind(bits int, signed bool) table.Kind {
	if !signed {
		bits++
	}
	switch {
	case bits <= 16:
		return table.SmallInt
	case bits <= 32:
		return table.Integer
	}
	return table.BigInt
}
