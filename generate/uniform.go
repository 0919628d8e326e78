package generate

import (
	"math"

	"github.com/stencildb/stencildb/table"
)

// uniform is data without structure, for measuring:
//
//   - a, b, c, d: INTEGER, independent, uniform in 0..2^19-1, the width of the
//     paper's data_count;
//   - wide: BIGINT, uniform over all 64 bits, so that a code takes three limbs;
//   - x: REAL, uniform in [0, 1) in steps of 2^-24;
//   - n: INTEGER, uniform in 0..999, NULL in a tenth of the rows.
func uniform() Generator {
	var cols []genColumn
	for i, name := range []string{"a", "b", "c", "d"} {
		c := integers(name, table.Integer, 0, 1<<19-1, nil)
		c.code = func(r row) uint64 { return r.random(uint64(i)) >> 45 }
		cols = append(cols, c)
	}
	nullable := integers("n", table.Integer, 0, 999, func(r row) int64 { return int64(r.random(6) >> 32 * 1000 >> 32) })
	nullable.null = func(r row) bool { return r.random(7)%10 == 0 }
	return Generator{
		Name:        "uniform",
		Doc:         "a, b, c, d: uniform 19-bit integers; wide: uniform 64-bit integers; x: REAL in [0, 1); n: 0..999, a tenth NULL",
		DefaultRows: 1_000_000,
		cols: append(cols,
			integers("wide", table.BigInt, math.MinInt64, math.MaxInt64, func(r row) int64 { return int64(r.random(4)) }),
			genColumn{
				name: "x", typ: table.Type{Kind: table.Real},
				lo: uint64(table.OrdinalFloat32(0)), hi: uint64(table.OrdinalFloat32(1)),
				code: func(r row) uint64 { // 24 bits convert and scale by a power of two without rounding
					return uint64(table.OrdinalFloat32(float32(r.random(5)>>40)/(1<<24)) - table.OrdinalFloat32(0))
				},
			},
			nullable),
	}
}
