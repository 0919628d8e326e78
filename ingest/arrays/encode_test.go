package arrays

import (
	"math"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/slab"
)

// A slab of values becomes an array once, which gives it back; what is made of it besides has
// memory of its own.
func TestSlabsAreTakenOnce(t *testing.T) {
	for _, rows := range []int{10, slab.Rows/4 - 1, slab.Rows / 4, slab.Rows, slab.Rows + 1} {
		slab := slab.New(rows)
		for i := range slab {
			slab[i] = uint64(i - 5)
		}
		s := &table.Segment{Type: table.Type{Kind: table.BigInt}, Base: table.OrdinalInt(0), Max: math.MaxUint64, Bits: 64, Codes: table.Codes{U64: slab}, Slab: true}
		var c Columns
		whole := table.Block{N: rows}
		part := c.Array(s, whole.Cut(3, 8)).(*array.Int64)
		first, second := c.Array(s, whole).(*array.Int64), c.Array(s, whole).(*array.Int64)
		check := func(a *array.Int64, from int64) {
			t.Helper()
			for i, v := range a.Int64Values() {
				if v != from+int64(i) {
					t.Fatalf("%d rows: row %d is %d, want %d", rows, i, v, from+int64(i))
				}
			}
		}
		check(first, -5)
		if &first.Int64Values()[0] != (*int64)(unsafe.Pointer(&slab[0])) || &second.Int64Values()[0] == &first.Int64Values()[0] {
			t.Errorf("%d rows: the first array has the slab, and nobody else", rows)
		}
		first.Release()
		others := c.Array(&table.Segment{Type: s.Type, Base: table.OrdinalInt(0), Codes: table.Codes{U64: make([]uint64, rows)}}, whole) // where the slab was, perhaps
		check(second, -5)
		check(part, -2)
		for _, a := range []arrow.Array{others, second, part} {
			a.Release()
		}
	}
}
