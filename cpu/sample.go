package cpu

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
)

// fewCodes is the number of codes that are searched through without a sample.
const fewCodes = 1 << 16

// sampleOf returns about the number of codes that a search for a rank among n looks
// at first. The rank that the wanted code has in the sample has a standard deviation
// of at most half the root of that (of a binomial distribution). margin is four of
// them: one search in 16,000 misses, and at most 6 % of the codes lie between, 3 %
// from a million on.
func sampleOf(n uint64) (size, margin int) {
	size = int(min(max(n>>10, min(n>>6, 1<<14), 1<<12), 1<<16))
	return size, 2 * int(math.Sqrt(float64(size)))
}

// narrow draws lo..hi together by a sample of the codes, after Floyd and Rivest's
// SELECT (Expected time bounds for selection, CACM 1975), and sets the codes within
// aside.
func (s *rankSearch) narrow() error {
	if s.n <= fewCodes {
		return s.setAside(s.lo, s.hi)
	}
	codes, err := s.sample()
	if err != nil {
		return err
	}
	drawn := len(codes)
	_, margin := sampleOf(s.n)
	first := int(float64(s.k)/float64(s.n)*float64(drawn)) - margin
	last := first + 2*margin
	a, b := s.lo, s.hi
	if first >= 0 {
		if a, err = s.inSample(codes, first); err != nil {
			return err
		}
	}
	if last < drawn {
		if b, err = s.inSample(codes, last); err != nil {
			return err
		}
	}
	between := 0
	for _, c := range codes {
		if c-a <= b-a {
			between++
		}
	}
	if a < b && between > drawn/8 {
		return nil // a or b is too frequent to set aside
	}
	return s.setAside(a, b)
}

// inSample is the code of that rank in a sample.
func (s *rankSearch) inSample(codes []uint64, rank int) (uint64, error) {
	t := &rankSearch{execution: s.execution, lo: s.lo, hi: s.hi, k: uint64(rank), aside: [][]uint64{slices.Clone(codes)}}
	err := t.bisect()
	return t.lo, err
}

// sample returns codes of the selection: from each block its share, one from each of
// equally many selected rows.
func (s *rankSearch) sample() ([]uint64, error) {
	codes, rows := make([][]uint64, s.teamSize()), make([][]int, s.teamSize())
	scratches := s.newScratches()
	size, _ := sampleOf(s.n)
	err := s.forBlocks(func(w int, b block) {
		sel := s.selectedValues(&scratches[w], b)
		defer scratches[w].put(sel)
		n := float64(countBits(sel))
		rng := rand.New(rand.NewPCG(uint64(b.chunk), uint64(b.row)))
		share := int(n/float64(s.n)*float64(size) + rng.Float64())
		at := bitFinder{sel: sel}
		rows[w] = rows[w][:0]
		for i := range share {
			k := int((float64(i) + rng.Float64()) * n / float64(share))
			rows[w] = append(rows[w], b.row+at.find(min(k, int(n)-1)))
		}
		// Apart from the search above, so that the reads wait for memory together.
		for _, row := range rows[w] {
			codes[w] = append(codes[w], s.order.common(b.chunk, row))
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

// setAside goes over the column once, counts the selected codes below a and takes
// those in a..b aside; then lo..hi becomes the part of it, below a, in a..b, or above
// b, that holds the rank. Where a is b they are counted only.
func (s *rankSearch) setAside(a, b uint64) error {
	split := make([]localRanges, len(s.chunks))
	for i := range split {
		split[i] = s.order.local(i, a, b)
	}
	lists := newAside(s.teamSize())
	below, inside := make([]uint64, len(lists)), make([]uint64, len(lists))
	scratches := s.newScratches()
	err := s.forBlocks(func(w int, bl block) {
		r, scratch := &split[bl.chunk], &scratches[w]
		codes := kernels.Part(s.order.segs[bl.chunk].Codes, bl.row, bl.n)
		sel := s.selectedValues(scratch, bl)
		defer scratch.put(sel)
		if r.someBelow {
			below[w] += s.kernels.CountAmong(sel, codes, r.below)
		}
		if !r.someInside {
			return
		}
		if a == b {
			inside[w] += s.kernels.CountAmong(sel, codes, r.inside)
			return
		}
		s.kernels.Select(sel, sel, codes, r.inside)
		lists[w] = s.order.collect(lists[w], bl, sel)
	})
	if err != nil {
		return err
	}
	var belowAll, insideAll uint64
	for w := range lists {
		belowAll += below[w]
		insideAll += inside[w] + uint64(len(lists[w]))
	}
	switch {
	case s.k < belowAll:
		s.hi = a - 1
	case s.k < belowAll+insideAll:
		s.lo, s.hi, s.k = a, b, s.k-belowAll
		s.aside = lists
		return nil
	default:
		s.lo, s.k = b+1, s.k-belowAll-insideAll
	}
	freeAside(lists)
	return nil
}

// asidePool keeps lists of codes from one search to the next: fresh memory costs more
// than filling it.
var asidePool sync.Pool

func newAside(workers int) [][]uint64 {
	lists := make([][]uint64, workers)
	for i := range lists {
		if l, ok := asidePool.Get().(*[]uint64); ok {
			lists[i] = (*l)[:0]
		}
	}
	return lists
}

func freeAside(lists [][]uint64) {
	for _, l := range lists {
		if cap(l) > 0 {
			asidePool.Put(&l)
		}
	}
}

// localRanges are the codes of a chunk for those of the space below a, and in a..b.
type localRanges struct {
	below, inside         kernels.Range
	someBelow, someInside bool
}

func (o *commonOrder) local(chunk int, a, b uint64) (r localRanges) {
	s := o.segs[chunk]
	if s.NonNull() == 0 {
		return r
	}
	width := kernels.Width(s.Codes)
	from, ok := o.Local(s, a)
	if !ok {
		r.below, r.someBelow = kernels.Between(0, s.Max, width)
		return r
	}
	r.below, r.someBelow = kernels.Where(expr.LT, from, width)
	to := s.Max
	if b < o.Max() {
		if next, ok := o.Local(s, b+1); ok && next == 0 {
			return r
		} else if ok {
			to = next - 1
		}
	}
	if from <= to {
		r.inside, r.someInside = kernels.Between(from, to, width)
	}
	return r
}

// collect appends the codes of the rows sel, plus delta.
func collect[T anyCode](out []uint64, codes []T, sel []uint64, delta uint64) []uint64 {
	for w, m := range sel {
		group := codes[w*64 : min(len(codes), w*64+64)]
		for ; m != 0; m &= m - 1 {
			out = append(out, uint64(group[bits.TrailingZeros64(m)])+delta)
		}
	}
	return out
}
