package cpu

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

const blockWords = vector.BlockRows / 64

// leaf writes to dst the rows of among, of the n rows from row on of its chunk, that
// satisfy a simple predicate. dst and among do not overlap.
type leaf func(s *scratch, dst, among []uint64, row, n int)

// within makes a leaf of a function that tests rows outside among as well.
func within(f leaf) leaf {
	return func(s *scratch, dst, among []uint64, row, n int) {
		f(s, dst, among, row, n)
		and(dst, among)
	}
}

// node is a predicate made ready for one chunk.
type node struct {
	op   predicate.Op
	kids []*node
	leaf leaf
}

// prepare makes a predicate ready to run on chunk c.
func prepare(p *predicate.Pred, c *table.Chunk, set kernels.Set) (*node, error) {
	nd := &node{op: p.Op}
	for _, k := range p.Kids {
		kid, err := prepare(k, c, set)
		if err != nil {
			return nil, err
		}
		nd.kids = append(nd.kids, kid)
	}
	if p.Op != predicate.Simple {
		return nd, nil
	}
	for _, col := range p.Leaf.Columns() {
		if col < 0 || col >= len(c.Segments) || c.Segments[col] == nil {
			return nil, fmt.Errorf("cpu: %v reads column %d, which the chunk does not have", p.Leaf, col)
		}
	}
	switch l := predicate.MatchAsMembers(p.Leaf).(type) {
	case *predicate.Compare:
		col := newSegment(c.Segments[l.Col], set)
		r, ok := kernels.Where(l.Op, l.Code, col.Width())
		nd.leaf = rangeLeaf(col, r, ok)
	case *predicate.Range:
		col := newSegment(c.Segments[l.Col], set)
		r, ok := kernels.Between(l.Lo, l.Hi, col.Width())
		nd.leaf = rangeLeaf(col, r, ok)
	case *predicate.NullTest:
		nd.leaf = nullLeaf(c.Segments[l.Col], l.Not)
	case *predicate.Members:
		nd.leaf = membersLeaf(newSegment(c.Segments[l.Col], set), l)
	case *predicate.Computed:
		if lin := newLinearLeaf(l, c, set); lin != nil {
			nd.leaf = lin.eval
		} else {
			nd.leaf = computedLeaf(l, c, set)
		}
	case *predicate.Scalar:
		nd.leaf = scalarLeaf(l, c)
	default:
		return nil, fmt.Errorf("cpu: no such predicate: %T", l)
	}
	return nd, nil
}

// rangeLeaf is a comparison or a range of one column; it selects nothing unless some codes
// are in the range.
func rangeLeaf(col segment, codes kernels.Range, some bool) leaf {
	return func(_ *scratch, dst, among []uint64, row, n int) {
		if !some {
			clear(dst)
			return
		}
		col.Select(dst, among, row, codes)
		andValid(dst, col.Segment, row)
	}
}

func nullLeaf(s *table.Segment, not bool) leaf {
	return func(_ *scratch, dst, among []uint64, row, n int) {
		copy(dst, among)
		andValid(dst, s, row)
		for w := range dst {
			if !not {
				dst[w] ^= among[w]
			}
		}
	}
}

// membersLeaf marks the member codes in a bitmap over all codes of the segment.
// Wide codes, whose bitmap would not stay in a cache, are looked up by binary
// search in the spans instead, where these are few.
func membersLeaf(col segment, l *predicate.Members) leaf {
	const tableBits, mostBits, fewSpans = 22, 27, 256
	if col.Bits > mostBits || col.Bits > tableBits && len(l.Spans) <= fewSpans {
		return spansLeaf(col, l)
	}
	member := table.NewBitmap(int(col.Max) + 1)
	for _, sp := range l.Spans {
		for c := sp.Lo; c <= min(sp.Hi, col.Max); c++ {
			member.Set(int(c))
		}
	}
	return within(func(_ *scratch, dst, _ []uint64, row, n int) {
		col.Members(dst, row, member)
		andValid(dst, col.Segment, row)
	})
}

func spansLeaf(col segment, l *predicate.Members) leaf {
	return func(_ *scratch, dst, among []uint64, row, n int) {
		eachRow(dst, among, row, func(r int) bool { return l.Has(col.Segment.Codes.At(r)) })
		andValid(dst, col.Segment, row)
	}
}

