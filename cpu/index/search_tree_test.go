package index

import (
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// TestTreeFindsWhatBinarySearchFinds compares both over lists around the sizes at which levels begin.
func TestTreeFindsWhatBinarySearchFinds(t *testing.T) {
	t.Run("32 bits", testTree[uint32])
	t.Run("64 bits", testTree[uint64])
}

func testTree[T uint32 | uint64](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.SampledFrom([]int{63, 64, 65, 255, 256, 257, 511, 513, 4095, 4096, 4097, 70000})).Draw(t, "n")
		step := rapid.Uint64Range(0, uint64(^T(0))/uint64(n+1)).Draw(t, "step")
		base := uint64(^T(0)) - step*uint64(n)
		at := func(i int) uint64 { return base + uint64(i)*step/2*2 }
		tree := newTree[T](n, at)
		keys := []uint64{0, 1, uint64(^T(0)), base, base + 1}
		for range 40 {
			keys = append(keys, base+rapid.Uint64Range(0, step*uint64(n)).Draw(t, "key"))
		}
		got := make([]uint32, len(keys))
		tree.find(keys, got)
		for i, k := range keys {
			want := sort.Search(n, func(i int) bool { return at(i) >= k })
			if one := tree.first(k); one != want || int(got[i]) != want {
				t.Fatalf("the first of %d codes from %d in steps of %d that is %d or larger: %d, and %d among others; binary search says %d",
					n, base, step, k, one, got[i], want)
			}
		}
	})
}
