package ingest

import (
	"math"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

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

// ArrowType is the Arrow type of an SQL type. A NUMERIC is Decimal128, Decimal256 beyond
// 38 digits and text beyond 76, an interval Interval[MonthDayNano].
func ArrowType(t table.Type) arrow.DataType {
	p, scale := int32(max(t.Precision, t.Scale, 1)), int32(t.Scale)
	dt, ok := arrowTypes[t.Kind]
	switch {
	case ok:
		return dt
	case t.Kind == table.Array:
		return arrow.ListOf(ArrowType(t.Element()))
	case t.Kind == table.Decimal && p <= 38:
		return &arrow.Decimal128Type{Precision: p, Scale: scale}
	case t.Kind == table.Decimal && p <= 76:
		return &arrow.Decimal256Type{Precision: p, Scale: scale}
	}
	return arrow.BinaryTypes.String
}

// AppendValue appends a value to the builder of its type's [ArrowType], or of [DictionaryType].
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

// ArrowValues reads the elements of an array of t's [ArrowType], or of [DictionaryType].
func ArrowValues(a arrow.Array, t table.Type) func(i int) table.Value {
	read := ArrowReader(a, t)
	return func(i int) (v table.Value) {
		read(i, &v)
		return v
	}
}

// ArrowReader is ArrowValues into the place of a value, which is the zero one.
func ArrowReader(a arrow.Array, t table.Type) func(i int, to *table.Value) {
	read := arrowReader(a, t)
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

// arrowReader is ArrowReader of elements that are not NULL.
func arrowReader(a arrow.Array, t table.Type) func(i int, to *table.Value) {
	if value := integers(a); value != nil {
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

// Columns makes Arrow arrays of columns of codes. It keeps their dictionaries. Several
// goroutines may use it.
type Columns struct {
	mu    sync.Mutex
	texts map[*table.Segment]arrow.Array // dictionaries
}

// Array is a block's rows of a segment, of its type's [ArrowType]; of text, of
// [DictionaryType].
func (c *Columns) Array(s *table.Segment, b table.Block) arrow.Array {
	offset := table.IntFromOrdinal(s.Base)
	var values []byte
	switch s.Type.Kind {
	case table.SmallInt:
		values = arrow.Int16Traits.CastToBytes(table.Gather(s.Codes, b, int16(offset)))
	case table.Integer, table.Date:
		values = arrow.Int32Traits.CastToBytes(table.Gather(s.Codes, b, int32(offset)))
	case table.Interval:
		out := make([]arrow.MonthDayNanoInterval, b.Len())
		for i, us := range table.Gather(s.Codes, b, offset) {
			out[i] = monthDayNano(table.Spanned(table.IntervalValue(us, table.Span{}), s.Spans))
		}
		values = arrow.MonthDayNanoIntervalTraits.CastToBytes(out)
	case table.BigInt, table.Timestamp:
		ints := s.Codes.U64
		if s.Slab && b.Rows == nil && b.N == len(ints) {
			s.Slab = false
		} else {
			ints = table.NewSlab(b.Len())
			table.GatherInto(ints, s.Codes, b, uint64(offset))
		}
		return fixedWidth(ArrowType(s.Type), s, b, memory.NewBufferWithAllocator(arrow.Uint64Traits.CastToBytes(ints), slabs{}))
	case table.Decimal:
		out := make([]decimal128.Num, b.Len())
		for i, x := range table.Gather(s.Codes, b, offset) {
			out[i] = decimal128.FromI64(x)
		}
		values = arrow.Decimal128Traits.CastToBytes(out)
	case table.Real:
		out := make([]float32, b.Len())
		for i, o := range table.Gather(s.Codes, b, uint32(s.Base)) {
			out[i] = table.Float32FromOrdinal(o)
		}
		values = arrow.Float32Traits.CastToBytes(out)
	case table.Double:
		values = arrow.Float64Traits.CastToBytes(s.Doubles(b))
	case table.Boolean:
		values = make([]byte, bitutil.BytesForBits(int64(b.Len())))
		for i, x := range table.Gather(s.Codes, b, uint8(s.Base)) {
			values[i/8] |= x << (i % 8)
		}
	case table.Varchar:
		return c.text(s, b)
	default:
		return array.NewNull(b.Len())
	}
	return fixedWidth(ArrowType(s.Type), s, b, memory.NewBufferBytes(values))
}

// slabs takes slabs back when arrays are released.
type slabs struct{ memory.Allocator }

// Free implements memory.Allocator.
func (slabs) Free(b []byte) {
	if len(b) > 0 {
		table.FreeSlab(unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), cap(b)/8))
	}
}

// fixedWidth is an array of values, of which the segment says which are NULL. It takes the buffer.
func fixedWidth(t arrow.DataType, s *table.Segment, b table.Block, values *memory.Buffer) arrow.Array {
	valid, nulls := s.Validity(b)
	buffers := []*memory.Buffer{nil, values}
	if nulls > 0 {
		buffers[0] = memory.NewBufferBytes(valid)
	}
	data := array.NewData(t, b.Len(), buffers, nil, nulls, 0)
	defer data.Release()
	values.Release()
	return array.MakeFromData(data)
}

// maxDictionary is the most texts that an array has in its dictionary beyond those of
// its own rows.
const maxDictionary = 1 << 16

// text is indices into the segment's dictionary; where that is large, into one of the
// array's own, which has a text a row.
func (c *Columns) text(s *table.Segment, b table.Block) arrow.Array {
	indices := table.Gather[int32](s.Codes, b, 0)
	dictionary := c.dictionary(s)
	if dictionary == nil {
		words := array.NewStringBuilder(memory.DefaultAllocator)
		defer words.Release()
		for i, code := range indices {
			if indices[i] = int32(i); s.IsNull(b.Row(i)) {
				words.Append("")
			} else {
				words.Append(s.Dict[code])
			}
		}
		dictionary = words.NewArray()
	}
	return array.NewDictionaryArray(DictionaryType,
		fixedWidth(DictionaryType.IndexType, s, b, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(indices))), dictionary)
}

// dictionary is that of a segment, nil for a large one.
func (c *Columns) dictionary(s *table.Segment) arrow.Array {
	if len(s.Dict) > maxDictionary {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts[s] == nil {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(s.Dict, nil)
		if c.texts == nil {
			c.texts = map[*table.Segment]arrow.Array{}
		}
		c.texts[s] = b.NewArray()
	}
	return c.texts[s]
}
