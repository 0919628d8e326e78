package aggregation

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// bitsARow is up to how many bits a row different codes are marked in a bitmap; where they may
// be farther apart they are sorted.
const bitsARow = 64

// CountDistinct counts the different values of a column in all rows that are not deleted,
// NULL left out: exactly, on all cores.
func CountDistinct(ctx context.Context, t *table.Table, col int) (int64, error) {
	return countDistinct(ctx, t, col, func(yield func(table.Block, error) bool) {
		for i, c := range t.Chunks {
			if !yield(table.Block{Chunk: i, N: c.Rows}, nil) {
				return
			}
		}
	})
}

// onlyDistinct is the column of which a COUNT(DISTINCT ...) is all that is asked for of all rows together;
// false for where more is.
func (g *grouping) onlyDistinct() (col int, ok bool) {
	if len(g.keys.list) > 0 || len(g.inputs) != 1 || !g.inputs[0].distinct || g.inputs[0].filter != nil ||
		!slices.Equal(g.inputs[0].kinds, []StateKind{Counting}) {
		return 0, false
	}
	c, ok := g.inputs[0].x.(*expr.Column)
	if !ok {
		return 0, false
	}
	return c.Index, true
}

// countDistinct is CountDistinct of some rows.
func countDistinct(ctx context.Context, t *table.Table, col int, in iter.Seq2[table.Block, error]) (int64, error) {
	space := physical.NewCodeSpace(t, col)
	if space.Max()/bitsARow < max(uint64(t.Rows()), 1<<16) {
		marks := make([]uint64, space.Max()/64+1)
		err := eachCode(ctx, t, col, space, in, func(_ int, codes, _ []uint64) {
			for _, c := range codes {
				if word, bit := &marks[c/64], uint64(1)<<(c%64); atomic.LoadUint64(word)&bit == 0 {
					atomic.OrUint64(word, bit)
				}
			}
		})
		return int64(table.Bitmap(marks).Count()), err
	}
	placeBits := 32 + radixsort.Width(uint64(len(t.Chunks)-1))
	s, _ := radixsort.New(runtime.GOMAXPROCS(0), radixsort.Spec{KeyBits: []int{radixsort.Width(space.Max())}, PlaceBits: placeBits, First: -1, Unique: 1})
	err := eachCode(ctx, t, col, space, in, func(w int, codes, places []uint64) { s.Add(w, [][]uint64{codes, places}) })
	if err != nil {
		return 0, err
	}
	places, err := s.Places(ctx)
	return int64(len(places)), err
}

// eachCode has all workers go over the codes of a column's values in some rows, in the space of all
// chunks, and over their places.
func eachCode(ctx context.Context, t *table.Table, col int, space *physical.CodeSpace, in iter.Seq2[table.Block, error], do func(worker int, codes, places []uint64)) error {
	var failed error // of the rows; read when all blocks are done
	blocks := func(yield func(table.Block) bool) {
		for b, err := range in {
			if failed = err; err != nil {
				return
			}
			for i, n := 0, b.Len(); i < n; i += vector.BlockRows { // a block may be a whole chunk
				if failed = ctx.Err(); failed != nil || !yield(b.Cut(i, min(n, i+vector.BlockRows))) {
					return
				}
			}
		}
	}
	delta, ranks := make([]uint64, len(t.Chunks)), make([][]uint32, len(t.Chunks))
	for i, c := range t.Chunks {
		if s := c.Segments[col]; s != nil {
			delta[i], ranks[i] = space.Translation(s)
		}
	}
	for range ordered.Map(runtime.GOMAXPROCS(0), blocks, func(w int, b table.Block) bool {
		c := t.Chunks[b.Chunk]
		s := c.Segments[col]
		if s == nil {
			return true
		}
		codes := table.Gather(s.Codes, b, delta[b.Chunk])
		places, n := make([]uint64, 0, len(codes)), 0
		for i, code := range codes {
			row := b.Row(i)
			if s.IsNull(row) || !c.IsLive(row) {
				continue
			}
			if rank := ranks[b.Chunk]; rank != nil {
				code = uint64(rank[code])
			}
			codes[n] = code
			places = append(places, uint64(b.Chunk)<<32|uint64(row))
			n++
		}
		if n > 0 {
			do(w, codes[:n], places)
		}
		return true
	}) {
	}
	return failed
}
