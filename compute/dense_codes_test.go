package compute

import (
	"testing"

	"pgregory.net/rapid"
)

// The dense codes order as the codes do, and a threshold splits them at the same
// place.
func TestThresholdSplitsWhereTheConstantDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 64).Draw(t, "width")
		mask := ^uint64(0) >> (64 - width)
		s := stored(rapid.Uint64().Draw(t, "stored") & mask)
		code := rapid.Uint64().Draw(t, "code") & uint64(s)
		near := code + uint64(rapid.IntRange(-2, 2).Draw(t, "beside"))
		c := rapid.OneOf(rapid.Just(near), rapid.Uint64()).Draw(t, "constant") & mask
		if s.code(s.dense(code)) != code {
			t.Fatalf("code %x of stored bits %x becomes %x", code, s, s.code(s.dense(code)))
		}
		bound, all := s.threshold(c)
		if less := all || s.dense(code) < bound; less != (code < c) {
			t.Fatalf("stored bits %x: code %x < %x is %v", s, code, c, less)
		}
		bound, all = s.after(c)
		if most := all || s.dense(code) < bound; most != (code <= c) {
			t.Fatalf("stored bits %x: code %x <= %x is %v", s, code, c, most)
		}
	})
}
