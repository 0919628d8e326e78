package arrays

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stencildb/stencildb/table"
)

// Integers returns the function that reads element i of an array of integers of up to 64
// bits with a sign. Among them are days, milliseconds as days, times in their unit, unscaled
// decimals and booleans. It is nil for other arrays.
func Integers(a arrow.Array) func(i int) int64 {
	switch d := a.Data(); a.DataType().ID() {
	case arrow.BOOL:
		return func(i int) int64 { return table.Bool(a.(*array.Boolean).Value(i)).I }
	case arrow.INT8:
		return values[int8](d)
	case arrow.UINT8:
		return values[uint8](d)
	case arrow.INT16:
		return values[int16](d)
	case arrow.UINT16:
		return values[uint16](d)
	case arrow.INT32, arrow.DATE32, arrow.DECIMAL32:
		return values[int32](d)
	case arrow.UINT32:
		return values[uint32](d)
	case arrow.INT64, arrow.DECIMAL64, arrow.TIMESTAMP, arrow.DURATION:
		return values[int64](d)
	case arrow.DATE64:
		ms := values[int64](d)
		return func(i int) int64 { return table.FloorDiv(ms(i), 24*60*60*1000) }
	}
	return nil
}

func values[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64](d arrow.ArrayData) func(i int) int64 {
	list := arrow.GetValues[T](d, 1)
	return func(i int) int64 { return int64(list[i]) }
}

// bigEndian reads two's complement; ok is false beyond 64 bits.
func bigEndian(v []byte) (i int64, ok bool) {
	if len(v) == 0 {
		return 0, false
	}
	pad := byte(int8(v[0]) >> 7)
	for ; len(v) > 8; v = v[1:] {
		if v[0] != pad || v[1]>>7 != pad>>7 {
			return 0, false
		}
	}
	i = int64(int8(v[0]))
	for _, c := range v[1:] {
		i = i<<8 | int64(c)
	}
	return i, true
}
