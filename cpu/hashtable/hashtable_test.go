package hashtable

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Words have the numbers that a map gives them, in the order in which they come first.
func TestTableNumbersWordsInTheOrderOfTheirFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		ids, words := map[uint64]uint32{}, []uint64(nil)
		shift := rapid.SampledFrom([]uint{0, 32, 56}).Draw(t, "shift")
		for _, w := range rapid.SliceOfN(rapid.Uint64(), 0, 300).Draw(t, "words") {
			w = w >> shift << (shift / 2)
			if _, ok := ids[w]; !ok {
				ids[w], words = uint32(len(words)), append(words, w)
			}
			if got := table.ID(w); got != ids[w] {
				t.Fatalf("%d is number %d, want %d", w, got, ids[w])
			}
		}
		if !slices.Equal(table.Words, words) {
			t.Fatalf("%d, want %d", table.Words, words)
		}
	})
}
