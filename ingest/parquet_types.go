package ingest

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/stencildb/stencildb/table"
)

// parquetFields maps the schema: a field a root column, and the index of its leaf
// (-1 when unsupported).
func parquetFields(s *schema.Schema) (fields []table.Field, leaves []int) {
	root := s.Root()
	for i := range root.NumFields() {
		node := root.Field(i)
		f := table.Field{Name: node.Name()}
		leaf := -1
		if prim, ok := node.(*schema.PrimitiveNode); !ok || node.RepetitionType() == parquet.Repetitions.Repeated {
			f.Unsupported = "a nested type"
		} else {
			f.Type, f.Unsupported = parquetType(prim)
			leaf = s.ColumnIndexByNode(node)
		}
		fields, leaves = append(fields, f), append(leaves, leaf)
	}
	return fields, leaves
}

// parquetKinds are the types of logical types that say no more than their name.
var parquetKinds = map[string]table.Kind{
	"Null": table.Unknown, "Date": table.Date, "String": table.Varchar, "Enum": table.Varchar, "JSON": table.Varchar, "Float16": table.Real,
}

// parquetType maps the type of a leaf, or says why it cannot be used.
func parquetType(n *schema.PrimitiveNode) (t table.Type, unsupported string) {
	kind := func(k table.Kind) (table.Type, string) { return table.Type{Kind: k}, "" }
	switch lt := n.LogicalType().(type) {
	case interface {
		Precision() int32
		Scale() int32
	}:
		return decimalType(lt.Precision(), lt.Scale())
	case schema.TimestampLogicalType, *schema.TimestampLogicalType:
		if lt.(interface{ TimeUnit() schema.TimeUnitType }).TimeUnit() == schema.TimeUnitNanos {
			return t, "timestamps in nanoseconds"
		}
		return kind(table.Timestamp)
	case interface {
		BitWidth() int8
		IsSigned() bool
	}:
		return kind(intKind(int(lt.BitWidth()), lt.IsSigned()))
	case nil, schema.NoLogicalType, *schema.NoLogicalType, schema.UnknownLogicalType, *schema.UnknownLogicalType:
	default:
		if k, ok := parquetKinds[lt.String()]; ok {
			return kind(k)
		}
		return t, "type " + lt.String()
	}
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		return kind(table.Boolean)
	case parquet.Types.Int32:
		return kind(table.Integer)
	case parquet.Types.Int64:
		return kind(table.BigInt)
	case parquet.Types.Int96:
		return t, "timestamps in nanoseconds (INT96)"
	case parquet.Types.Float:
		return kind(table.Real)
	case parquet.Types.Double:
		return kind(table.Double)
	}
	return t, "binary data"
}

func decimalType(precision, scale int32) (table.Type, string) {
	if precision < 1 || precision > maxPrecision || scale < 0 || scale > precision {
		return table.Type{}, fmt.Sprintf("DECIMAL(%d,%d): more than %d digits, or more after the point than in all", precision, scale, maxPrecision)
	}
	return table.Type{Kind: table.Decimal, Precision: int(precision), Scale: int(scale)}, ""
}

// intKind is the narrowest SQL integer that holds an integer of so many bits; for
// 64 unsigned bits BIGINT, whose values are checked.
func intKind(bits int, signed bool) table.Kind {
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

// stores reports whether a physical type can hold values of type t.
func stores(p parquet.Type, t table.Type) bool {
	switch p {
	case parquet.Types.Boolean:
		return t.Kind == table.Boolean || t.Kind == table.Unknown
	case parquet.Types.Int32, parquet.Types.Int64:
		return t.IsExact() || slices.Contains([]table.Kind{table.Date, table.Timestamp, table.Unknown}, t.Kind)
	case parquet.Types.Float:
		return t.Kind == table.Real || t.Kind == table.Unknown
	case parquet.Types.Double:
		return t.Kind == table.Double || t.Kind == table.Unknown
	}
	return slices.Contains([]table.Kind{table.Varchar, table.Decimal, table.Real, table.Unknown}, t.Kind)
}
