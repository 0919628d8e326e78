package plantest

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// BoundaryRows are numbers of rows at the ends of words, units, groups and runs.
var BoundaryRows = []int{1, 31, 32, 33, 127, 128, 129, 8191, 8192, 8193, 20_000, 32_768, 32_769, 70_001}

// Column makes a column of codes of a width, some bits of which never vary, with
// NULLs or without.
func Column(rng *rand.Rand, rows, width int, holes, nulls bool) *table.Segment {
	mask := ^uint64(0) >> (64 - width)
	if width == 0 {
		mask = 0
	}
	if holes {
		mask &= rng.Uint64() | rng.Uint64() | 1
	}
	codes := make([]uint64, rows)
	seg := &table.Segment{Type: table.Type{Kind: table.BigInt}, Base: table.OrdinalInt(-1000)}
	if width > 60 {
		seg.Base = 0
	}
	if nulls {
		seg.Valid = table.NewBitmap(rows)
	}
	for i := range codes {
		if nulls && rng.IntN(4) == 0 {
			seg.Nulls++
			continue
		}
		if nulls {
			seg.Valid.Set(i)
		}
		codes[i] = rng.Uint64() & mask
		if rng.IntN(3) == 0 { // around powers of two
			codes[i] = (uint64(1)<<rng.IntN(max(width, 1)) - uint64(rng.IntN(2))) & mask
		}
		seg.Max = max(seg.Max, codes[i])
	}
	seg.Bits = bits.Len64(seg.Max)
	seg.Codes = table.Narrow(codes, seg.Bits)
	return seg
}

// CodedTable makes a table of two columns, a and b, and one or more chunks.
func CodedTable(rng *rand.Rand, rows, width, chunks int, holes, nulls bool) *table.Table {
	t := &table.Table{Name: "t"}
	for _, name := range []string{"a", "b"} {
		t.Fields = append(t.Fields, table.Field{Name: name, Type: table.Type{Kind: table.BigInt}})
	}
	for range chunks {
		t.Chunks = append(t.Chunks, &table.Chunk{Rows: rows, Segments: []*table.Segment{
			Column(rng, rows, width, holes, nulls), Column(rng, rows, 1+rng.IntN(30), holes, nulls)}})
	}
	return t
}

// constant draws a code at or beside a power of two, or any.
func constant(rng *rand.Rand, top uint64) uint64 {
	if rng.IntN(3) == 0 {
		return rng.Uint64() & (uint64(1)<<bits.Len64(top) - 1) % (top | 1)
	}
	c := uint64(1)<<rng.IntN(max(1, bits.Len64(top))) + uint64(rng.IntN(3)) - 1
	return min(c, top)
}

func LeafOf(l predicate.Leaf) *predicate.Pred { return &predicate.Pred{Op: predicate.Simple, Leaf: l} }

// DrawPredicate draws a tree over the codes of a chunk, as package lower makes them.
func DrawPredicate(rng *rand.Rand, c *table.Chunk, depth int) *predicate.Pred {
	if depth > 0 && rng.IntN(3) > 0 {
		p := &predicate.Pred{Op: []predicate.Op{predicate.And, predicate.Or}[rng.IntN(2)]}
		for range 2 + rng.IntN(3) {
			p.Kids = append(p.Kids, DrawPredicate(rng, c, depth-1))
		}
		return p
	}
	col := rng.IntN(len(c.Segments))
	seg := c.Segments[col]
	switch rng.IntN(4) {
	case 0:
		if seg.Nulls > 0 && seg.NonNull() > 0 {
			return LeafOf(&predicate.NullTest{Col: col, Not: rng.IntN(2) == 0, Text: "null test"})
		}
	case 1:
		lo, hi := constant(rng, seg.Max), constant(rng, seg.Max)
		if lo > hi {
			lo, hi = hi, lo
		}
		return LeafOf(&predicate.Range{Col: col, Lo: lo, Hi: hi, Text: fmt.Sprintf("col %d in %d..%d", col, lo, hi)})
	}
	op := []expr.CmpOp{expr.LT, expr.LE, expr.GT, expr.GE, expr.EQ, expr.NE}[rng.IntN(6)]
	code := constant(rng, seg.Max)
	return LeafOf(&predicate.Compare{Col: col, Op: op, Code: code, Text: fmt.Sprintf("col %d %v %d", col, op, code)})
}

// UniformCodes makes four attributes of 19 bits, like the paper's data_count.
func UniformCodes(rows int) *table.Table {
	t := &table.Table{Name: "t"}
	ch := &table.Chunk{Rows: rows}
	var wg parallel.Group
	for c := range 4 {
		integer := table.Type{Kind: table.BigInt}
		seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Bits: 19, Max: 1<<19 - 1}
		seg.Codes.U32 = make([]uint32, rows)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(c)))
			for i := range seg.Codes.U32 {
				seg.Codes.U32[i] = rng.Uint32() >> 13
			}
		})
		t.Fields = append(t.Fields, table.Field{Name: string(rune('a' + c)), Type: integer})
		ch.Segments = append(ch.Segments, seg)
	}
	wg.Wait()
	t.Chunks = []*table.Chunk{ch}
	return t
}

// LessThan is the condition that codes of a column are below one.
func LessThan(col int, code uint64) *predicate.Pred {
	return LeafOf(&predicate.Compare{Col: col, Op: expr.LT, Code: code, Text: fmt.Sprintf("%c < %d", 'a'+col, code)})
}

// Semilinear is the condition 3*a + 7*b - 2*c + d < 2000000 of the first four columns of [UniformCodes].
func Semilinear() *predicate.Pred {
	constant := func(c int64) *predicate.Val {
		return &predicate.Val{Op: predicate.Const, I: c, Lo: big.NewInt(c), Hi: big.NewInt(c)}
	}
	wide := func(op predicate.ValOp, kids ...*predicate.Val) *predicate.Val {
		return &predicate.Val{Op: op, Kids: kids, Lo: big.NewInt(-1 << 23), Hi: big.NewInt(1 << 23)}
	}
	var sum *predicate.Val
	for i, c := range []int64{3, 7, -2, 1} {
		col := &predicate.Val{Op: predicate.Col, Column: i, Name: string(rune('a' + i)), Max: 1<<19 - 1, Lo: big.NewInt(0), Hi: big.NewInt(1<<19 - 1)}
		term := wide(predicate.MulV, constant(c), col)
		if sum != nil {
			term = wide(predicate.AddV, sum, term)
		}
		sum = term
	}
	return LeafOf(&predicate.Computed{Op: expr.LT, L: sum, R: constant(2000000), Shape: predicate.Semilinear, Text: "3*a + 7*b - 2*c + d < 2000000"})
}
