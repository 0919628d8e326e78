package cpu

import (
	"math/bits"
	"sort"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// commonOrder maps the codes of a column's chunks to those of its [plan.Space]:
// by adding a number, or for VARCHAR by a table of ranks.
type commonOrder struct {
	*plan.Space
	segs  []*table.Segment
	base  uint64     // ordinal of the space's code 0
	ranks [][]uint32 // VARCHAR: for each chunk, the space's codes of its codes
}

func newCommonOrder(t *table.Table, col int) *commonOrder {
	o := &commonOrder{Space: plan.NewSpace(t, col)}
	isText := t.Fields[col].Type.Kind == table.Varchar
	if !isText {
		o.base = table.Ordinal(o.Value(0))
	}
	for _, c := range t.Chunks {
		s := c.Segments[col]
		o.segs = append(o.segs, s)
		if isText {
			o.ranks = append(o.ranks, o.ranksOf(s))
		}
	}
	return o
}

func (o *commonOrder) ranksOf(s *table.Segment) []uint32 {
	if s.NonNull() == 0 {
		return nil
	}
	ranks := make([]uint32, s.Max+1)
	at := 0
	for i := range ranks {
		at += sort.Search(int(o.Max())-at, func(k int) bool { return o.Value(uint64(at+k)).S >= s.Dict[i] })
		ranks[i] = uint32(at)
	}
	return ranks
}

// count adds the selected rows of a block to a histogram of the space's codes
// lo..hi in buckets of 2^shift.
func (o *commonOrder) count(h *[buckets]uint64, b block, sel []uint64, lo, hi uint64, shift uint) {
	s, row, n := o.segs[b.chunk], b.row, b.n
	delta := s.Base - o.base - lo
	if o.ranks != nil {
		ranks := o.ranks[b.chunk]
		switch c := s.Codes; {
		case c.U8 != nil:
			histogramMapped(h, c.U8[row:row+n], sel, ranks, -lo, hi-lo, shift)
		case c.U16 != nil:
			histogramMapped(h, c.U16[row:row+n], sel, ranks, -lo, hi-lo, shift)
		case c.U32 != nil:
			histogramMapped(h, c.U32[row:row+n], sel, ranks, -lo, hi-lo, shift)
		default:
			histogramMapped(h, c.U64[row:row+n], sel, ranks, -lo, hi-lo, shift)
		}
		return
	}
	switch c := s.Codes; {
	case c.U8 != nil:
		histogram(h, c.U8[row:row+n], sel, delta, hi-lo, shift)
	case c.U16 != nil:
		histogram(h, c.U16[row:row+n], sel, delta, hi-lo, shift)
	case c.U32 != nil:
		histogram(h, c.U32[row:row+n], sel, delta, hi-lo, shift)
	default:
		histogram(h, c.U64[row:row+n], sel, delta, hi-lo, shift)
	}
}

// smallest returns the value of rank k, from 0, among the selected non-NULL
// values of a column; there must be more than k.
//
// It works in rounds, as the k-th element search over chunks and machines does:
// a range of codes of the space cut into [buckets] equal parts goes out, counts
// come back, and the part that holds rank k is the next round's range. So a
// column of b bits takes b/11 passes, rounded up (the paper's KthLargest: b).
func (x *execution) smallest(col int, k uint64) (table.Value, error) {
	o := x.orders[col]
	if o == nil {
		o = newCommonOrder(x.q.Table, col)
		x.orders[col] = o
	}
	lo, hi := uint64(0), o.Max()
	for lo < hi {
		shift := uint(max(0, bits.Len64(hi-lo)-bucketBits))
		h, err := x.histogram(o, lo, hi, shift)
		if err != nil {
			return table.Value{}, err
		}
		part := uint64(0)
		for part < buckets-1 && k >= h[part] {
			k -= h[part]
			part++
		}
		lo += part << shift
		hi = lo + min(hi-lo, 1<<shift-1)
	}
	return o.Value(lo), nil
}

// histogram runs one round over all blocks.
func (x *execution) histogram(o *commonOrder, lo, hi uint64, shift uint) (*[buckets]uint64, error) {
	hs := make([][buckets]uint64, x.teamSize())
	scratches := make([]scratch, len(hs))
	err := x.forBlocks(func(w int, b block) {
		sel := x.chunks[b.chunk].selected[b.row/64:][:(b.n+63)/64]
		if s := o.segs[b.chunk]; s.Valid != nil {
			t := scratches[w].get(len(sel))
			defer scratches[w].put(t)
			copy(t, sel)
			andValid(t, s, b.row)
			sel = t
		}
		o.count(&hs[w], b, sel, lo, hi, shift)
	})
	total := &hs[0]
	for i := range hs[1:] {
		for j, n := range hs[1+i] {
			total[j] += n
		}
	}
	return total, err
}
