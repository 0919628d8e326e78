package aggregation

import (
	"math/big"
	"testing"

	"github.com/stencildb/stencildb/expr"

	"pgregory.net/rapid"
)

// Sums are right whatever the size of the values, and however they are merged.
func TestSumsOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const groups = 5
		want := make([]*big.Int, groups)
		for g := range want {
			want[g] = new(big.Int)
		}
		value := rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64().Draw(t, "value") >> rapid.IntRange(0, 63).Draw(t, "shift")
		})
		parts := rapid.IntRange(1, 3).Draw(t, "parts")
		var all *intSums
		for range parts {
			s := &intSums{}
			for pieces := rapid.IntRange(0, 6).Draw(t, "pieces"); pieces > 0; pieces-- {
				s.Resize(rapid.IntRange(len(s.n), groups).Draw(t, "groups"))
				x := expr.Vector{Ints: rapid.SliceOfN(value, 0, 20).Draw(t, "values")}
				if len(s.n) == 0 {
					continue
				}
				var of []uint32
				for range x.Ints {
					of = append(of, uint32(rapid.IntRange(0, len(s.n)-1).Draw(t, "group")))
				}
				if rapid.Bool().Draw(t, "wide") {
					for _, v := range x.Ints {
						x.Highs = append(x.Highs, v>>63)
					}
				}
				for i, v := range x.Ints {
					want[of[i]].Add(want[of[i]], big.NewInt(v))
				}
				s.Add(of, &x, nil)
			}
			if s.Resize(groups); all == nil {
				all = s
				continue
			}
			to := []uint32{0, 1, 2, 3, 4}
			all.Merge(s, to)
		}
		for g := range want {
			total, got := all.total(uint32(g)), new(big.Int)
			if total.Into(got); got.Cmp(want[g]) != 0 {
				t.Fatalf("group %d: %v, want %v", g, got, want[g])
			}
		}
	})
}
