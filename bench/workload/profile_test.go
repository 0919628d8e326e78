package workload

import (
	"math"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// Constants have exactly the value.
func TestLiterals(t *testing.T) {
	for want, v := range map[string]table.Value{
		"-7":                                    {Type: table.Type{Kind: table.BigInt}, I: -7},
		"1.05":                                  {Type: table.Type{Kind: table.Decimal, Precision: 3, Scale: 2}, I: 105},
		"9.516667366027832e+00":                 {Type: table.Type{Kind: table.Real}, F: float64(float32(9.516667))},
		"CAST('-Infinity' AS double precision)": table.Float(math.Inf(-1)),
		"DATE '1970-01-03'":                     {Type: table.Type{Kind: table.Date}, I: 2},
		"TIMESTAMP '1970-01-01 00:00:01'":       {Type: table.Type{Kind: table.Timestamp}, I: 1e6},
		"NULL":                                  table.Null(table.Type{Kind: table.Date}),
	} {
		if got := literal(v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
