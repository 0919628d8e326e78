package cpu

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// commonOrder maps the codes of a column's chunks to those of its [physical.CodeSpace], by the
// Translation of each chunk.
type commonOrder struct {
	*physical.CodeSpace
	columns []segment
	delta   []uint64
	ranks   [][]uint32
}

func newCommonOrder(space *physical.CodeSpace, t *table.Table, col int, set kernels.Set) *commonOrder {
	o := &commonOrder{CodeSpace: space}
	for _, c := range t.Chunks {
		s := newSegment(c.Segments[col], set)
		delta, ranks := space.Translation(s.Segment)
		o.columns, o.delta, o.ranks = append(o.columns, s), append(o.delta, delta), append(o.ranks, ranks)
	}
	return o
}

// common is the space's code for a code of a chunk.
func (o *commonOrder) common(chunk int, code uint64) uint64 {
	if ranks := o.ranks[chunk]; ranks != nil {
		return uint64(ranks[code])
	}
	return code + o.delta[chunk]
}

// order is the order of a column in a space.
func (x *execution) order(space *physical.CodeSpace, col int) *commonOrder {
	if o := x.orders[col]; o == nil || o.CodeSpace != space {
		x.orders[col] = newCommonOrder(space, x.q.Table, col, x.kernels)
	}
	return x.orders[col]
}

// rankSearch looks for the code of rank k, from 0, among all selected codes of a column.
type rankSearch struct {
	*execution
	order    *commonOrder
	k        uint64
	lo, hi   uint64 // of the space: the code wanted is one of these
	below, n uint64 // selected codes below lo, and in lo..hi
}

// smallest returns the value of rank k, from 0, among the selected non-NULL values of a
// column.
//
// A sample tells between which codes the code very likely lies. One pass over the column counts the codes
// below, and sets the few codes between aside. Among these the code is found. If the sample was wrong, or one
// code is too frequent to set aside, the search goes on in what is left.
func (x *execution) smallest(col int, k uint64) (table.Value, error) {
	_, c, err := x.column(col)
	if err != nil {
		return table.Value{}, err
	}
	o := x.orders[col]
	if o == nil {
		o = x.order(physical.NewCodeSpace(x.q.Table, col), col)
	}
	s := &rankSearch{execution: x, order: o, k: k, hi: o.Max(), n: c.N}
	few := max(fewCodes, c.N>>5)
	for s.lo < s.hi {
		if err := s.narrow(few, c.N); err != nil {
			return table.Value{}, err
		}
	}
	return o.Value(s.lo), nil
}

// fewCodes is the number of codes that are searched through without a sample.
const fewCodes = 1 << 16

// narrow draws lo..hi together, after Floyd and Rivest's SELECT (Expected time bounds for selection, CACM
// 1975). In a sample, the rank of the wanted code has a standard deviation of at most half the root of the
// sample's size (binomial distribution). The margin is four of them: one search in 16,000 misses.
func (s *rankSearch) narrow(few, all uint64) error {
	if s.n <= few {
		return s.part(s.lo, s.hi)
	}
	// At most 6 % of the codes lie between the margins, 3 % from a million on.
	codes, err := s.sample(all, max(all>>10, min(all>>6, 1<<14), 1<<12))
	if err != nil || len(codes) == 0 {
		return cmp.Or(err, s.part(s.lo, s.hi))
	}
	at := int(float64(s.k-s.below) / float64(s.n) * float64(len(codes)))
	margin := 2 * int(math.Sqrt(float64(len(codes))))
	a, b := s.lo, s.hi
	if at >= margin {
		a = ranked([][]uint64{slices.Clone(codes)}, s.lo, s.hi, uint64(at-margin))
	}
	if at+margin < len(codes) {
		b = ranked([][]uint64{slices.Clone(codes)}, s.lo, s.hi, uint64(at+margin))
	}
	between := 0
	for _, c := range codes {
		if c-a <= b-a {
			between++
		}
	}
	if between > len(codes)/8 { // too many to set aside: only count one of them
		a = ranked([][]uint64{codes}, s.lo, s.hi, uint64(min(at, len(codes)-1)))
		b = a
	}
	return s.part(a, b)
}

