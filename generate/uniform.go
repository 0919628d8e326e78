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
		c.fill = func(key, first, _ uint64, ords []uint64) {
			for row := range ords {
				ords[row] = table.OrdinalInt(int64(random(key, first+uint64(row), uint64(i)) >> 45))
			}
		}
		cols = append(cols, c)
	}
	nullable := integers("n", table.Integer, 0, 999, func(key, row uint64) int64 {
		return int64(random(key, row, 6) >> 32 * 1000 >> 32)
	})
	nullable.null = func(key, row uint64) bool { return random(key, row, 7)%10 == 0 }
	return Generator{
		Name:        "uniform",
		Doc:         "a, b, c, d: uniform 19-bit integers; wide: uniform 64-bit integers; x: REAL in [0, 1); n: 0..999, a tenth NULL",
		DefaultRows: 1_000_000,
		cols: append(cols,
			integers("wide", table.BigInt, math.MinInt64, math.MaxInt64, func(key, row uint64) int64 {
				return int64(random(key, row, 4))
			}),
			genColumn{
				name: "x", typ: table.Type{Kind: table.Real},
				lo: uint64(table.OrdinalFloat32(0)), hi: uint64(table.OrdinalFloat32(1)),
				fill: func(key, first, _ uint64, ords []uint64) {
					for i := range ords { // 24 bits convert and scale by a power of two without rounding
						ords[i] = uint64(table.OrdinalFloat32(float32(random(key, first+uint64(i), 5)>>40) / (1 << 24)))
					}
				},
			},
			nullable),
	}
}
