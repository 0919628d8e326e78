package primitives

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Groups returns how many groups of textures.GroupRows records a bitmap over n has.
func Groups(n int) int { return (n + textures.GroupRows - 1) / textures.GroupRows }

// CountGroups counts the records that are marked in a bitmap in the order of planes, by
// groups: before[g] is how many are marked in the groups before g, and before[Groups(rows)]
// how many in all. Bits behind the rows are 0. before has Groups(rows)+1 words.
//
// With [RowIDs] it is GDB's filter (section 3.1.1) in its three steps: count, prefix sum,
// scatter.
func CountGroups(r pass.Runner, d Device, bitmap textures.Block, rows int, before Vector) error {
	groups := Groups(rows)
	if err := atLeast("count groups", "the counts", before, groups+1); err != nil {
		return err
	}
	s := step{
		name:     fmt.Sprintf("CountGroups(%d)", groups),
		counts:   "marked records, by groups of records",
		program:  shaders.LoadCompute("prim_rowids.comp", "COUNT"),
		uniforms: []shaders.Uniform{count("from", 0), count("to", groups)},
		groups:   [2]int{max(1, min(groups, d.MaxGroups)), 1},
		blocks:   []textures.Block{bitmap, before.Block},
	}
	if err := s.run(r); err != nil {
		return err
	}
	return Scan(r, d, Add, ScanShape{}, before.First(groups+1), before.First(groups+1))
}

// RowIDs writes the rows of the marked records of groups from .. to-1, in order; before is
// what [CountGroups] left, base the row id of the window's first record. ids has room for
// before[to] - before[from] words.
func RowIDs(r pass.Runner, d Device, bitmap textures.Block, before Vector, from, to, base int, ids Vector) error {
	if err := d.fits("row ids", before, ids); err != nil {
		return err
	}
	return step{
		name:     fmt.Sprintf("RowIDs(groups %d..%d)", from, to-1),
		counts:   "nothing; marked records become row ids",
		program:  shaders.LoadCompute("prim_rowids.comp"),
		uniforms: []shaders.Uniform{count("from", from), count("to", to), count("base", base)},
		groups:   [2]int{max(1, min(to-from, d.MaxGroups)), 1},
		blocks:   []textures.Block{bitmap, before.Block, ids.Block},
	}.run(r)
}