// sample returns those codes of a sample of the selected rows that are in lo..hi. The sample has about size
// rows. Each block gives its share: it is cut into as many parts, and each part gives one row.
func (s *rankSearch) sample(all, size uint64) ([]uint64, error) {
	codes, rows := make([][]uint64, s.workers), make([][]int, s.workers)
	err := s.forBlocks(func(w int, scratch *scratch, b block) {
		col := s.order.columns[b.chunk]
		sel := s.values(scratch, col.Segment, b)
		n := float64(sel.Count())
		rng := rand.New(rand.NewPCG(uint64(b.chunk), uint64(b.row)))
		share := int(n/float64(all)*float64(size) + rng.Float64())
		at := bitFinder{sel: sel}
		rows[w] = rows[w][:0]
		for i := range share {
			k := int((float64(i) + rng.Float64()) * n / float64(share))
			rows[w] = append(rows[w], b.row+at.find(min(k, int(n)-1)))
		}
		scratch.put(sel)
		// Apart from the search above, so that the reads wait for memory together.
		for _, row := range rows[w] {
			if c := s.order.common(b.chunk, col.Segment.Codes.At(row)); c-s.lo <= s.hi-s.lo {
				codes[w] = append(codes[w], c)
			}
		}
	})
	return slices.Concat(codes...), err
}

// bitFinder finds set bits by their number, in ascending order.
type bitFinder struct {
	sel     []uint64
	w, seen int // a word, and the bits set before it
}

// find returns the place of the k-th set bit, from 0.
func (f *bitFinder) find(k int) int {
	for {
		n := bits.OnesCount64(f.sel[f.w])
		if k < f.seen+n {
			break
		}
		f.seen += n
		f.w++
	}
	m, k := f.sel[f.w], k-f.seen
	if m == ^uint64(0) {
		return f.w*64 + k
	}
	for range k {
		m &= m - 1
	}
	return f.w*64 + bits.TrailingZeros64(m)
}

// asidePool keeps lists of codes from one search to the next: fresh memory costs more
// than filling it.
var asidePool = sync.Pool{New: func() any { return new([]uint64) }}

// part narrows lo..hi to the part that holds the rank: below a, in a..b, or above b. If that is a..b, it
// narrows it to the code itself.
func (s *rankSearch) part(a, b uint64) error {
	var aside [][]uint64
	if a < b {
		for range s.workers {
			list := asidePool.Get().(*[]uint64)
			aside = append(aside, (*list)[:0])
		}
	}
	below, inside, err := s.count(s.order, a, b, aside)
	switch {
	case err != nil:
	case s.k < below:
		s.hi, s.n = a-1, below-s.below
	case s.k < below+inside:
		s.lo = ranked(aside, a, b, s.k-below)
		s.hi = s.lo
	default:
		s.lo, s.n, s.below = b+1, s.n+s.below-below-inside, below+inside
	}
	for _, list := range aside {
		asidePool.Put(&list)
	}
	return err
}

// count goes over a column once, and counts the selected codes below a and those in a..b. With lists it also
// sets the codes in a..b aside, in a list for each worker.
func (x *execution) count(o *commonOrder, a, b uint64, aside [][]uint64) (uint64, uint64, error) {
	ranges := make([]localRanges, len(x.chunks))
	for i := range ranges {
		ranges[i] = o.local(i, a, b)
	}
	var below, inside atomic.Uint64
	err := x.forBlocks(func(w int, s *scratch, bl block) {
		r, col := &ranges[bl.chunk], o.columns[bl.chunk]
		sel := x.values(s, col.Segment, bl)
		hit := s.get(len(sel))
		if r.someBelow {
			col.Select(hit, sel, bl.row, r.below)
			below.Add(uint64(hit.Count()))
		}
		if r.someInside {
			col.Select(hit, sel, bl.row, r.inside)
			inside.Add(uint64(hit.Count()))
		}
		if r.someInside && aside != nil {
			list := col.Gather(aside[w], hit, bl.row)
			more := list[len(aside[w]):]
			for i, code := range more {
				more[i] = o.common(bl.chunk, code)
			}
			aside[w] = list
		}
		s.put(sel)
		s.put(hit)
	})
	return below.Load(), inside.Load(), err
}

