package plan

import (
	"math/bits"
	"runtime"
	"sync"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// between is an order statistic that probably is between two codes of its column: how many selected values of the parts that have been
// visited are above these codes, and which ones are between them.
type between struct {
	col     int
	space   *Space
	span    Span
	above   uint64
	listing sync.WaitGroup // goroutines gather codes while the device goes on

	mu    sync.Mutex
	n     uint64     // values between the codes
	codes [][]uint64 // theirs; nil where the two codes are one
	lost  bool       // they were too many
}

// mostBetween is how many values are listed at most: one in so many of the table, and some more.
func mostBetween(t *table.Table) uint64 { return uint64(t.Rows())/8 + 1<<16 }

// visit counts and lists the values of the part that is there.
func (b *between) visit(m *streamed, part *Query) error {
	b.mu.Lock()
	lost := b.lost
	b.mu.Unlock()
	if lost {
		return nil
	}
	count := func(of Span) (n uint64, err error) {
		q := part.within(b.col, b.space, of)
		q.Aggs = []expr.Aggregate{{Kind: expr.CountAll, Name: "count", Col: -1}}
		err = m.Select(q, func(s Selection) error {
			err := s.Check()
			if err == nil {
				n, err = s.Count()
			}
			return err
		})
		return n, err
	}
	if b.span.Hi < b.space.max {
		n, err := count(Span{b.span.Hi + 1, b.space.max})
		if err != nil {
			return err
		}
		b.above += n
	}
	if b.span.Lo == b.span.Hi {
		n, err := count(b.span)
		b.n += n
		return err
	}
	q, most := part.within(b.col, b.space, b.span), mostBetween(m.q.Table)
	q.Columns = []int{b.col}
	for i, c := range q.Chunks {
		if c.Pred.Op == False {
			continue
		}
		list, err := m.Rows(q, i)
		if err != nil {
			return err
		}
		b.listing.Go(func() {
			for _, marked := range list {
				b.add(q.Table.Chunks[i].Segments[b.col], marked, most)
			}
		})
	}
	return nil
}

// within selects those selected records of a part of which the codes of a column are in a span of the space, without checks.
func (q *Query) within(col int, s *Space, in Span) *Query {
	out := &Query{Table: q.Table, Where: q.Where, Chunks: make([]ChunkPlan, len(q.Chunks)), places: q.places, windowOf: q.windowOf}
	for i, c := range q.Chunks {
		out.Chunks[i] = ChunkPlan{Pred: falsePred, scalar: c.scalar}
		chunk := q.Table.Chunks[i]
		seg := chunk.Segments[col]
		lo, ok := s.Local(seg, in.Lo)
		if !ok {
			continue
		}
		hi := seg.Max
		if in.Hi < s.max {
			if above, ok := s.Local(seg, in.Hi+1); ok {
				hi = above - 1 // modulo 2^64: below lo where above is 0
			}
		}
		if lo <= hi && hi <= seg.Max {
			out.Chunks[i].Pred = Combine(And, c.Pred, newLowerer(q.Table, chunk).spanPred(col, spanSet{{lo, hi}}, expr.GE, ""))
		}
	}
	return out
}

// add begins to list the codes of marked records of a segment.
func (b *between) add(seg *table.Segment, m Marked, most uint64) {
	const part = 1 << 14 // of a goroutine
	if m.All {
		b.take(seg, table.Block{First: m.First, N: m.N}, most)
	}
	for piece := range m.Parts(32 * part) {
		b.listing.Go(func() {
			for rows := range piece.Lists(part) {
				b.listing.Go(func() { b.take(seg, table.Block{Rows: rows}, most) })
			}
		})
	}
}

// take lists the codes of rows of a segment.
func (b *between) take(seg *table.Segment, rows table.Block, most uint64) {
	seg.Settle()
	delta, ranks := b.space.Translation(seg)
	codes := table.Gather(seg.Codes, rows, delta)
	if ranks != nil {
		for i, code := range codes {
			codes[i] = uint64(ranks[code])
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n += uint64(len(codes)); b.n > most {
		b.codes, b.lost = nil, true
	}
	if !b.lost {
		b.codes = append(b.codes, codes)
	}
}

// kth is the code of the k-th largest value, k > 0; ok is false where it is not between the codes.
func (b *between) kth(k uint64) (code uint64, ok bool) {
	if b.lost || k <= b.above || k > b.above+b.n {
		return 0, false
	}
	k -= b.above
	lo, hi, left := b.span.Lo, b.span.Hi, b.codes
	for lo < hi { // a histogram of the upper bits of those that are left
		const digit = 12
		shift := max(0, bits.Len64(hi-lo)-digit)
		counts := make([]uint64, (hi-lo)>>shift+1)
		inLists(left, func(codes []uint64, mine []uint64) []uint64 {
			if mine == nil {
				mine = make([]uint64, len(counts))
			}
			for _, code := range codes {
				mine[(code-lo)>>shift]++
			}
			return mine
		}, func(mine []uint64) {
			for i, n := range mine {
				counts[i] += n
			}
		})
		at := len(counts) - 1
		for ; counts[at] < k; at-- {
			k -= counts[at]
		}
		lo += uint64(at) << shift
		hi = lo + min(hi-lo, 1<<shift-1)
		var next [][]uint64
		inLists(left, func(codes []uint64, mine []uint64) []uint64 {
			for _, code := range codes {
				if lo <= code && code <= hi {
					mine = append(mine, code)
				}
			}
			return mine
		}, func(mine []uint64) { next = append(next, mine) })
		left = next
	}
	return lo, true
}

// inLists has all cores go over lists: each makes something of one after the other, which is joined in the end.
func inLists(lists [][]uint64, do func(codes, mine []uint64) []uint64, join func(mine []uint64)) {
	var each sync.WaitGroup
	var mu sync.Mutex
	workers := min(runtime.GOMAXPROCS(0), len(lists))
	for w := range workers {
		each.Go(func() {
			var mine []uint64
			for i := w; i < len(lists); i += workers {
				mine = do(lists[i], mine)
			}
			mu.Lock()
			defer mu.Unlock()
			join(mine)
		})
	}
	each.Wait()
}
