package primitives_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// marked draws which rows are marked: any share, none, all, or a run.
func marked(t *rapid.T, rows int) []bool {
	m := make([]bool, rows)
	random := words(t, rows)
	switch rapid.SampledFrom([]string{"some", "few", "none", "all", "run"}).Draw(t, "marked") {
	case "some":
		for i := range m {
			m[i] = random[i]%2 == 0
		}
	case "few":
		for i := range m {
			m[i] = random[i]%97 == 0
		}
	case "all":
		for i := range m {
			m[i] = true
		}
	case "run":
		for i := rows / 3; i < rows/2; i++ {
			m[i] = true
		}
	}
	return m
}

// bitmap lays marks out in the order of planes.
func bitmap(m []bool) []uint32 {
	out := make([]uint32, 4*textures.Units(len(m)))
	for unit := range textures.Units(len(m)) {
		for j := range 4 {
			for i := range 32 {
				if row := textures.PlaneRow(unit, j, i); row < len(m) && m[row] {
					out[4*unit+j] |= 1 << i
				}
			}
		}
	}
	return out
}

func TestRowIDsAreTheMarkedRowsInOrder(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		rows := rapid.SampledFrom([]int{1, 31, 257, 8191, 8192, 8193, 40_000, 70_001}).Draw(t, "rows")
		base := rapid.SampledFrom([]int{0, 8192, 1 << 30}).Draw(t, "base")
		m := marked(t, rows)
		bits := primitives.FromSlice(bitmap(m))
		groups := primitives.Groups(rows)
		before, guard := e.guarded(groups + 1)
		e.must(primitives.CountGroups(e.r, e.d, bits.Block, rows, before))
		guard()
		want := make([]uint32, groups+1)
		var ids []uint32
		for i, yes := range m {
			if yes {
				ids = append(ids, uint32(base+i))
				for g := i/textures.GroupRows + 1; g <= groups; g++ {
					want[g]++
				}
			}
		}
		e.holds("the counts of groups", before, want)

		out, guard := e.guarded(len(ids))
		e.must(primitives.RowIDs(e.r, e.d, bits.Block, rows, base, before, out))
		e.holds("the row ids", out, ids)
		guard()

		inRows := make([]uint32, groups*textures.GroupRows/32)
		for _, id := range ids {
			r := int(id) - base
			inRows[r/32] |= 1 << (r % 32)
		}
		out, guard = e.guarded(len(inRows))
		e.must(primitives.RowBits(e.r, e.d, bits.Block, rows, out))
		e.holds("the bits in the order of rows", out, inRows)
		guard()
	})
}
