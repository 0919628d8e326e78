package partial

import (
	"math/bits"
	"runtime"
	"sync"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/slab"
)

// bracket is an order statistic that probably is between two codes of its column. It has the number of selected values above these
// codes, in the parts that were visited, and the values between them.
type bracket struct {
	col      int
	span     predicate.Span
	above    uint64
	listing  parallel.Group // goroutines gather codes while the device goes on
	CodeList                // of the values between; only their number where the two codes are one
}

// BracketRows is how many records one query selects, and which another one does, of a chunk. Each part tells it of some records,
// those that are listed in any order; several goroutines call parts at a time.
type BracketRows struct {
	Parts []func() (rows []uint32, above uint64)
}

// CodeList are those of some values of a column, in its space. Several goroutines may add to them.
type CodeList struct {
	Space *physical.CodeSpace
	Most  uint64 // more are too many; 0 for no limit

	mu         sync.Mutex
	n          uint64
	lists      [][]uint64
	incomplete bool // there were too many, or a device does not list them
	translated map[*table.Segment]translation
}

// translation is what [physical.CodeSpace.Translation] tells of a segment.
type translation struct {
	delta uint64
	ranks []uint32
}

// Len is how many there are.
func (c *CodeList) Len() uint64 { return c.n }

// newBracket lists one value in eight of a table at most, and some more.
func newBracket(t *table.Table, col int, s *physical.CodeSpace, span predicate.Span) *bracket {
	return &bracket{col: col, span: span, CodeList: CodeList{Space: s, Most: uint64(t.Rows())/8 + 1<<16}}
}

// visit counts and lists the values of the part that is there; where the device declines two conditions together, they are lost.
func (b *bracket) visit(m *streamedSelection, part *physical.Query) error {
	err := b.find(m, part)
	if plan.IsDeclined(err) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.giveUp()
		return nil
	}
	return err
}

func (b *bracket) find(m *streamedSelection, part *physical.Query) error {
	b.mu.Lock()
	lost := b.incomplete
	b.mu.Unlock()
	if lost {
		return nil
	}
	beyond := predicate.Span{Lo: 1, Hi: 0} // none
	if b.span.Hi < b.Space.Max() {
		beyond = predicate.Span{Lo: b.span.Hi + 1, Hi: b.Space.Max()}
	}
	in, above := part.WithCodesIn(b.col, b.Space, b.span), part.WithCodesIn(b.col, b.Space, beyond)
	in.Columns, in.ValuesOnly = []int{b.col}, true
	one := b.span.Lo == b.span.Hi
	if one || m.Find == nil {
		if err := m.add(above, &b.above); err != nil {
			return err
		}
	}
	if one {
		return m.add(in, &b.n)
	}
	for i, c := range in.Chunks {
		seg := in.Table.Chunks[i].Segments[b.col]
		switch {
		case m.Find != nil:
			if c.Pred.Op == predicate.False && above.Chunks[i].Pred.Op == predicate.False {
				continue
			}
			found, err := m.Find(in, above, i)
			if err != nil {
				return err
			}
			for _, part := range found.Parts {
				b.listing.Go(func() {
					rows, above := part()
					b.Add(seg, table.Block{Rows: rows})
					b.mu.Lock()
					b.above += above
					b.mu.Unlock()
				})
			}
		case c.Pred.Op != predicate.False:
			list, err := m.Rows(in, i)
			if err != nil {
				return err
			}
			for _, marked := range list {
				b.list(seg, marked)
			}
		}
	}
	return nil
}

// add adds how many records of the part that is there a query selects.
func (m *streamedSelection) add(q *physical.Query, to *uint64) error {
	counted := *q
	counted.Aggs = []expr.Aggregate{{Kind: expr.CountAll, Name: "count", Col: -1}}
	return m.Select(&counted, func(s Selection) error {
		err := s.Check()
		if err != nil {
			return err
		}
		n, err := s.Count()
		*to += n
		return err
	})
}

// list begins to add the codes of marked records of a segment.
func (b *bracket) list(seg *table.Segment, m physical.SelectedRows) {
	const part = slab.Rows // of a goroutine
	if m.All {
		b.Add(seg, table.Block{First: m.First, N: m.N})
	}
	for _, c := range m.Values {
		b.listing.Go(func() {
			values := c.Segments[b.col]
			b.Add(values, table.Block{N: c.Rows})
			if values.Slab {
				slab.Free(values.Codes.U64)
			}
		})
	}
	for piece := range m.Parts(8 * part) {
		b.listing.Go(func() {
			for rows := range piece.Lists(part) {
				b.listing.Go(func() { b.Add(seg, table.Block{Rows: rows}) })
			}
		})
	}
}

