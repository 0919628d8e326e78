package workload

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// No two draws are alike, nor like the first text; where there are few they are all.
func TestDraws(t *testing.T) {
	five := func(r *rand.Rand) string { return strconv.Itoa(r.IntN(5)) }
	list := draws("op", "3", 100, five)
	if !slices.Equal(slices.Sorted(slices.Values(list)), []string{"0", "1", "2", "4"}) {
		t.Errorf("%q", list)
	}
	if again := draws("op", "3", 2, five); !slices.Equal(again, list[:2]) {
		t.Errorf("%q, want the first two of %q", again, list)
	}
}
