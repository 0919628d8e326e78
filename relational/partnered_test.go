package relational

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
)

// The rows of a semi join are the left rows with a pair, those of an anti join the others, each once. A left join has the pairs, then the others
// without a right row.
func TestPartneredRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		for _, n := range []int{0, 1, 2, 31, 1000, 4097} {
			for _, pairs := range []int{0, min(1, n), n / 20, n / 2, 3 * n} {
				places, right, list := make([]uint32, pairs), make([]uint32, pairs), make([]uint32, n)
				has := make([]bool, n)
				for i := range places {
					places[i], right[i] = rng.Uint32N(uint32(n)), rng.Uint32()
					has[places[i]] = true
				}
				for i := range list {
					list[i] = rng.Uint32()
				}
				for _, kind := range []plan.JoinKind{plan.Semi, plan.Anti, plan.LeftOuter} {
					checkPartnered(t, g, d, fmt.Sprintf("%v join of %d rows, %d pairs", kind, n, pairs), kind, has, places, list, right)
				}
			}
		}
	})
}

func checkPartnered(t *testing.T, g *pass.GL, d compute.Profile, name string, kind plan.JoinKind, has []bool, places, list, right []uint32) {
	t.Helper()
	defer g.End()
	var all, partners []uint32
	if kind == plan.LeftOuter {
		all, partners = slices.Clone(places), slices.Clone(right)
	}
	for place, has := range has {
		if has == (kind == plan.Semi) {
			all, partners = append(all, uint32(place)), append(partners, math.MaxUint32)
		}
	}
	var of []primitives.Vector
	if kind == plan.LeftOuter {
		of = []primitives.Vector{vectorOfWords(right)}
	}
	held, n, err := Partnered(g, d, kind, len(has), vectorOfWords(places), []physical.RowIDs{{}, {Rows: list}}, of)
	if err != nil || n != len(all) {
		t.Errorf("%s: %d rows, want %d, %v", name, n, len(all), err)
		return
	}
	read := func(h *physical.Held) []uint32 {
		if h.N == 0 {
			return nil
		}
		words, err := h.On.(primitives.Vector).Read(g)
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	taken := make([]uint32, len(all))
	for i, place := range all {
		taken[i] = list[place]
	}
	want := [][]uint32{all, taken}
	if kind == plan.LeftOuter {
		want = append(want, partners)
	}
	for i, h := range slices.Concat(held[0], held[1]) {
		if got := read(h); !slices.Equal(got, want[i]) {
			t.Errorf("%s: list %d is %v, want %v", name, i, got, want[i])
		}
	}
}

// vectorOfWords is a list on the device; none for an empty one.
func vectorOfWords(words []uint32) primitives.Vector {
	if len(words) == 0 {
		return primitives.Vector{}
	}
	return primitives.FromSlice(words)
}