// localRanges are the codes of a chunk for those of the space below a, and in a..b.
type localRanges struct {
	below, inside         kernels.Range
	someBelow, someInside bool
}

func (o *commonOrder) local(chunk int, a, b uint64) (r localRanges) {
	s := o.columns[chunk]
	if s.NonNull() == 0 {
		return r
	}
	from, ok := o.Local(s.Segment, a)
	if !ok {
		r.below, r.someBelow = kernels.Between(0, s.Max, s.Width())
		return r
	}
	r.below, r.someBelow = kernels.Where(expr.LT, from, s.Width())
	to := s.Max
	if b < o.Max() {
		if next, ok := o.Local(s.Segment, b+1); ok && next == 0 {
			return r
		} else if ok {
			to = next - 1
		}
	}
	if from <= to {
		r.inside, r.someInside = kernels.Between(from, to, s.Width())
	}
	return r
}

// values are the selected rows of a block that are not NULL in a segment; the caller puts
// the words back.
func (x *execution) values(s *scratch, seg *table.Segment, b block) table.Bitmap {
	sel := s.get((b.n + 63) / 64)
	if all := x.chunks[b.chunk].selected; all != nil {
		copy(sel, all[b.row/64:])
	} else {
		setFirst(sel, b.n)
	}
	andValid(sel, seg, b.row)
	return sel
}

// ranked is the code of rank k, from 0, among lists of codes of lo..hi. It works in rounds, as the k-th
// element search over devices does. A round counts the codes in the buckets of a histogram; the bucket that
// holds rank k is the next round's range. The lists lose what is not in it. A few codes are not worth waking
// other workers.
func ranked(lists [][]uint64, lo, hi, k uint64) uint64 {
	for lo < hi {
		shift, all := uint(max(0, bits.Len64(hi-lo)-bucketBits)), 0
		for _, codes := range lists {
			all += len(codes)
		}
		var wg parallel.Group
		hs := make([]buckets, 1)
		if all > fewCodes {
			hs = make([]buckets, len(lists))
		}
		for i, codes := range lists {
			if len(hs) > 1 {
				wg.Go(func() { lists[i] = hs[i].count(codes, lo, hi, shift) })
			} else {
				lists[i] = hs[0].count(codes, lo, hi, shift)
			}
		}
		wg.Wait()
		for part := range hs[0] {
			n := uint64(0)
			for i := range hs {
				n += hs[i][part]
			}
			if k < n {
				lo += uint64(part) << shift
				break
			}
			k -= n
		}
		hi = lo + min(hi-lo, 1<<shift-1)
	}
	return lo
}

// buckets are the counts of a histogram, 16 KiB: they stay in the first-level cache.
type buckets [1 << bucketBits]uint64

const bucketBits = 11

// count counts those of codes that lie in lo..hi, by their bits from shift on, and
// returns them.
func (h *buckets) count(codes []uint64, lo, hi uint64, shift uint) []uint64 {
	kept := codes[:0]
	for _, c := range codes {
		if v := c - lo; v <= hi-lo {
			h[v>>(shift&63)%(1<<bucketBits)]++
			kept = append(kept, c)
		}
	}
	return kept
}

// searched is what a search over several devices knows of the selected codes of a column. It has a histogram of the codes
// at or above lo, by 2^shift codes, and the number of codes above it. Those of the second histogram and later ones are set
// aside.
type searched struct {
	order *commonOrder
	lo    uint64 // of the space
	shift int
	buckets
	above uint64
	codes [][]uint64 // nil for all of the column
}