// kth is the code of the k-th largest value, k > 0; ok is false where it is not between the codes.
func (b *bracket) kth(k uint64) (code uint64, ok bool) {
	if b.incomplete || k <= b.above || k > b.above+b.n {
		return 0, false
	}
	return b.Kth(b.span, k-b.above), true
}

// Add adds the codes of rows of a segment, of which none is NULL.
func (c *CodeList) Add(seg *table.Segment, rows table.Block) {
	seg.AwaitCodes()
	delta, ranks := c.translation(seg)
	codes := slab.New(rows.Len())
	table.GatherInto(codes, seg.Codes, rows, delta)
	if ranks != nil {
		for i, code := range codes {
			codes[i] = uint64(ranks[code])
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += uint64(len(codes))
	c.lists = append(c.lists, codes)
	if c.Most > 0 && c.n > c.Most {
		c.giveUp()
	}
}

// translation is [physical.CodeSpace.Translation], which goes over the dictionary of a segment of texts: once.
func (c *CodeList) translation(seg *table.Segment) (delta uint64, ranks []uint32) {
	if seg.Dict == nil {
		return c.Space.Translation(seg)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.translated[seg]
	if !ok {
		t.delta, t.ranks = c.Space.Translation(seg)
		if c.translated == nil {
			c.translated = map[*table.Segment]translation{}
		}
		c.translated[seg] = t
	}
	return t.delta, t.ranks
}

func (c *CodeList) giveUp() {
	c.incomplete = true
	c.free()
}

// Free says that the codes are needed no more.
func (c *CodeList) Free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free()
}

func (c *CodeList) free() {
	for _, codes := range c.lists {
		slab.Free(codes)
	}
	c.lists = nil
}

// Kth is the k-th largest code, 1 <= k <= Len, of codes that are all in a span.
func (c *CodeList) Kth(in predicate.Span, k uint64) uint64 {
	left := c.lists
	for in.Lo < in.Hi { // a histogram of the upper bits of those that are left
		const digit = 12
		shift := max(0, bits.Len64(in.Hi-in.Lo)-digit)
		n, lo := (in.Hi-in.Lo)>>shift+1, in.Lo
		counts := make([]uint64, n)
		overLists(left, func(codes []uint64, mine []uint64) []uint64 {
			if mine == nil {
				mine = make([]uint64, n)
			}
			for _, code := range codes {
				mine[(code-lo)>>(shift&63)]++
			}
			return mine
		}, func(mine []uint64) {
			for i, n := range mine {
				counts[i] += n
			}
		})
		at := n - 1
		for ; counts[at] < k; at-- {
			k -= counts[at]
		}
		from, span := lo+at<<shift, min(in.Hi-(lo+at<<shift), 1<<shift-1)
		var next [][]uint64
		overLists(left, func(codes []uint64, mine []uint64) []uint64 {
			for _, code := range codes {
				if code-from <= span { // below it wraps around
					mine = append(mine, code)
				}
			}
			return mine
		}, func(mine []uint64) { next = append(next, mine) })
		in, left = predicate.Span{Lo: from, Hi: from + span}, next
	}
	return in.Lo
}

// overLists has all cores go over lists: each makes something of one after the other, which is joined in the end.
func overLists(lists [][]uint64, do func(codes, mine []uint64) []uint64, join func(mine []uint64)) {
	const least = 1 << 15 // codes of a core: others take time to wake
	codes := xslices.Sum(lists, func(list []uint64) int { return len(list) })
	workers := min(runtime.GOMAXPROCS(0), codes/least+1)
	var mu sync.Mutex
	work := func(w int) {
		var mine []uint64
		for i := w; i < len(lists); i += workers {
			mine = do(lists[i], mine)
		}
		mu.Lock()
		defer mu.Unlock()
		join(mine)
	}
	var others parallel.Group
	for w := 1; w < workers; w++ {
		others.Go(func() { work(w) })
	}
	work(0)
	others.Wait()
}
