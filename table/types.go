package table

import (
	"fmt"
	"slices"
)

// Kind is the family of an SQL type.
type Kind uint8

// The kinds of DESIGN's data model. Unknown is the type of a bare NULL and of a
// column without any value; Interval is microseconds. Array is a list of values of one type: a
// column of an answer may have it, no table's.
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
	Array
)

// Type is an SQL type. Precision and Scale belong to Decimal: Precision digits
// in all, Scale of them after the point. A column's Decimal has Precision <= 18;
// sums are Decimal(38, s). Of is the kind of an Array's elements, which have its Precision and
// Scale.
type Type struct {
	Kind      Kind
	Of        Kind
	Precision int
	Scale     int
}

// kindNames are PostgreSQL's names of the kinds.
var kindNames = [...]string{
	Unknown: "unknown", Boolean: "boolean", SmallInt: "smallint", Integer: "integer", BigInt: "bigint", Decimal: "numeric",
	Real: "real", Double: "double precision", Date: "date", Timestamp: "timestamp without time zone",
	Varchar: "character varying", Interval: "interval",
}

// String returns PostgreSQL's name of the type.
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
	case Array:
		return t.Element().String() + "[]"
	}
	return kindNames[t.Kind]
}

// ArrayOf is the type of a list of values of a type.
func ArrayOf(t Type) Type {
	return Type{Kind: Array, Of: t.Kind, Precision: t.Precision, Scale: t.Scale}
}

// Element is the type of an Array's elements.
func (t Type) Element() Type { return Type{Kind: t.Of, Precision: t.Precision, Scale: t.Scale} }

// shortNames are PostgreSQL's other names of the kinds.
var shortNames = map[string]Kind{
	"bool": Boolean, "int2": SmallInt, "int": Integer, "int4": Integer, "int8": BigInt, "decimal": Decimal,
	"float4": Real, "float8": Double, "float": Double, "double": Double,
	"timestamp": Timestamp, "varchar": Varchar, "text": Varchar,
}

// KindNamed returns the kind that SQL calls name, in lower case.
func KindNamed(name string) (Kind, bool) {
	if i := slices.Index(kindNames[:], name); i > 0 {
		return Kind(i), true
	}
	k, ok := shortNames[name]
	return k, ok
}

// IsInteger reports SMALLINT, INTEGER or BIGINT.
func (t Type) IsInteger() bool {
	return t.Kind == SmallInt || t.Kind == Integer || t.Kind == BigInt
}

// Wider is the one of two integer types that holds the values of both.
func Wider(a, b Type) Type {
	if a.Kind > b.Kind {
		return a
	}
	return b
}

// IsExact reports a type whose values are integers or scaled integers that
// SUM adds exactly: the integers and DECIMAL.
func (t Type) IsExact() bool { return t.IsInteger() || t.Kind == Decimal }

// IsFloat reports REAL or DOUBLE PRECISION.
func (t Type) IsFloat() bool { return t.Kind == Real || t.Kind == Double }

// IsNumeric reports any type that arithmetic is defined on.
func (t Type) IsNumeric() bool { return t.IsExact() || t.IsFloat() }