// scalarLeaf evaluates an expression in vectors; where a row raises an error, by its definition.
func scalarLeaf(l *predicate.Scalar, c *table.Chunk) leaf {
	return func(s *scratch, dst, among []uint64, row, n int) {
		forVectors(dst, among, n, vector.PieceRows, func(dst, among []uint64, at, k int) {
			b := table.Block{First: row + at, N: k}
			if full(among, k) {
				if last := s.truths(l.E, c, b); last.ok {
					last.write(dst, l.Test)
				} else {
					eachRow(dst, among, row+at, l.In(c))
				}
				return
			}
			b = table.Block{Rows: rowsOf(among, row+at)}
			x, ok := s.values(l.E, c, b)
			if !ok {
				eachRow(dst, among, row+at, l.In(c))
				return
			}
			clear(dst)
			for i := range b.Len() {
				if l.Holds(&x, i) {
					r := b.Row(i) - row - at
					dst[r/64] |= 1 << (r % 64)
				}
			}
		})
	}
}

// full reports that all of n rows are selected.
func full(among []uint64, n int) bool {
	count := 0
	for _, w := range among {
		count += bits.OnesCount64(w)
	}
	return count == n
}

// rowsOf are the selected rows, from one on.
func rowsOf(among []uint64, first int) (list []uint32) {
	for w, m := range among {
		for ; m != 0; m &= m - 1 {
			list = append(list, uint32(first+64*w+bits.TrailingZeros64(m)))
		}
	}
	return list
}

// values are those of a condition in a block of rows, until others are asked for.
func (s *scratch) values(e expr.Expr, c *table.Chunk, b table.Block) (x expr.Vector, ok bool) {
	if s.eval.Arena == nil {
		s.eval.Arena = &expr.Arena{}
	}
	s.eval.Arena.Reset()
	return expr.Compute(e, vector.Source{BlockRows: expr.BlockRows{Chunk: c, Block: b, Arena: s.eval.Arena}, Evaluator: &s.eval})
}

// truths are the values of a condition in a block of rows that follow one another. One whose errors are looked for is asked for twice, one after the other.
func (s *scratch) truths(e expr.Expr, c *table.Chunk, b table.Block) *lastTruths {
	last := &s.last[b.First/vector.PieceRows%len(s.last)]
	if last.e == e && last.chunk == c && last.first == b.First && last.n == b.N {
		return last
	}
	x, ok := s.values(e, c, b)
	*last = lastTruths{e: e, chunk: c, first: b.First, n: b.N, ok: ok}
	if !ok || e.Type().Kind != table.Boolean { // of another one only errors are asked for
		return last
	}
	for w := range (b.N + 63) / 64 {
		for i, v := range x.Ints[64*w : min(b.N, 64*w+64)] {
			last.isTrue[w] |= uint64(v|-v) >> 63 << i
		}
		last.known[w] = ^uint64(0)
	}
	if left := b.N % 64; left > 0 {
		last.known[b.N/64] = 1<<left - 1
	}
	for i := 0; x.Valid != nil && i < b.N; i++ {
		if x.IsNull(i) {
			last.known[i/64] &^= 1 << (i % 64)
			last.unknown[i/64] |= 1 << (i % 64)
		}
	}
	return last
}

// lastTruths are the values of a condition in a block, a bit a row.
type lastTruths struct {
	e        expr.Expr
	chunk    *table.Chunk
	first, n int
	ok       bool // no row raises an error
	// isTrue counts where known says so; unknown has the NULLs.
	isTrue, known, unknown [vector.PieceRows / 64]uint64
}

// write writes the rows of which a test holds.
func (t *lastTruths) write(dst []uint64, test predicate.BooleanTest) {
	for w := range dst {
		switch test {
		case predicate.IsTrue:
			dst[w] = t.isTrue[w] & t.known[w]
		case predicate.IsFalse:
			dst[w] = t.known[w] &^ t.isTrue[w]
		case predicate.IsUnknown:
			dst[w] = t.unknown[w]
		default:
			dst[w] = 0
		}
	}
}

