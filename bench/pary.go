package bench

import (
	"context"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/pary"
	"github.com/stencildb/stencildb/table"
)

// parySuite repeats Kaldewey and others 2009; the search tree of package cpu runs beside it.
func parySuite() Suite {
	trees := map[*uint32]*index.Index{} // by the words below them
	return suiteOfPaper(pary.Paper(), func(ctx context.Context, _ *lab.Setting, c *lab.Case) ([]lab.Way, error) {
		b, ok := c.Data.(*pary.Batch)
		if !ok || b.Asked == nil {
			return nil, nil
		}
		tree := trees[&b.Words[0]]
		if tree == nil {
			seg := &table.Segment{Type: table.Type{Kind: table.BigInt}, Codes: table.Codes{U32: b.Words}, Max: uint64(b.Words[len(b.Words)-1]), Bits: 32}
			var err error
			if tree, err = index.New(ctx, "words", "sorted", seg); err != nil {
				return nil, err
			}
			clear(trees)
			trees[&b.Words[0]] = tree
		}
		places := make([]uint32, len(b.Asked))
		find := func() error {
			for i, x := range b.Asked {
				places[i] = tree.RowsOf(uint64(x))[0]
			}
			return nil
		}
		return []lab.Way{{System: pary.CPUTree, Check: func(context.Context) error {
			if err := find(); err != nil {
				return err
			}
			return b.Compare(places)
		}, Run: func(context.Context) (out lab.Outcome, err error) {
			out, err = lab.Timed(find)
			out.Digest = lab.Ordered(places)
			return out, err
		}}}, nil
	})
}
