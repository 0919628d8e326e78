package compute

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// Rows finds which records of a chunk a query selects: the selection becomes a bitmap, this
// row ids by a prefix sum and a scatter, or, where they would take more memory, a bit a
// record in the order of rows. Checks are left to [Select].
func Rows(run pass.Runner, d Device, q *plan.Query, chunk int) ([]plan.Marked, error) {
	d.Together = 1
	c, err := newCompiler(d, q)
	if err != nil {
		return nil, err
	}
	x := c.chunks[chunk]
	tree, err := x.node(q.Chunks[chunk].Pred)
	switch {
	case err != nil:
		return nil, err
	case tree.op == plan.False:
		return nil, nil
	case tree.op == plan.True:
		return []plan.Marked{{N: x.Rows, All: true}}, nil
	}
	if tree, err = x.mark(tree); err != nil {
		return nil, err
	}
	c.flush()
	if _, err := c.execute(run); err != nil {
		return nil, err
	}
	var list []plan.Marked
	for i, w := range x.pieces {
		m, err := rowsOf(run, d.Primitives, tree.leaf.marks.blocks[i], w.Window)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// rowsOf reads the rows that are marked in the bitmap of a window.
func rowsOf(run pass.Runner, d primitives.Device, bitmap textures.Block, w textures.Window) (plan.Marked, error) {
	m := plan.Marked{First: w.From, N: w.Rows}
	groups := primitives.Groups(w.Rows)
	before := primitives.New(groups + 1)
	if err := primitives.CountGroups(run, d, bitmap, w.Rows, before); err != nil {
		return m, err
	}
	counts, err := before.Read(run)
	if err != nil {
		return m, err
	}
	words := groups * textures.GroupRows / 32
	switch n := int(counts[groups]); {
	case n == 0:
	case n < words:
		ids := primitives.New(n)
		if err := primitives.RowIDs(run, d, bitmap, w.Rows, w.From, before, ids); err != nil {
			return m, err
		}
		m.Rows, err = ids.Read(run)
	default:
		out := primitives.New(words)
		if err := primitives.RowBits(run, d, bitmap, w.Rows, out); err != nil {
			return m, err
		}
		m.Bits, err = out.Read(run)
	}
	return m, err
}
