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
// groups. before[g] is how many are marked in the groups before g, and before[Groups(rows)]
// how many in all. Bits behind the rows are 0. before has Groups(rows)+1 words.
//
// With [RowIDs] it is GDB's filter (section 3.1.1) in its three steps: count, prefix sum,
// scatter.
func CountGroups(r pass.Runner, d Shapes, bitmap textures.Block, rows int, before Vector) error {
	n := Groups(rows) + 1
	if err := atLeast("count groups", "the counts", before, n); err != nil {
		return err
	}
	if err := d.marked(r, "CountGroups", "COUNT", bitmap, rows, before, Vector{}, textures.Block{}); err != nil {
		return err
	}
	return Scan(r, d, Add, ScanShape{}, before.First(n), before.First(n))
}

// RowIDs writes the rows that are marked, in order, each plus base; before is what
// [CountGroups] left. ids has room for as many.
func RowIDs(r pass.Runner, d Shapes, bitmap textures.Block, rows, base int, before, ids Vector) error {
	return d.marked(r, "RowIDs", "IDS", bitmap, rows, before, ids, textures.Block{}, count("base", base))
}

// RowCodes writes the codes that the marked rows have in a column, in order. planes has a plane for
// each bit that is stored, lowest first. before is what [CountGroups] left. codes has room for as many.
func RowCodes(r pass.Runner, d Shapes, bitmap textures.Block, rows int, before Vector, planes textures.Block, stored uint32, codes Vector) error {
	return d.marked(r, "RowCodes", "CODES", bitmap, rows, before, codes, planes, shaders.Uint("stored", stored))
}

// RowBits puts a bitmap in the order of rows: bit r % 32 of word r / 32 is that of row r.
// out has textures.GroupRows/32 words for each of the groups of that many rows.
func RowBits(r pass.Runner, d Shapes, bitmap textures.Block, rows int, out Vector) error {
	if err := atLeast("row bits", "the output", out, Groups(rows)*textures.GroupRows/32); err != nil {
		return err
	}
	return d.marked(r, "RowBits", "BITS", bitmap, rows, Vector{}, out, textures.Block{})
}

// marked runs a phase of prim_rowids.comp.
func (d Shapes) marked(r pass.Runner, name, phase string, bitmap textures.Block, rows int, before, out Vector, planes textures.Block, uniforms ...shaders.Uniform) error {
	groups := Groups(rows)
	return step{
		name:     fmt.Sprintf("%s(%d)", name, rows),
		counts:   map[string]string{"COUNT": "marked records, by groups of records"}[phase],
		program:  shaders.Load("prim_rowids.comp", phase),
		uniforms: append(uniforms, count("groups", groups)),
		groups:   [2]int{max(1, min(groups, d.MaxGroups)), 1},
		blocks:   []textures.Block{bitmap, before.Block, out.Block, planes},
	}.run(r)
}
