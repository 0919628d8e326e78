package engine

import (
	"math"
	"math/big"
	"testing"

	"github.com/stencildb/stencildb/table"
)

func TestJSONValues(t *testing.T) {
	huge, _ := new(big.Int).SetString("12345678901234567890123456789", 10)
	real := func(f float32) table.Value {
		return table.Value{Type: table.Type{Kind: table.Real}, F: float64(f)}
	}
	of := func(k table.Kind, i int64) table.Value { return table.Value{Type: table.Type{Kind: k}, I: i} }
	for _, c := range []struct {
		v    table.Value
		want string
	}{
		{table.Null(table.Type{Kind: table.Date}), "null"},
		{table.Bool(true), "true"},
		{table.Bool(false), "false"},
		{table.Int(0), "0"},
		{of(table.SmallInt, -7), "-7"},
		{table.Int(1 << 53), "9007199254740992"},
		{table.Int(1<<53 + 1), `"9007199254740993"`},
		{table.Int(-1 << 53), "-9007199254740992"},
		{table.Int(-1<<53 - 1), `"-9007199254740993"`},
		{table.Int(math.MinInt64), `"-9223372036854775808"`},
		{table.Dec(table.Type{Kind: table.Decimal, Precision: 10, Scale: 2}, big.NewInt(-5)), `"-0.05"`},
		{table.Dec(table.Type{Kind: table.Decimal, Precision: 38}, big.NewInt(3)), `"3"`},
		{table.Dec(table.Type{Kind: table.Decimal, Precision: 38, Scale: 1}, huge), `"1234567890123456789012345678.9"`},
		{table.Float(0.1), "0.1"},
		{real(0.1), "0.1"},
		{table.Float(float64(float32(0.1))), "0.10000000149011612"},
		{table.Float(1e300), "1e+300"},
		{table.Float(5e-324), "5e-324"},
		{table.Float(1e20), "100000000000000000000"},
		{table.Float(math.NaN()), `"NaN"`},
		{table.Float(math.Inf(1)), `"Infinity"`},
		{real(float32(math.Inf(-1))), `"-Infinity"`},
		{of(table.Date, 0), `"1970-01-01"`},
		{of(table.Timestamp, 1), `"1970-01-01 00:00:00.000001"`},
		{table.Str(""), `""`},
		{table.Str("<a> \"b\"\n\u2028"), `"<a> \"b\"\n\u2028"`},
	} {
		if got := string(jsonValue(c.v)); got != c.want {
			t.Errorf("%s %v is %s, want %s", c.v.Type, c.v, got, c.want)
		}
	}
}
