package arrays_test

import (
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// Values that become elements of an Arrow array come back as they were, in a piece of it, too.
func TestArrowValuesAreThoseAppended(t *testing.T) {
	whole := func(digits string) *big.Int {
		n, ok := new(big.Int).SetString(digits, 10)
		if !ok {
			t.Fatal(digits)
		}
		return n
	}
	money, wide := table.Type{Kind: table.Decimal, Precision: 38, Scale: 2}, table.Type{Kind: table.Decimal, Precision: 60, Scale: 3}
	for _, x := range []struct {
		typ    table.Type
		values []table.Value
	}{
		{table.Type{Kind: table.BigInt}, []table.Value{table.Int(-1 << 63), table.Int(0), table.Int(1<<63 - 1)}},
		{table.Type{Kind: table.SmallInt}, []table.Value{{I: -7}}},
		{table.Type{Kind: table.Boolean}, []table.Value{{I: 1}, {I: 0}}},
		{table.Type{Kind: table.Date}, []table.Value{{I: -1}, {I: 20000}}},
		{table.Type{Kind: table.Double}, []table.Value{{F: -0.5}, {F: 1e300}}},
		{table.Type{Kind: table.Real}, []table.Value{{F: 0.5}}},
		{table.Type{Kind: table.Varchar}, []table.Value{{S: ""}, {S: "é"}}},
		{table.Type{Kind: table.Interval}, []table.Value{{I: 90e6, Span: table.Span{Months: 3}}}},
		{money, []table.Value{table.Dec(money, big.NewInt(-150)), table.Dec(money, whole("9223372036854775808")), table.Dec(money, whole("-9223372036854775809"))}},
		{wide, []table.Value{table.Dec(wide, whole("123456789012345678901234567890123456789012345"))}},
	} {
		b := array.NewBuilder(memory.DefaultAllocator, arrays.TypeOf(x.typ))
		values := []table.Value{table.Null(x.typ)}
		for _, v := range x.values {
			v.Type = x.typ
			values = append(values, v)
		}
		for _, v := range values {
			arrays.AppendValue(b, v)
		}
		a := b.NewArray()
		for from := range values { // from 1 on without a NULL
			value := arrays.Values(array.NewSlice(a, int64(from), int64(len(values))), x.typ)
			for i, want := range values[from:] {
				if got := value(i); got.String() != want.String() || got.Null != want.Null || got.Type != want.Type {
					t.Errorf("%v, from %d: element %d is %v, want %v", x.typ, from, i, got, want)
				}
			}
		}
		a.Release()
		b.Release()
	}
}
