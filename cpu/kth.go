package cpu

import (
	"math/bits"
	"sort"
	"sync"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
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

func newCommonOrder(space *plan.Space, t *table.Table, col int) *commonOrder {
	o := &commonOrder{Space: space}
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

// common is the space's code of a row that is not NULL.
func (o *commonOrder) common(chunk, row int) uint64 {
	s := o.segs[chunk]
	c := s.Codes.At(row)
	if o.ranks != nil {
		return uint64(o.ranks[chunk][c])
	}
	return c + s.Base - o.base
}

// collect appends the space's codes of the rows sel of a block.
func (o *commonOrder) collect(out []uint64, b block, sel []uint64) []uint64 {
	s := o.segs[b.chunk]
	c := kernels.Part(s.Codes, b.row, b.n)
	if o.ranks != nil {
		for w, m := range sel {
			for ; m != 0; m &= m - 1 {
				out = append(out, uint64(o.ranks[b.chunk][c.At(w*64+bits.TrailingZeros64(m))]))
			}
		}
		return out
	}
	delta := s.Base - o.base
	switch {
	case c.U8 != nil:
		return collect(out, c.U8, sel, delta)
	case c.U16 != nil:
		return collect(out, c.U16, sel, delta)
	case c.U32 != nil:
		return collect(out, c.U32, sel, delta)
	}
	return collect(out, c.U64, sel, delta)
}

// count adds the selected rows of a block to a histogram of the space's codes
// lo..hi in buckets of 2^shift.
func (o *commonOrder) count(h *[buckets]uint64, b block, sel []uint64, lo, hi uint64, shift uint) {
	s := o.segs[b.chunk]
	delta := s.Base - o.base - lo
	c := kernels.Part(s.Codes, b.row, b.n)
	if o.ranks != nil {
		ranks := o.ranks[b.chunk]
		switch {
		case c.U8 != nil:
			histogramMapped(h, c.U8, sel, ranks, -lo, hi-lo, shift)
		case c.U16 != nil:
			histogramMapped(h, c.U16, sel, ranks, -lo, hi-lo, shift)
		case c.U32 != nil:
			histogramMapped(h, c.U32, sel, ranks, -lo, hi-lo, shift)
		default:
			histogramMapped(h, c.U64, sel, ranks, -lo, hi-lo, shift)
		}
		return
	}
	switch {
	case c.U8 != nil:
		histogram(h, c.U8, sel, delta, hi-lo, shift)
	case c.U16 != nil:
		histogram(h, c.U16, sel, delta, hi-lo, shift)
	case c.U32 != nil:
		histogram(h, c.U32, sel, delta, hi-lo, shift)
	default:
		histogram(h, c.U64, sel, delta, hi-lo, shift)
	}
}

// smallest returns the value of rank k, from 0, among the n selected non-NULL
// values of a column; k < n.
//
// A sample tells between which codes it very likely lies; one pass over the column
// counts the codes below and takes the few between aside, where the rest of the
// search runs. Where the sample was wrong or of no use, the search runs over the
// column.
func (x *execution) smallest(col int, k, n uint64) (table.Value, error) {
	o := x.orders[col]
	if o == nil {
		o = x.order(plan.NewSpace(x.q.Table, col), col)
	}
	s := &rankSearch{execution: x, order: o, hi: o.Max(), k: k, n: n}
	if err := s.narrow(); err != nil {
		return table.Value{}, err
	}
	err := s.bisect()
	freeAside(s.aside)
	return o.Value(s.lo), err
}

// order is the order of a column in a space.
func (x *execution) order(space *plan.Space, col int) *commonOrder {
	if o := x.orders[col]; o != nil && o.Space == space {
		return o
	}
	x.orders[col] = newCommonOrder(space, x.q.Table, col)
	return x.orders[col]
}

// rankSearch looks for the code of a rank.
type rankSearch struct {
	*execution
	order  *commonOrder
	lo, hi uint64 // of the space: the code wanted is one of these
	k      uint64 // its rank among the selected codes lo..hi
	n      uint64 // selected codes
	// aside has all the selected codes lo..hi, a list for each worker; nil until
	// they are few.
	aside [][]uint64
}

// bisect works in rounds, as the k-th element search over chunks and machines does:
// lo..hi cut into [buckets] equal parts goes out, counts come back, and the part
// that holds rank k is the next round's range. So codes of b bits take b/11 passes,
// rounded up (the paper's KthLargest: b).
func (s *rankSearch) bisect() error {
	for s.lo < s.hi {
		shift := uint(max(0, bits.Len64(s.hi-s.lo)-bucketBits))
		h, err := s.histogram(shift)
		if err != nil {
			return err
		}
		part := uint64(0)
		for part < buckets-1 && s.k >= h[part] {
			s.k -= h[part]
			part++
		}
		s.lo += part << shift
		s.hi = s.lo + min(s.hi-s.lo, 1<<shift-1)
	}
	return nil
}

// histogram runs one round over the codes set aside, or over all blocks.
func (s *rankSearch) histogram(shift uint) (*[buckets]uint64, error) {
	if s.aside != nil {
		return s.histogramAside(shift), s.ctx.Err()
	}
	hs := make([][buckets]uint64, s.teamSize())
	scratches := s.newScratches()
	err := s.forBlocks(func(w int, b block) {
		sel := s.selectedValues(&scratches[w], b)
		s.order.count(&hs[w], b, sel, s.lo, s.hi, shift)
		scratches[w].put(sel)
	})
	return addUp(hs), err
}

// addUp adds up the workers' histograms, in the first.
func addUp(hs [][buckets]uint64) *[buckets]uint64 {
	total := &hs[0]
	for i := range hs[1:] {
		for j, n := range hs[1+i] {
			total[j] += n
		}
	}
	return total
}

// histogramAside counts the codes set aside, and drops those that earlier rounds
// ruled out. A few codes are not worth waking other workers.
func (s *rankSearch) histogramAside(shift uint) *[buckets]uint64 {
	total := 0
	for _, codes := range s.aside {
		total += len(codes)
	}
	if total <= fewCodes {
		h := new([buckets]uint64)
		for w, codes := range s.aside {
			s.aside[w] = countAside(h, codes, s.lo, s.hi, shift)
		}
		return h
	}
	hs := make([][buckets]uint64, len(s.aside))
	var wg sync.WaitGroup
	for w, codes := range s.aside {
		wg.Go(func() { s.aside[w] = countAside(&hs[w], codes, s.lo, s.hi, shift) })
	}
	wg.Wait()
	return addUp(hs)
}

// countAside is [histogram] of codes of the space, and returns those of lo..hi.
func countAside(h *[buckets]uint64, codes []uint64, lo, hi uint64, shift uint) []uint64 {
	kept := codes[:0]
	for _, c := range codes {
		if v := c - lo; v <= hi-lo {
			h[v>>(shift&63)%buckets]++
			kept = append(kept, c)
		}
	}
	return kept
}

// selectedValues are the selected rows of a block that are not NULL; the caller puts
// the words back.
func (s *rankSearch) selectedValues(scratch *scratch, b block) []uint64 {
	sel := scratch.get((b.n + 63) / 64)
	if all := s.chunks[b.chunk].selected; all != nil {
		copy(sel, all[b.row/64:])
	} else {
		setFirst(sel, b.n)
	}
	andValid(sel, s.order.segs[b.chunk], b.row)
	return sel
}