// eachRow writes to dst the rows of among for which holds says so, from row on.
func eachRow(dst, among []uint64, row int, holds func(row int) bool) {
	clear(dst)
	for w, m := range among {
		for ; m != 0; m &= m - 1 {
			if bit := bits.TrailingZeros64(m); holds(row + 64*w + bit) {
				dst[w] |= 1 << bit
			}
		}
	}
}

// forVectors calls do for each so many rows of a block of n of which some are in
// among, and clears the others in dst.
func forVectors(dst, among []uint64, n, rows int, do func(dst, among []uint64, at, k int)) {
	for at := 0; at < n; at += rows {
		k := min(rows, n-at)
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
	interpreter interpreter
	eval        vector.Evaluator
	last        [vector.BlockRows / vector.PieceRows]lastTruths // of the pieces of a block
	codes       []uint64
	words       pool[uint64]
	halves      pool[uint32]
}

// Scratches are kept from query to query: a small query takes less than allocating them.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

func takeScratch() *scratch { return scratches.Get().(*scratch) }

// release gives a scratch back without what it knows of the query.
func (s *scratch) release() {
	s.interpreter.columns, s.interpreter.consts = nil, nil
	s.eval.Forget()
	for i := range s.last {
		s.last[i].e, s.last[i].chunk = nil, nil
	}
	scratches.Put(s)
}

func (s *scratch) get(n int) table.Bitmap { return s.words.get(blockWords, n) }
func (s *scratch) put(b []uint64)         { s.words.put(b) }

// all returns the rows, of the n from row on, for which the predicate is TRUE; the caller
// puts the words back.
func (nd *node) all(s *scratch, row, n int) table.Bitmap {
	dst := s.get((n + 63) / 64)
	if n == vector.BlockRows {
		nd.eval(s, dst, everyRow, row, n)
		return dst
	}
	among := s.get(len(dst))
	setFirst(among, n)
	nd.eval(s, dst, among, row, n)
	s.put(among)
	return dst
}

// Selected returns the records of a chunk for which a predicate that was lowered for it is
// TRUE. A column that the chunk does not have is an error.
func Selected(p *predicate.Pred, c *table.Chunk) (table.Bitmap, error) {
	nd, err := prepare(p, c, kernels.Best())
	if err != nil {
		return nil, err
	}
	s, out := takeScratch(), table.NewBitmap(c.Rows)
	defer s.release()
	for row := 0; row < c.Rows; row += vector.BlockRows {
		sel := nd.all(s, row, min(vector.BlockRows, c.Rows-row))
		copy(out[row/64:], sel)
		s.put(sel)
	}
	return out, nil
}

// everyRow selects all rows of a full block.
var everyRow = slices.Repeat([]uint64{^uint64(0)}, blockWords)

// eval writes to dst the rows of among, of the n rows from row on, for which the
// predicate is TRUE. dst and among do not overlap.
func (nd *node) eval(s *scratch, dst, among []uint64, row, n int) {
	switch nd.op {
	case predicate.False:
		clear(dst)
	case predicate.True:
		copy(dst, among)
	case predicate.Simple:
		nd.leaf(s, dst, among, row, n)
	case predicate.And:
		nd.evalAnd(s, dst, among, row, n)
	case predicate.Or:
		nd.evalOr(s, dst, among, row, n)
	}
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

func and(dst, among []uint64) {
	for w := range dst {
		dst[w] &= among[w]
	}
}

// andValid clears the rows of a block that are NULL; row is a multiple of 64.
func andValid(dst []uint64, s *table.Segment, row int) {
	if s.Valid != nil {
		and(dst, s.Valid[row/64:])
	}
}

// setFirst sets the first n bits of dst, which has no more words than they take.
func setFirst(dst []uint64, n int) {
	for w := range dst {
		dst[w] = ^uint64(0)
	}
	clearRest(dst, n)
}

// flip complements the first n bits of dst.
func flip(dst []uint64, n int) {
	for w := range dst {
		dst[w] = ^dst[w]
	}
	clearRest(dst, n)
}

func clearRest(dst []uint64, n int) {
	if n&63 != 0 {
		dst[n>>6] &= 1<<uint(n&63) - 1
	}
}

func anyBit(sel []uint64) bool {
	for _, w := range sel {
		if w != 0 {
			return true
		}
	}
	return false
}
