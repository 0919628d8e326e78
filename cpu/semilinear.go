package cpu

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// linearLeaf is the paper's Semilinear, s . a op b, over codes: a sum of coefficient times code. No partial
// sum leaves 64 bits or, where narrow is set, 32. Sums are two's complement, modulo 2^64 or 2^32.
type linearLeaf struct {
	set    kernels.Set
	cols   []segment
	coefs  []int64
	narrow bool
	// sums are those that satisfy the comparison, none of them where some is false.
	sums kernels.Range
	some bool
}

// sumRows is the number of rows whose sums of 32 bits are made at once. A kernel is called for each column of
// them, and a call takes as long as some hundred rows.
const sumRows = 8192

// newLinearLeaf returns nil for leaves of other shapes, and for those that may
// overflow.
func newLinearLeaf(p *predicate.Computed, c *table.Chunk, set kernels.Set) *linearLeaf {
	cols, coefs, rhs, bound, ok := p.Linear()
	if !ok || !bound.IsInt64() || !rhs.IsInt64() {
		return nil
	}
	l := &linearLeaf{set: set, coefs: coefs, narrow: fits32(bound) && fits32(rhs)}
	for _, col := range cols {
		s := newSegment(c.Segments[col], set)
		l.cols = append(l.cols, s)
		l.narrow = l.narrow && s.Width() < 64
	}
	// Signed numbers order as unsigned ones once half the range is added. So the sums are compared in that
	// order, and then the range is moved back.
	width, half := 64, uint64(1)<<63
	if l.narrow {
		width, half = 32, 1<<31
	}
	l.sums, l.some = kernels.Where(p.Op, (uint64(rhs.Int64())+half)&(half<<1-1), width)
	l.sums.Lo -= half
	return l
}

func fits32(x *big.Int) bool {
	return x.IsInt64() && x.Int64() >= math.MinInt32 && x.Int64() <= math.MaxInt32
}

func (l *linearLeaf) eval(s *scratch, dst, among []uint64, row, n int) {
	if !l.some {
		clear(dst)
		return
	}
	var codes table.Codes
	rows := vecRows
	if l.narrow {
		rows = sumRows
		codes.U32 = s.halves.get(sumRows, sumRows)
		defer s.halves.put(codes.U32)
	} else {
		codes.U64 = s.get(vecRows)
		defer s.put(codes.U64)
	}
	sums := l.set.Of(codes)
	forVectors(dst, among, n, rows, func(dst, among []uint64, at, k int) {
		if l.narrow {
			clear(codes.U32[:k])
		} else {
			clear(codes.U64[:k])
		}
		for i, col := range l.cols {
			if l.narrow {
				col.MultiplyAdd32(codes.U32[:k], row+at, uint32(l.coefs[i]))
			} else {
				col.MultiplyAdd64(codes.U64[:k], row+at, uint64(l.coefs[i]))
			}
		}
		sums.Select(dst, among, 0, l.sums)
	})
	for _, col := range l.cols {
		andValid(dst, col.Segment, row)
	}
}
