package physical_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
)

// A digit is one more than a slot, and has room for the last one.
func TestDigitsOfBuilds(t *testing.T) {
	for size, want := range map[int]int{1: 0, 2: 1, 1<<8 - 1: 1, 1 << 8: 2, 1<<16 - 1: 2, 1 << 16: 4} {
		b := &physical.Build{Query: &physical.Query{Groups: &plan.Aggregate{}, Star: []*physical.Dimension{{Size: size}}}}
		if got := b.DigitBytes(); got != want {
			t.Errorf("%d slots: digits of %d bytes, want %d", size, got, want)
		}
	}
}
