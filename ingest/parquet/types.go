package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// fields maps the schema: a field and a column for each column of the root.
func fields(s *schema.Schema) (fields []table.Field, columns []column) {
	root := s.Root()
	for i := range root.NumFields() {
		node := root.Field(i)
		f, c := table.Field{Name: node.Name(), Unsupported: "a nested type"}, column{}
		if leaf, ok := node.(*schema.PrimitiveNode); ok && node.RepetitionType() != parquet.Repetitions.Repeated {
			f.Type, c.stored, f.Unsupported = columnType(leaf)
			c.leaf = s.ColumnIndexByNode(node)
		}
		fields, columns = append(fields, f), append(columns, c)
	}
	return fields, columns
}

// physical is how the values of Parquet's physical types are laid out, and the type of
// those without a logical one.
var physical = map[parquet.Type]struct {
	stored arrow.DataType
	kind   table.Kind
}{
	parquet.Types.Boolean:   {arrow.FixedWidthTypes.Boolean, table.Boolean},
	parquet.Types.Int32:     {arrow.PrimitiveTypes.Int32, table.Integer},
	parquet.Types.Int64:     {arrow.PrimitiveTypes.Int64, table.BigInt},
	parquet.Types.Float:     {arrow.PrimitiveTypes.Float32, table.Real},
	parquet.Types.Double:    {arrow.PrimitiveTypes.Float64, table.Double},
	parquet.Types.Int96:     {&arrow.FixedSizeBinaryType{ByteWidth: parquet.Int96SizeBytes}, table.Timestamp}, // of pandas and Spark
	parquet.Types.ByteArray: {arrow.BinaryTypes.Binary, table.Varchar},                                        // of Impala and old Spark: text, as far as it is UTF-8
}

// logical is the same of the logical types that say no more than their name; nil: as the
// physical type.
var logical = map[string]struct {
	stored arrow.DataType
	kind   table.Kind
}{
	"Null": {nil, table.Unknown}, "Date": {arrow.FixedWidthTypes.Date32, table.Date},
	"Float16": {arrow.FixedWidthTypes.Float16, table.Real}, "String": {arrow.BinaryTypes.String, table.Varchar},
	"Enum": {arrow.BinaryTypes.String, table.Varchar}, "JSON": {arrow.BinaryTypes.String, table.Varchar},
}

// columnType maps the type of a leaf, and says how its values are laid out or why it
// cannot be used.
func columnType(n *schema.PrimitiveNode) (t table.Type, stored arrow.DataType, unsupported string) {
	plain := physical[n.PhysicalType()]
	stored = plain.stored
	if n.PhysicalType() == parquet.Types.FixedLenByteArray {
		stored = &arrow.FixedSizeBinaryType{ByteWidth: n.TypeLength()}
	}
	switch lt := n.LogicalType().(type) {
	case interface {
		Precision() int32
		Scale() int32
	}:
		t, unsupported = arrays.DecimalType(lt.Precision(), lt.Scale())
		return t, stored, unsupported
	case schema.TimestampLogicalType, *schema.TimestampLogicalType:
		t.Kind = table.Timestamp
		switch lt.(interface{ TimeUnit() schema.TimeUnitType }).TimeUnit() {
		case schema.TimeUnitMillis:
			return t, arrow.FixedWidthTypes.Timestamp_ms, ""
		case schema.TimeUnitMicros:
			return t, arrow.FixedWidthTypes.Timestamp_us, ""
		}
		return t, arrow.FixedWidthTypes.Timestamp_ns, ""
	case interface {
		BitWidth() int8
		IsSigned() bool
	}:
		t.Kind = arrays.IntKind(int(lt.BitWidth()), lt.IsSigned())
		switch {
		case lt.IsSigned():
		case lt.BitWidth() == 32:
			stored = arrow.PrimitiveTypes.Uint32
		case lt.BitWidth() == 64:
			stored = arrow.PrimitiveTypes.Uint64
		}
		return t, stored, ""
	case nil, schema.NoLogicalType, *schema.NoLogicalType, schema.UnknownLogicalType, *schema.UnknownLogicalType:
	default:
		form, ok := logical[lt.String()]
		if t.Kind = form.kind; !ok {
			return t, nil, "type " + lt.String()
		}
		if form.stored != nil {
			stored = form.stored
		}
		return t, stored, ""
	}
	if t.Kind = plain.kind; t.Kind == table.Unknown {
		return t, nil, "binary data"
	}
	return t, stored, ""
}
