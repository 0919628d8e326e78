package table

import "fmt"

// Kind is the family of an SQL type.
type Kind uint8

// The kinds of DESIGN's data model. Unknown is the type of a bare NULL and of a
// column without any value; Interval is microseconds.
const (
	Unknown Kind = iota
	Boolean
	SmallInt
	Integer
	BigInt
	Decimal
	Real
	Double
	Date
	Timestamp
	Varchar
	Interval
)

// Type is an SQL type. Precision and Scale belong to Decimal: Precision digits
// in all, Scale of them after the point. A column's Decimal has Precision <= 18;
// sums are Decimal(38, s).
type Type struct {
	Kind      Kind
	Precision int
	Scale     int
}

// String returns PostgreSQL's name of the type.
func (t Type) String() string {
	switch t.Kind {
	case Boolean:
		return "boolean"
	case SmallInt:
		return "smallint"
	case Integer:
		return "integer"
	case BigInt:
		return "bigint"
	case Decimal:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
	case Real:
		return "real"
	case Double:
		return "double precision"
	case Date:
		return "date"
	case Timestamp:
		return "timestamp without time zone"
	case Varchar:
		return "character varying"
	case Interval:
		return "interval"
	}
	return "unknown"
}

// IsInteger reports SMALLINT, INTEGER or BIGINT.
func (t Type) IsInteger() bool {
	return t.Kind == SmallInt || t.Kind == Integer || t.Kind == BigInt
}

// IsExact reports a type whose values are integers or scaled integers that
// SUM adds exactly: the integers and DECIMAL.
func (t Type) IsExact() bool { return t.IsInteger() || t.Kind == Decimal }

// IsFloat reports REAL or DOUBLE PRECISION.
func (t Type) IsFloat() bool { return t.Kind == Real || t.Kind == Double }

// IsNumeric reports any type that arithmetic is defined on.
func (t Type) IsNumeric() bool { return t.IsExact() || t.IsFloat() }
