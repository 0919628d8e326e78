package compute

import (
	"math"
	"slices"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/slab"
	"github.com/stencildb/stencildb/textures"
)

// Rows finds which records of a chunk a query selects. The selection becomes a bitmap, and the bitmap becomes
// row ids by a prefix sum and a scatter. If row ids would take more memory, it becomes a bit a record in the
// order of rows. Where all that is asked for are values of columns, these are gathered from the planes
// instead, if there are not too many. Checks are left to [Select].
func Rows(run pass.Runner, d Profile, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
	d.Together = 1
	c, err := NewCompiler(d, q)
	if err != nil {
		return nil, err
	}
	x := c.Chunks[chunk]
	tree, err := x.Node(q.Chunks[chunk].Pred)
	switch {
	case err != nil:
		return nil, err
	case tree.Op == predicate.False:
		return nil, nil
	case tree.Op == predicate.True:
		return []physical.SelectedRows{{N: x.Rows, All: true}}, nil
	}
	if tree, err = x.Mark(tree); err != nil {
		return nil, err
	}
	c.Flush()
	if _, err := c.Dispatch(run); err != nil {
		return nil, err
	}
	var list []physical.SelectedRows
	for i, w := range x.Pieces {
		m, err := x.rowsOf(run, tree.Leaf.Marks.Blocks[i], w.Window)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// rowsOf reads the rows that are marked in the bitmap of a window.
func (x *ChunkWork) rowsOf(run pass.Runner, bitmap textures.Block, w textures.Window) (physical.SelectedRows, error) {
	d := x.Device.Primitives
	m := physical.SelectedRows{First: w.From, N: w.Rows}
	groups := primitives.Groups(w.Rows)
	words := groups * textures.GroupRows / 32
	bitsOf := func() (err error) {
		out := primitives.New(words)
		if err = primitives.RowBits(run, d, bitmap, w.Rows, out); err == nil {
			m.Bits, err = out.Read(run)
		}
		return err
	}
	if x.Device.Software { // where a pass costs more than to read all bits
		return m, bitsOf()
	}
	before := primitives.New(groups + 1)
	if err := primitives.CountGroups(run, d, bitmap, w.Rows, before); err != nil {
		return m, err
	}
	counts, err := before.Read(run)
	if err != nil {
		return m, err
	}
	switch n := int(counts[groups]); {
	case n == 0:
	case x.gathers(n):
		m.Values, err = x.gathered(run, bitmap, w, before, n)
	case n < words:
		ids := primitives.New(n)
		if err := primitives.RowIDs(run, d, bitmap, w.Rows, w.From, before, ids); err != nil {
			return m, err
		}
		m.Rows, err = ids.Read(run)
	default:
		err = bitsOf()
	}
	return m, err
}

const (
	mostGathered = 64 << 20  // bytes of codes that are gathered at once
	gatheredRows = slab.Rows // of a piece of them
)

// gathers reports whether the values of n records are gathered on the device. The columns must have no NULLs, no
// negative zeros, no dictionaries, and no codes of more than 32 bits.
func (x *ChunkWork) gathers(n int) bool {
	if !x.Q.ValuesOnly || x.Device.Software || len(x.Q.Columns) == 0 || 4*n*len(x.Q.Columns) > mostGathered {
		return false
	}
	return !slices.ContainsFunc(x.Q.Columns, func(col int) bool {
		seg := x.Segment(col)
		return seg.Nulls > 0 || seg.NegativeZeros != nil || seg.Type.Kind == table.Varchar || seg.Bits > textures.PartBits
	})
}

// gathered are the values of the n records that are marked in the bitmap of a window, in pieces.
func (x *ChunkWork) gathered(run pass.Runner, bitmap textures.Block, w textures.Window, before primitives.Vector, n int) ([]*table.Chunk, error) {
	out := make([]primitives.Vector, len(x.Q.Columns))
	for c, col := range x.Q.Columns {
		planes := x.Block(col, textures.Planes, 0, w)
		if planes.Stored() == 0 {
			continue // all codes are 0
		}
		out[c] = primitives.New(n)
		if err := primitives.RowCodes(run, x.Device.Primitives, bitmap, w.Rows, before, planes, planes.Stored(), out[c]); err != nil {
			return nil, err
		}
	}
	list := make([]*table.Chunk, (n+gatheredRows-1)/gatheredRows)
	var pieces parallel.Group
	for i := range list {
		pieces.Go(func() { // all cores clear the memory, while the device works
			rows := min(gatheredRows, n-i*gatheredRows)
			list[i] = &table.Chunk{Rows: rows, Segments: make([]*table.Segment, len(x.Segments))}
			for c, col := range x.Q.Columns {
				seg := x.Segment(col)
				to := &table.Segment{Type: seg.Type, Base: seg.Base, Max: seg.Max, Bits: seg.Bits, Spans: seg.Spans}
				if k := seg.Type.Kind; (k == table.BigInt || k == table.Timestamp) && !out[c].None() { // the values themselves, which Arrow can have as they are
					to.Base, to.Max, to.Bits, to.Codes.U64, to.Slab = table.OrdinalInt(0), math.MaxUint64, 64, slab.New(rows), true
				} else {
					to.Codes.U32 = make([]uint32, rows)
				}
				list[i].Segments[col] = to
			}
		})
	}
	pieces.Wait()
	for c, col := range x.Q.Columns {
		if out[c].None() {
			continue
		}
		base := uint64(table.IntFromOrdinal(x.Segment(col).Base))
		if err := run.ReadParts(out[c].Block, n, func(at int, words []uint32) {
			for len(words) > 0 {
				to := list[at/gatheredRows].Segments[col].Codes
				m := min(len(words), gatheredRows-at%gatheredRows)
				if to.U64 == nil {
					copy(to.U32[at%gatheredRows:], words[:m])
				} else {
					values := to.U64[at%gatheredRows:][:m]
					for i, code := range words[:m] {
						values[i] = base + uint64(code)
					}
				}
				at, words = at+m, words[m:]
			}
		}); err != nil {
			return nil, err
		}
	}
	return list, nil
}
