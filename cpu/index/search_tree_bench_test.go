package index

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of lookups of keys in no order in sorted keys of 32 bits, on all cores. There is binary search, a walk
// down the tree one by one, and one of several at a time.
//
//	STENCILDB_BENCH_ROWS=268435456 go test -tags egl -run - -bench Lookup ./cpu/index
func BenchmarkLookup(b *testing.B) {
	rows := benchsize.Rows(b, 1<<24)
	step := uint64(1<<32) / uint64(rows+1)
	list := make([]uint32, rows)
	for i := range list {
		list[i] = uint32(uint64(i) * step)
	}
	keys, out := make([]uint64, 1<<20), make([]uint32, 1<<20)
	for i := range keys {
		keys[i] = uint64(rand.Uint32())
	}
	tree := newTree[uint32](rows, func(i int) uint64 { return uint64(list[i]) })
	for _, c := range []struct {
		way  string
		find func(keys []uint64, out []uint32)
	}{
		{"binary", func(keys []uint64, out []uint32) {
			for i, k := range keys {
				at, _ := slices.BinarySearch(list, uint32(k))
				out[i] = uint32(at)
			}
		}},
		{"tree", func(keys []uint64, out []uint32) {
			for i, k := range keys {
				out[i] = uint32(tree.first(k))
			}
		}},
		{"together", tree.find},
	} {
		b.Run(c.way, func(b *testing.B) {
			for b.Loop() {
				table.InParts(len(keys), func(lo, hi int) { c.find(keys[lo:hi], out[lo:hi]) })
			}
			b.ReportMetric(float64(len(keys))*float64(b.N)/1e6/b.Elapsed().Seconds(), "Mlookups/s")
			for i := 0; i < len(keys); i += 1000 {
				if want := sort.Search(rows, func(at int) bool { return uint64(list[at]) >= keys[i] }); int(out[i]) != want {
					b.Fatalf("key %d is at %d, not at %d", keys[i], want, out[i])
				}
			}
		})
	}
}
