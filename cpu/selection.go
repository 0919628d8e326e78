package cpu

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// blockRows is the number of rows that a worker takes at a time: 8 KiB of
// selection, and codes that stay in the second-level cache while the predicates
// and aggregates of a query read them.
const blockRows = 1 << 16

const blockWords = blockRows / 64

// leaf writes to dst the rows [row, row+n) of its chunk that satisfy a simple
// predicate. Rows outside among may get any answer, rows past n get 0.
type leaf func(s *scratch, dst, among []uint64, row, n int)

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
		nd.leaf = compareLeaf(l, c.Segments[l.Col])
	case *plan.Range:
		nd.leaf = belowLeaf(c.Segments[l.Col], l.Lo, l.Hi-l.Lo+1, false)
	case *plan.NullTest:
		nd.leaf = nullLeaf(c.Segments[l.Col], l.Not)
	case *plan.Members:
		nd.leaf = membersLeaf(c.Segments[l.Col], l.Spans)
	case *plan.Program:
		nd.leaf = programLeaf(l, c)
	default:
		return nil, fmt.Errorf("cpu: no such predicate: %T", l)
	}
	return nd, nil
}

// compareLeaf turns each operator into the test code - lo < k or its complement.
func compareLeaf(l *plan.Compare, s *table.Segment) leaf {
	switch l.Op {
	case expr.LT:
		return belowLeaf(s, 0, l.Code, false)
	case expr.GE:
		return belowLeaf(s, 0, l.Code, true)
	case expr.EQ:
		return belowLeaf(s, l.Code, 1, false)
	case expr.NE:
		return belowLeaf(s, l.Code, 1, true)
	}
	// <= and >. No code is above the largest of 64 bits, where Code+1 would wrap.
	if l.Code == ^uint64(0) {
		return belowLeaf(s, 0, 0, l.Op == expr.LE)
	}
	return belowLeaf(s, 0, l.Code+1, l.Op == expr.GT)
}

func belowLeaf(s *table.Segment, lo, k uint64, complement bool) leaf {
	codes := s.Codes
	return func(_ *scratch, dst, _ []uint64, row, n int) {
		switch {
		case codes.U8 != nil:
			below(dst, codes.U8[row:row+n], uint8(lo), k)
		case codes.U16 != nil:
			below(dst, codes.U16[row:row+n], uint16(lo), k)
		case codes.U32 != nil:
			below(dst, codes.U32[row:row+n], uint32(lo), k)
		default:
			below64(dst, codes.U64[row:row+n], lo, k)
		}
		if complement {
			flip(dst, n)
		}
		andValid(dst, s, row)
	}
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
	return func(_ *scratch, dst, _ []uint64, row, n int) {
		setFirst(dst, n)
		andValid(dst, s, row)
		if !not {
			flip(dst, n)
		}
	}
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
	return func(_ *scratch, dst, _ []uint64, row, n int) {
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
	}
}

func spansLeaf(s *table.Segment, spans []plan.Span) leaf {
	return func(_ *scratch, dst, among []uint64, row, n int) {
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
	}
}

func programLeaf(p *plan.Program, c *table.Chunk) leaf {
	return func(s *scratch, dst, among []uint64, row, n int) {
		for at := 0; at < n; at += vecRows {
			k := min(vecRows, n-at)
			first, last := at/64, (at+k+63)/64
			if !anyBit(among[first:last]) {
				clear(dst[first:last])
				continue
			}
			s.program.selects(p, c, dst[first:last], row+at, k)
		}
	}
}

// scratch is what one worker needs to evaluate predicates.
type scratch struct {
	program program
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
		nd.leaf(s, dst, among, row, n)
		for w := range dst {
			dst[w] &= among[w]
		}
	case plan.And:
		nd.evalAnd(s, dst, among, row, n)
	case plan.Or:
		nd.evalOr(s, dst, among, row, n)
	}
}

// evalAnd asks each kid only about the rows that the kids before it left.
func (nd *node) evalAnd(s *scratch, dst, among []uint64, row, n int) {
	t := s.get(len(dst))
	copy(dst, among)
	for _, k := range nd.kids {
		k.eval(s, t, dst, row, n)
		copy(dst, t)
		if !anyBit(dst) {
			break
		}
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
