package radixsort

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestQuickselect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(0, rapid.SampledFrom([]int{0, 1, 5, 1000}).Draw(t, "most")), 1, 80).Draw(t, "list")
		k := rapid.IntRange(0, len(list)-1).Draw(t, "k")
		want := slices.Sorted(slices.Values(list))
		Quickselect(list, k, func(a, b int) bool { return a < b })
		if list[k] != want[k] || slices.Max(list[:k+1]) != want[k] || slices.Min(list[k:]) != want[k] {
			t.Fatalf("%v has not the element of rank %d in its place", list, k)
		}
		if slices.Sort(list); !slices.Equal(list, want) {
			t.Fatalf("%v has become %v", want, list)
		}
	})
}
