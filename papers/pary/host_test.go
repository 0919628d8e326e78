package pary

import (
	"slices"
	"testing"
)

// The portable p-ary search, which other machines run, finds what the serial search finds, at the ends of ranges that parts fill, too.
func TestPortablePAry(t *testing.T) {
	for n := range 140 {
		keys := Keys(n, 9)
		var asked []Key
		for _, k := range keys {
			asked = append(asked, k, k.miss())
		}
		asked = append(asked, Key{}, Key{^uint32(0)})
		got, want := make([]uint32, len(asked)), make([]uint32, len(asked))
		scalarPAry(keys, asked, got)
		if Serial(keys, asked, want); !slices.Equal(got, want) {
			t.Fatalf("among %d keys: %v, want %v", n, got, want)
		}
	}
}