// atLeast counts the codes at or above one at which a bucket begins, or that is above all.
func (s *searched) atLeast(code uint64) (n uint64) {
	n = s.above
	for i := (code - s.lo) >> s.shift; i < uint64(len(s.buckets)); i++ {
		n += s.buckets[i]
	}
	return n
}

// CountAtLeast implements partial.Selection.
func (x *execution) CountAtLeast(col int, space *physical.CodeSpace, d partial.Digit) ([]uint64, error) {
	o, s := x.order(space, col), x.searches[col]
	if d.N == 0 {
		return x.countDigit(o, d)
	}
	var err error
	switch top := d.Shift + d.Bits; {
	case top >= space.Bits(): // another search
		s = &searched{order: o, shift: max(0, space.Bits()-bucketBits)}
		err = x.histogram(s)
	case s == nil || s.order != o || d.Lo < s.lo:
		return nil, fmt.Errorf("cpu: bits %d..%d do not follow a search's first ones", top-1, d.Shift)
	case d.Shift < s.shift:
		last := d.Lo + (1<<top - 1)
		next := &searched{order: o, lo: d.Lo, shift: max(0, top-bucketBits), codes: s.codes}
		if last < o.Max() { // else the code behind it may be 2^64
			next.above = s.atLeast(last + 1)
		}
		if s.codes == nil {
			next.codes = make([][]uint64, x.workers)
			_, _, err = x.count(o, d.Lo, min(last, o.Max()), next.codes)
		}
		for i, codes := range next.codes {
			next.codes[i] = next.buckets.count(codes, d.Lo, last, uint(next.shift))
		}
		s = next
	}
	if err != nil {
		return nil, err
	}
	x.searches[col] = s
	reach := d.Thresholds(space)
	for i, code := range reach {
		reach[i] = s.atLeast(code)
	}
	return reach, nil
}

// histogram counts all selected codes of a column.
func (x *execution) histogram(s *searched) error {
	parts := make([]buckets, x.workers)
	err := x.forBlocks(func(w int, scratch *scratch, bl block) {
		col := s.order.columns[bl.chunk]
		sel := x.values(scratch, col.Segment, bl)
		scratch.codes = col.Gather(scratch.codes[:0], sel, bl.row)
		scratch.put(sel)
		for _, code := range scratch.codes {
			parts[w][s.order.common(bl.chunk, code)>>(s.shift&63)%(1<<bucketBits)]++
		}
	})
	for i := range parts {
		for b, n := range parts[i] {
			s.buckets[b] += n
		}
	}
	return err
}

// countDigit counts a digit by itself: the selected codes that begin as d.Lo by their digit, and those above them.
func (x *execution) countDigit(o *commonOrder, d partial.Digit) ([]uint64, error) {
	parts := make([][]uint64, x.workers) // the last one is of the codes above
	span := uint64(1)<<d.Bits - 1
	err := x.forBlocks(func(w int, scratch *scratch, bl block) {
		col := o.columns[bl.chunk]
		sel := x.values(scratch, col.Segment, bl)
		scratch.codes = col.Gather(scratch.codes[:0], sel, bl.row)
		scratch.put(sel)
		if parts[w] == nil {
			parts[w] = make([]uint64, span+2)
		}
		n, lo := parts[w], d.Lo>>(d.Shift&63)
		for _, code := range scratch.codes {
			if v := o.common(bl.chunk, code) >> (d.Shift & 63); v >= lo {
				n[min(v-lo, span+1)]++
			}
		}
	})
	counts := make([]uint64, span+2)
	for _, n := range parts {
		for i := range n {
			counts[i] += n[i]
		}
	}
	return d.Reach(o.CodeSpace, counts), err
}

// DigitBits implements partial.Selection.
func (x *execution) DigitBits(uint64) int { return bucketBits }

// VisitBits implements partial.Selection.
func (x *execution) VisitBits() int { return visitBits }

// visitBits makes histograms of 512 KiB, which the second-level cache holds.
const visitBits = 16
