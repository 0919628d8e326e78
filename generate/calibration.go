package generate

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/table"
)

// Calibration is uniform data to measure a machine with. It has integers of 7 bits (n), of 40 (w),
// and of 19 (a, b, c, d and fresh0 to fresh4). 19 is the width of the paper's data_count. It has a REAL
// (r) and a DOUBLE (x) in [0, 1). Two of 1,024 rows have the smallest and the largest value, so
// that each chunk's codes have the width of the column.
func Calibration() Generator {
	g := Generator{Name: "calibration", Doc: "uniform values of 7, 19 and 40 bits, REAL and DOUBLE in [0, 1)", DefaultRows: 1 << 20}
	add := func(name string, kind table.Kind, lo, hi uint64, draw func(random uint64) uint64) {
		stream := uint64(len(g.cols))
		g.cols = append(g.cols, genColumn{name: name, typ: table.Type{Kind: kind}, lo: lo, hi: hi, code: func(r row) uint64 {
			switch r.n % 1024 {
			case 0:
				return 0
			case 1:
				return hi - lo
			}
			return draw(r.random(stream)) - lo
		}})
	}
	uniform := func(name string, kind table.Kind, bits int) {
		lo := table.OrdinalInt(0)
		add(name, kind, lo, lo+1<<bits-1, func(r uint64) uint64 { return lo + r>>(64-bits) })
	}
	uniform("n", table.Integer, 7)
	uniform("w", table.BigInt, 40)
	for _, name := range []string{"a", "b", "c", "d"} {
		uniform(name, table.BigInt, 19) // of products that 64 bits hold
	}
	for i := range 5 {
		uniform(fmt.Sprintf("fresh%d", i), table.BigInt, 19)
	}
	add("r", table.Real, uint64(table.OrdinalFloat32(0)), uint64(table.OrdinalFloat32(math.Nextafter32(1, 0))),
		func(r uint64) uint64 { return uint64(table.OrdinalFloat32(float32(r>>40) / (1 << 24))) })
	add("x", table.Double, table.OrdinalFloat64(0), table.OrdinalFloat64(math.Nextafter(1, 0)),
		func(r uint64) uint64 { return table.OrdinalFloat64(float64(r>>11) / (1 << 53)) })
	return g
}
