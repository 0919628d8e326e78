package arrays

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/stencildb/stencildb/table"
)

// AppendValue appends a value to the builder of its type's [TypeOf], or of [DictionaryType].
func AppendValue(b array.Builder, v table.Value) {
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
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(monthDayNano(v))
	case *array.StringBuilder:
		b.Append(v.String())
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range *v.List {
			AppendValue(b.ValueBuilder(), e)
		}
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(v.S); err != nil {
			panic(err)
		}
	}
}

// Values reads the elements of an array of t's [TypeOf], or of [DictionaryType].
func Values(a arrow.Array, t table.Type) func(i int) table.Value {
	read := Reader(a, t)
	return func(i int) (v table.Value) {
		read(i, &v)
		return v
	}
}

// Reader is Values into the place of a value, which is the zero one.
func Reader(a arrow.Array, t table.Type) func(i int, to *table.Value) {
	read := reader(a, t)
	switch _, none := a.(*array.Null); { // it has no validity
	case none:
		return func(_ int, to *table.Value) { *to = table.Null(t) }
	case a.NullN() == 0:
		return read
	}
	return func(i int, to *table.Value) {
		if a.IsNull(i) {
			*to = table.Null(t)
		} else {
			read(i, to)
		}
	}
}

// reader is Reader of elements that are not NULL.
func reader(a arrow.Array, t table.Type) func(i int, to *table.Value) {
	if value := Integers(a); value != nil {
		return func(i int, to *table.Value) { to.Type, to.I = t, value(i) }
	}
	switch a := a.(type) {
	case *array.MonthDayNanoInterval:
		return func(i int, to *table.Value) { *to = intervalOf(a.Value(i)) }
	case *array.Decimal128:
		return func(i int, to *table.Value) {
			n := a.Value(i)
			if v := int64(n.LowBits()); n.HighBits() == v>>63 {
				to.Type, to.I = t, v
			} else { // more than 64 bits
				*to = table.Dec(t, n.BigInt())
			}
		}
	case *array.Decimal256:
		return func(i int, to *table.Value) { *to = table.Dec(t, a.Value(i).BigInt()) }
	case *array.Float32:
		return func(i int, to *table.Value) { to.Type, to.F = t, float64(a.Value(i)) }
	case *array.Float64:
		return func(i int, to *table.Value) { to.Type, to.F = t, a.Value(i) }
	case *array.Dictionary:
		words := a.Dictionary().(*array.String)
		return func(i int, to *table.Value) { to.Type, to.S = t, words.Value(a.GetValueIndex(i)) }
	case *array.String:
		return func(i int, to *table.Value) { to.Type, to.S = t, a.Value(i) }
	}
	return func(_ int, to *table.Value) { to.Type = t }
}

// monthDayNano is an interval as Arrow has it: with days in the place of a time of day of more than 64 bits of nanoseconds.
func monthDayNano(v table.Value) arrow.MonthDayNanoInterval {
	if us := v.Clock(); us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
		v.Carried = 0
	}
	return arrow.MonthDayNanoInterval{Months: v.Months, Days: int32(v.Days()), Nanoseconds: v.Clock() * 1000}
}

// intervalOf reads what monthDayNano writes.
func intervalOf(v arrow.MonthDayNanoInterval) table.Value {
	us := int64(v.Days)*table.MicrosPerDay + v.Nanoseconds/1000
	return table.Value{Type: table.Type{Kind: table.Interval}, I: us, Span: table.Span{Months: v.Months, Carried: int32(us/table.MicrosPerDay - int64(v.Days))}}
}
