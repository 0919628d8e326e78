package cpu

import (
	"fmt"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// blockRows is the number of rows that a worker takes at a time: 8 KiB of
// selection, and codes that stay in the second-level cache while the predicates
// and aggregates of a query read them.
const blockRows = 1 << 16

const blockWords = blockRows / 64

// leaf writes to dst the rows of among, of the n rows from row on of its chunk, that
// satisfy a simple predicate. dst and among do not overlap.
type leaf interface {
	eval(s *scratch, dst, among []uint64, row, n int)
}

// leafFunc is a leaf that tests rows outside among as well.
type leafFunc func(s *scratch, dst, among []uint64, row, n int)

func (f leafFunc) eval(s *scratch, dst, among []uint64, row, n int) {
	f(s, dst, among, row, n)
	for w := range dst {
		dst[w] &= among[w]
	}
}

// node is a predicate made ready for one chunk.
type node struct {
	op   plan.Op
	kids []*node
	leaf leaf
}

// prepare makes a predicate of plan ready to run on chunk c.
func prepare(p *plan.Pred, c *table.Chunk) (*node, error) {
	nd := &node{op: p.Op}
	for _, k := range p.Kids {
		kid, err := prepare(k, c)
		if err != nil {
			return nil, err
		}
		nd.kids = append(nd.kids, kid)
	}
	if p.Op != plan.IsLeaf {
		return nd, nil
	}
	for _, col := range p.Leaf.Columns() {
		if col < 0 || col >= len(c.Segments) || c.Segments[col] == nil {
			return nil, fmt.Errorf("cpu: %v reads column %d, which the chunk does not have", p.Leaf, col)
		}
	}
	switch l := p.Leaf.(type) {
	case *plan.Compare:
		seg := c.Segments[l.Col]
		r, ok := kernels.Where(l.Op, l.Code, kernels.Width(seg.Codes))
		nd.leaf = newRangeLeaf(seg, r, ok)
	case *plan.Range:
		seg := c.Segments[l.Col]
		r, ok := kernels.Between(l.Lo, l.Hi, kernels.Width(seg.Codes))
		nd.leaf = newRangeLeaf(seg, r, ok)
	case *plan.NullTest:
		nd.leaf = nullLeaf(c.Segments[l.Col], l.Not)
	case *plan.Members:
		nd.leaf = membersLeaf(c.Segments[l.Col], l.Spans)
	case *plan.Program:
		nd.leaf = programLeaf(l, c)
		if lin := newLinearLeaf(l, c); lin != nil {
			nd.leaf = lin
		}
	default:
		return nil, fmt.Errorf("cpu: no such predicate: %T", l)
	}
	return nd, nil
}

// rangeLeaf is a comparison or a range of one column.
type rangeLeaf struct {
	seg   *table.Segment
	codes kernels.Range
}

// newRangeLeaf returns a rangeLeaf, or a leaf that selects nothing.
func newRangeLeaf(s *table.Segment, codes kernels.Range, some bool) leaf {
	if !some {
		return leafFunc(func(_ *scratch, dst, _ []uint64, _, _ int) { clear(dst) })
	}
	return &rangeLeaf{s, codes}
}

func (l *rangeLeaf) eval(s *scratch, dst, among []uint64, row, n int) {
	s.kernels.Select(dst, among, kernels.Part(l.seg.Codes, row, n), l.codes)
	andValid(dst, l.seg, row)
}

// count counts the rows without writing them down.
func (l *rangeLeaf) count(s *scratch, among []uint64, row, n int) uint64 {
	codes := kernels.Part(l.seg.Codes, row, n)
	if l.seg.Valid == nil {
		return s.kernels.CountAmong(among, codes, l.codes)
	}
	values := s.get(len(among))
	defer s.put(values)
	copy(values, among)
	andValid(values, l.seg, row)
	return s.kernels.CountAmong(values, codes, l.codes)
}

// countAll is count of all rows.
func (l *rangeLeaf) countAll(s *scratch, row, n int) uint64 {
	codes := kernels.Part(l.seg.Codes, row, n)
	if l.seg.Valid == nil {
		return s.kernels.Count(codes, l.codes)
	}
	return s.kernels.CountAmong(l.seg.Valid[row/64:][:(n+63)/64], codes, l.codes)
}

// flip complements the first n bits of dst.
func flip(dst []uint64, n int) {
	for w := range dst {
		dst[w] = ^dst[w]
	}
	if n&63 != 0 {
		dst[n>>6] &= 1<<uint(n&63) - 1
	}
}

// andValid clears the rows of a block that are NULL; row is a multiple of 64.
func andValid(dst []uint64, s *table.Segment, row int) {
	if s.Valid == nil {
		return
	}
	valid := s.Valid[row/64:]
	for w := range dst {
		dst[w] &= valid[w]
	}
}

func nullLeaf(s *table.Segment, not bool) leaf {
	return leafFunc(func(_ *scratch, dst, _ []uint64, row, n int) {
		setFirst(dst, n)
		andValid(dst, s, row)
		if !not {
			flip(dst, n)
		}
	})
}

// membersLeaf marks the member codes in a bitmap over all codes of the segment.
// Wide codes, whose bitmap would not stay in a cache, are looked up by binary
// search in the spans instead.
func membersLeaf(s *table.Segment, spans []plan.Span) leaf {
	const tableBits = 22
	if s.Bits > tableBits {
		return spansLeaf(s, spans)
	}
	member := table.NewBitmap(int(s.Max) + 1)
	for _, sp := range spans {
		for c := sp.Lo; c <= min(sp.Hi, s.Max); c++ {
			member.Set(int(c))
		}
	}
	return leafFunc(func(_ *scratch, dst, _ []uint64, row, n int) {
		switch codes := s.Codes; {
		case codes.U8 != nil:
			inTable(dst, codes.U8[row:row+n], member)
		case codes.U16 != nil:
			inTable(dst, codes.U16[row:row+n], member)
		case codes.U32 != nil:
			inTable(dst, codes.U32[row:row+n], member)
		default:
			inTable(dst, codes.U64[row:row+n], member)
		}
		andValid(dst, s, row)
	})
}

func spansLeaf(s *table.Segment, spans []plan.Span) leaf {
	return leafFunc(func(_ *scratch, dst, among []uint64, row, n int) {
		clear(dst)
		for i := range n {
			if among[i>>6]>>uint(i&63)&1 == 0 {
				continue
			}
			c := s.Codes.At(row + i)
			// The last span that starts at or below c is the only one to hold it.
			lo, hi := 0, len(spans)
			for lo < hi {
				if mid := (lo + hi) / 2; spans[mid].Lo <= c {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			setBit(dst, i, lo > 0 && c <= spans[lo-1].Hi)
		}
		andValid(dst, s, row)
	})
}

func programLeaf(p *plan.Program, c *table.Chunk) leaf {
	return leafFunc(func(s *scratch, dst, among []uint64, row, n int) {
		forVectors(dst, among, n, func(dst, _ []uint64, at, k int) {
			s.program.selects(p, c, dst, row+at, k)
		})
	})
}

// forVectors calls do for each vecRows rows of a block of n of which some are in
// among, and clears the others in dst.
func forVectors(dst, among []uint64, n int, do func(dst, among []uint64, at, k int)) {
	for at := 0; at < n; at += vecRows {
		k := min(vecRows, n-at)
		first, last := at/64, (at+k+63)/64
		if anyBit(among[first:last]) {
			do(dst[first:last], among[first:last], at, k)
		} else {
			clear(dst[first:last])
		}
	}
}

// scratch is what one worker needs to evaluate predicates.
type scratch struct {
	kernels kernels.Set
	program program
	sums    linearSums
	words   [][]uint64
}

func (s *scratch) get(n int) []uint64 {
	if k := len(s.words); k > 0 {
		b := s.words[k-1]
		s.words = s.words[:k-1]
		return b[:n]
	}
	return make([]uint64, blockWords)[:n]
}

func (s *scratch) put(b []uint64) { s.words = append(s.words, b) }

// eval writes to dst the rows of among, of the n rows from row on, for which the
// predicate is TRUE. dst and among do not overlap.
func (nd *node) eval(s *scratch, dst, among []uint64, row, n int) {
	switch nd.op {
	case plan.False:
		clear(dst)
	case plan.True:
		copy(dst, among)
	case plan.IsLeaf:
		nd.leaf.eval(s, dst, among, row, n)
	case plan.And:
		nd.evalAnd(s, dst, among, row, n)
	case plan.Or:
		nd.evalOr(s, dst, among, row, n)
	}
}

// count is the number of rows that eval would write, of all n rows.
func (nd *node) count(s *scratch, row, n int) uint64 {
	if l, ok := nd.leaf.(*rangeLeaf); ok {
		return l.countAll(s, row, n)
	}
	if nd.op == plan.True {
		return uint64(n)
	}
	words := (n + 63) / 64
	among, sel := s.get(words), s.get(words)
	defer func() { s.put(among); s.put(sel) }()
	setFirst(among, n)
	if nd.op == plan.And {
		last := len(nd.kids) - 1
		if l, ok := nd.kids[last].leaf.(*rangeLeaf); ok {
			(&node{op: plan.And, kids: nd.kids[:last]}).eval(s, sel, among, row, n)
			return l.count(s, sel, row, n)
		}
	}
	nd.eval(s, sel, among, row, n)
	return countBits(sel)
}

// evalAnd asks each kid only about the rows that the kids before it left.
func (nd *node) evalAnd(s *scratch, dst, among []uint64, row, n int) {
	t := s.get(len(dst))
	nd.kids[0].eval(s, dst, among, row, n)
	for _, k := range nd.kids[1:] {
		if !anyBit(dst) {
			break
		}
		copy(t, dst)
		k.eval(s, dst, t, row, n)
	}
	s.put(t)
}

// evalOr asks each kid only about the rows that no kid before it took.
func (nd *node) evalOr(s *scratch, dst, among []uint64, row, n int) {
	t, rest := s.get(len(dst)), s.get(len(dst))
	copy(rest, among)
	clear(dst)
	for _, k := range nd.kids {
		k.eval(s, t, rest, row, n)
		for w := range dst {
			dst[w] |= t[w]
			rest[w] &^= t[w]
		}
		if !anyBit(rest) {
			break
		}
	}
	s.put(t)
	s.put(rest)
}
