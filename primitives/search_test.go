package primitives_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/primitives"
)

// Search finds what binary search does on the host, of keys that are there, near those that are, and at the ends. The
// width of the words is a hint alone.
func TestSearch(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		sorted := words(t, rapid.OneOf(rapid.IntRange(0, 3000), rapid.SampledFrom([]int{31, 32, 33, 1023, 1024, 1025, 2047, 2048, 2049, 32769, 40000})).Draw(t, "sorted"))
		slices.Sort(sorted)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keys := words(t, length(t, e.d))
		for i := range keys {
			if len(sorted) > 0 && i%2 == 0 {
				keys[i] = sorted[rng.IntN(len(sorted))] + rng.Uint32N(3) - 1
			}
		}
		keys = append(keys, 0, math.MaxUint32, math.MaxUint32-1)
		want := make([]uint32, len(keys))
		for i, k := range keys {
			at, _ := slices.BinarySearch(sorted, k)
			want[i] = uint32(at)
		}
		x, k := primitives.FromSlice(sorted), primitives.FromSlice(keys)
		tree, err := primitives.NewTree(e.r, e.d, x)
		e.must(err)
		for _, way := range primitives.SearchWays {
			out, intact := e.guarded(len(keys))
			e.must(primitives.Search(e.r, e.d, way, primitives.Sorted{Words: x, Tree: tree, Bits: rapid.SampledFrom([]int{0, 8, 24}).Draw(t, "bits")}, k, out))
			e.holds(way, out, want)
			intact()
		}
	})
}
