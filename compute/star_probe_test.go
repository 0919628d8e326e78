package compute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// dimensionOf is one joined by a column whose values go from 0 to before values. A share of them have a
// partner, and their digits are up to digits; none has one where that is 0. The places begin below 0.
func dimensionOf(col, values int, share float64, digits int) *physical.Dimension {
	rng := rand.New(rand.NewPCG(uint64(values), uint64(digits)))
	const below = 5
	bits := make([]uint32, (values+below+31)/32)
	var codes table.Codes
	switch {
	case digits == 0:
	case digits < 1<<8:
		codes.U8 = make([]uint8, values+below)
	case digits < 1<<16:
		codes.U16 = make([]uint16, values+below)
	default:
		codes.U32 = make([]uint32, values+below)
	}
	for at := below; at < values+below; at++ {
		if rng.Float64() >= share {
			continue
		}
		bits[at/32] |= 1 << (at % 32)
		switch digit := 1 + rng.IntN(max(1, digits)); {
		case codes.U8 != nil:
			codes.U8[at] = uint8(digit)
		case codes.U16 != nil:
			codes.U16[at] = uint16(digit)
		case codes.U32 != nil:
			codes.U32[at] = uint32(digit)
		}
	}
	d := &physical.Dimension{Name: "d", Col: col, Base: table.OrdinalInt(-below), Share: share, Size: max(1, digits), Bits: physical.CodesChunk(table.Codes{U32: bits}, math.MaxUint32)}
	if digits > 0 {
		d.Digits = physical.CodesChunk(codes, uint64(digits))
	}
	return d
}

// TestStars compares groups over a star with those of a loop, on all kinds of devices.
func TestStars(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		kinds := Variants(ctx.Caps())
		regional := kinds["other kind"]
		regional.RegionRows, regional.Multiprocessors = 1, 3
		kinds["regional"] = regional
		for i, star := range [][]*physical.Dimension{
			{dimensionOf(0, 60, 0.9, 5)}, // which its digits test
			{dimensionOf(1, 2000, 0.3, 0)},
			{dimensionOf(1, 2000, 0.1, 300), dimensionOf(0, 60, 0.4, 0)},
			{dimensionOf(0, 60, 0.5, 7), dimensionOf(1, 2000, 0.6, 3), dimensionOf(1, 2000, 0.5, 0)},
			{dimensionOf(0, 60, 0.8, 0), dimensionOf(1, 2000, 0.9, 65000)},
			{dimensionOf(0, 60, 0, 4), dimensionOf(1, 2000, 0.9, 2)}, // nothing
			{dimensionOf(0, 60, 1, 0), dimensionOf(1, 2000, 1, 0)},
		} {
			for _, nulls := range []bool{false, true} {
				tab := gltest.GroupTable(40_000, 3, [2]int{60, 2000}, nulls, false)
				want := loopOverStar(tab, star)
				for name, d := range kinds {
					q, _ := gltest.GroupQuery(t, tab, nil)
					q.Star = star
					q.Columns = q.GroupInputColumns()
					states, err := Groups(g, d, q)
					if d.BlockLimit() == 8 && name != "own" && plan.IsDeclined(err) {
						continue // a GPU that reads through images, as software does, has no more
					}
					if err != nil {
						t.Fatal(err)
					}
					g.End()
					var got []string
					for _, s := range states {
						for i, row := range s.Rows {
							got = append(got, fmt.Sprintf("chunk %d row %d: %d, %d", s.Chunk, row, s.N[i], s.Aggs[0].N[i]))
						}
					}
					slices.Sort(got)
					if name == "short windows" { // each has groups of its own
						if got, want := inAll(got), inAll(want); got != want {
							t.Errorf("star %d, NULLs %v: in windows %v records, want %v", i, nulls, got, want)
						}
						continue
					}
					if !slices.Equal(got, want) {
						t.Errorf("star %d, %s, NULLs %v: %d groups, want %d: %q, want %q", i, name, nulls, len(got), len(want), got[:min(3, len(got))], want[:min(3, len(want))])
					}
				}
			}
		}
	})
}

// inAll is how many records all groups of a list have, and how many of them with an x.
func inAll(list []string) (n [2]int) {
	for _, group := range list {
		var chunk, row, all, some int
		fmt.Sscanf(group, "chunk %d row %d: %d, %d", &chunk, &row, &all, &some)
		n[0], n[1] = n[0]+all, n[1]+some
	}
	return n
}

// loopOverStar is the groups of each chunk: the first record, how many there are, and how many have an x.
func loopOverStar(tab *table.Table, star []*physical.Dimension) (list []string) {
	for i, c := range tab.Chunks {
		first, n, some := map[string]int{}, map[string]int{}, map[string]int{}
		for row := range c.Rows {
			key, ok := "", true
			for _, d := range star {
				v := c.Segments[d.Col].Value(row)
				if ok = ok && !v.Null; !ok {
					break
				}
				at := int(table.OrdinalInt(v.I) - d.Base)
				if ok = d.Bits.Segments[0].Codes.U32[at/32]>>(at%32)&1 != 0; ok && d.Digits != nil {
					key += fmt.Sprint(d.Digits.Segments[0].Codes.At(at), " ")
				}
			}
			if !ok {
				continue
			}
			if n[key]++; n[key] == 1 {
				first[key] = row
			}
			if !c.Segments[2].IsNull(row) {
				some[key]++
			}
		}
		for key, row := range first {
			list = append(list, fmt.Sprintf("chunk %d row %d: %d, %d", i, row, n[key], some[key]))
		}
	}
	slices.Sort(list)
	return list
}

// Arrays that are too large for the device leave a star to another way to do it.
func TestStarsWithLargeArraysAreDeclined(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := ProfileOf(ctx.Caps())
		d.MaxBlock = 3 << 20
		tab := gltest.GroupTable(10_000, 1, [2]int{60, 2000}, false, false)
		for values, want := range map[int]bool{1 << 20: false, 1 << 22: true} {
			q, _ := gltest.GroupQuery(t, tab, nil)
			q.Star = []*physical.Dimension{dimensionOf(1, values, 0.9, 2)}
			q.Columns = q.GroupInputColumns()
			_, err := Groups(g, d, q)
			g.End()
			if declined := plan.IsDeclined(err); declined != want || !want && err != nil {
				t.Errorf("%d places: %v", values, err)
			}
		}
	})
}
