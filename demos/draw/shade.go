package draw

import (
	"slices"
	"sort"
)

// Ramp returns a grey for each value, by its rank among all (the middle one of equals). Values are skewed,
// and in proportion nearly all would be black.
func Ramp[T float32 | uint64 | int64](v []T) []uint8 {
	order := slices.Sorted(slices.Values(v))
	out := make([]uint8, len(v))
	for i, x := range v {
		lo, _ := slices.BinarySearch(order, x)
		hi := lo + sort.Search(len(order)-lo, func(j int) bool { return order[lo+j] > x })
		out[i] = Grey + uint8((lo+hi)/2*(Levels-1)/len(v))
	}
	return out
}

// Tint returns the shades of a Ramp, tinted where passes says so.
func Tint(shades []uint8, passes func(i int) bool) []uint8 {
	out := slices.Clone(shades)
	for i := range out {
		if passes(i) {
			out[i] += Tinted - Grey
		}
	}
	return out
}

// Values returns the colours of stencil values: 0, 1, and 2 for all beyond.
func Values(stencil []uint8) []uint8 {
	out := make([]uint8, len(stencil))
	for i, v := range stencil {
		out[i] = Stencil + min(v, 2)
	}
	return out
}

// Chosen returns ink for the records that are selected.
func Chosen(n int, selected func(i int) bool) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = Stencil
		if selected(i) {
			out[i] = Ink
		}
	}
	return out
}
