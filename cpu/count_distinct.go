package cpu

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// bitsARow is up to how many bits a row different codes are marked in a bitmap; where they may
// be farther apart they are sorted.
const bitsARow = 64

// CountDistinct counts the different values of a column in all rows that are not deleted,
// NULL left out: exactly, on all cores.
func CountDistinct(ctx context.Context, t *table.Table, col int) (int64, error) {
	space := plan.NewSpace(t, col)
	if space.Max()/bitsARow < max(uint64(t.Rows()), 1<<16) {
		marks := make([]uint64, space.Max()/64+1)
		err := eachCode(ctx, t, col, space, func(_ int, codes, _ []uint64) {
			for _, c := range codes {
				if word, bit := &marks[c/64], uint64(1)<<(c%64); atomic.LoadUint64(word)&bit == 0 {
					atomic.OrUint64(word, bit)
				}
			}
		})
		return int64(table.Bitmap(marks).Count()), err
	}
	placeBits := 32 + Width(uint64(len(t.Chunks)-1))
	s, _ := NewSorter(runtime.GOMAXPROCS(0), Sorting{KeyBits: []int{Width(space.Max())}, PlaceBits: placeBits, First: -1, Unique: 1})
	err := eachCode(ctx, t, col, space, func(w int, codes, places []uint64) { s.Add(w, [][]uint64{codes, places}) })
	if err != nil {
		return 0, err
	}
	places, err := s.Places(ctx)
	return int64(len(places)), err
}

// eachCode has all workers go over the codes of a column's values, in the space of all
// chunks, and over their places.
func eachCode(ctx context.Context, t *table.Table, col int, space *plan.Space, do func(worker int, codes, places []uint64)) error {
	blocks := func(yield func(table.Block) bool) {
		for i, c := range t.Chunks {
			for first := 0; first < c.Rows; first += blockRows {
				if ctx.Err() != nil || !yield(table.Block{Chunk: i, First: first, N: min(blockRows, c.Rows-first)}) {
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
	return ctx.Err()
}
