package cpu

import (
	"context"
	"iter"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Rows yields the selected rows of q in the order of the table. The checks run over the whole table before
// the first block. If a check selects a row, only the error of the first such check is yielded, by chunk and
// then in order. The selection is made on all cores, a few blocks ahead of the caller.
func (b *Backend) Rows(ctx context.Context, q *physical.Query) iter.Seq2[table.Block, error] {
	return func(yield func(table.Block, error) bool) {
		x, err := b.execution(ctx, q, true)
		if err == nil {
			err = x.check()
		}
		if err != nil {
			yield(table.Block{}, err)
			return
		}
		selected := ordered.Map(x.workers, slices.Values(x.blocks), func(_ int, at block) table.Block {
			s := takeScratch()
			defer s.release()
			rows := x.chunks[at.chunk].rows(s, at)
			if x.found != nil && x.found[at.chunk] != nil {
				rows = inTable(rows, x.found[at.chunk])
			}
			return rows
		})
		var few table.Block // rows of several blocks
		for at := range selected {
			if ctx.Err() != nil {
				break
			}
			if few.Len() > 0 && (few.Chunk != at.Chunk || at.Rows == nil || few.Len()+at.Len() > vector.BlockRows/4) {
				if !yield(few, nil) {
					return
				}
				few = table.Block{}
			}
			switch {
			case at.Len() == 0:
			case at.Rows == nil || at.Len() > vector.BlockRows/8:
				if !yield(at, nil) {
					return
				}
			case few.Len() == 0:
				few = at
			default:
				few.Rows = append(few.Rows, at.Rows...)
			}
		}
		if err := ctx.Err(); err != nil {
			yield(table.Block{}, err)
		} else if few.Len() > 0 {
			yield(few, nil)
		}
	}
}

// check runs the checks, where there are any.
func (x *execution) check() error {
	if !slices.ContainsFunc(x.chunks, func(c chunkRun) bool { return len(c.checks) > 0 }) {
		return nil
	}
	return x.sweep(nil)
}

// rows selects the rows of a block.
func (c *chunkRun) rows(s *scratch, at block) table.Block {
	out := table.Block{Chunk: at.chunk, First: at.row, N: at.n}
	if c.where.op == predicate.True {
		return out
	}
	sel := c.where.all(s, at.row, at.n)
	defer s.put(sel)
	n := sel.Count()
	if n == at.n {
		return out
	}
	out.Rows = make([]uint32, 0, n)
	for w, m := range sel {
		for ; m != 0; m &= m - 1 {
			out.Rows = append(out.Rows, uint32(at.row+64*w+bits.TrailingZeros64(m)))
		}
	}
	return out
}
