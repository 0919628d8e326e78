package aggregation

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
)

// The ends of texts are those in the order of their bytes, whatever these begin with.
func TestEndsOfTexts(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte("a\x00\xffb")), 0, 12).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(text, 1, 20).Draw(t, "texts")
		if got, want := endsOf(&expr.Vector{Texts: list}).Texts, []string{slices.Min(list), slices.Max(list)}; !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", list, got, want)
		}
	})
}
