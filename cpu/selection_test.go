package cpu

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// chunkOf builds one chunk of BIGINT columns; values are code 0 plus a base.
func chunkOf(t interface{ Fatal(...any) }, cols ...[]table.Value) *table.Chunk {
	var fields []table.Field
	for i := range cols {
		fields = append(fields, table.Field{Name: fmt.Sprintf("c%d", i), Type: table.Type{Kind: table.BigInt}})
	}
	b := table.NewBuilder("t", fields, 0)
	for i, vs := range cols {
		for _, v := range vs {
			b.Column(i).Value(v)
		}
	}
	if err := b.EndRows(len(cols[0])); err != nil {
		t.Fatal(err)
	}
	tab := b.Table()
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	return tab.Chunks[0]
}

// nullInt is the NULL BIGINT.
var nullInt = table.Null(table.Type{Kind: table.BigInt})

// selectAll runs a predicate over every block of a chunk, with every set of kernels.
func selectAll(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, p *predicate.Pred, c *table.Chunk) table.Bitmap {
	var first table.Bitmap
	for _, set := range kernels.Sets() {
		nd, err := prepare(p, c, set)
		if err != nil {
			t.Fatal(err)
		}
		var s scratch
		out := table.NewBitmap(c.Rows)
		for row := 0; row < c.Rows; row += vector.BlockRows {
			sel := nd.all(&s, row, min(vector.BlockRows, c.Rows-row))
			copy(out[row/64:], sel)
			s.put(sel)
		}
		if first == nil {
			first = out
		}
		if !slices.Equal(out, first) {
			t.Fatalf("%v kernels: selected %x, the portable ones %x", set, out, first)
		}
	}
	return first
}

func leafPred(l predicate.Leaf) *predicate.Pred {
	return &predicate.Pred{Op: predicate.Simple, Leaf: l}
}

// naive evaluates a predicate for one row from its definition.
func naive(p *predicate.Pred, c *table.Chunk, row int) bool {
	switch p.Op {
	case predicate.False, predicate.True:
		return p.Op == predicate.True
	case predicate.And:
		return !slices.ContainsFunc(p.Kids, func(k *predicate.Pred) bool { return !naive(k, c, row) })
	case predicate.Or:
		return slices.ContainsFunc(p.Kids, func(k *predicate.Pred) bool { return naive(k, c, row) })
	}
	for _, col := range p.Leaf.Columns() {
		if nt, ok := p.Leaf.(*predicate.NullTest); ok {
			return c.Segments[col].IsNull(row) != nt.Not
		}
		if c.Segments[col].IsNull(row) {
			return false
		}
	}
	switch l := p.Leaf.(type) {
	case *predicate.Compare:
		code := c.Segments[l.Col].Codes.At(row)
		return l.Op.Holds(new(big.Int).SetUint64(code).Cmp(new(big.Int).SetUint64(l.Code)))
	case *predicate.Range:
		code := c.Segments[l.Col].Codes.At(row)
		return l.Lo <= code && code <= l.Hi
	case *predicate.Members:
		code := c.Segments[l.Col].Codes.At(row)
		return slices.ContainsFunc(l.Spans, func(s predicate.Span) bool { return s.Lo <= code && code <= s.Hi })
	}
	l := p.Leaf.(*predicate.Computed)
	if l.Fails != nil {
		for _, k := range l.Fails.Kids {
			if naiveVal(k, c, row) == nil {
				return false
			}
		}
		return naiveVal(l.Fails, c, row) == nil
	}
	x, y := naiveVal(l.L, c, row), naiveVal(l.R, c, row)
	return x != nil && y != nil && l.Op.Holds(x.Cmp(y))
}

// naiveVal computes an integer value without a word size, then looks whether
// the result of each operation fits: nil where it does not.
func naiveVal(v *predicate.Val, c *table.Chunk, row int) *big.Int {
	var kids []*big.Int
	for _, k := range v.Kids {
		x := naiveVal(k, c, row)
		if x == nil {
			return nil
		}
		kids = append(kids, x)
	}
	z := new(big.Int)
	switch v.Op {
	case predicate.Col:
		z.SetInt64(c.Segments[v.Column].Value(row).I)
	case predicate.Const:
		z.SetInt64(v.I)
	case predicate.NegV:
		z.Neg(kids[0])
	case predicate.AddV:
		z.Add(kids[0], kids[1])
	case predicate.SubV:
		z.Sub(kids[0], kids[1])
	case predicate.MulV:
		z.Mul(kids[0], kids[1])
	default:
		if kids[1].Sign() == 0 {
			return nil
		}
		if v.Op == predicate.DivV {
			z.Quo(kids[0], kids[1])
		} else {
			z.Rem(kids[0], kids[1])
		}
	}
	if !z.IsInt64() {
		return nil
	}
	return z
}

func checkSelection(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, p *predicate.Pred, c *table.Chunk) {
	got := selectAll(t, p, c)
	for row := range c.Rows {
		if want := naive(p, c, row); got.Get(row) != want {
			t.Fatalf("row %d of %d: %v, want %v", row, c.Rows, got.Get(row), want)
		}
	}
	if extra := got.Count(); extra > 0 && c.Rows%64 != 0 && got[len(got)-1]>>(c.Rows%64) != 0 {
		t.Fatalf("bits past row %d are set", c.Rows)
	}
}

func TestLeavesAroundEveryBoundary(t *testing.T) {
	ops := []expr.CmpOp{expr.LT, expr.LE, expr.EQ, expr.NE, expr.GE, expr.GT}
	for b := range 65 {
		top := uint64(1)<<b - 1 // of a column of b bits
		codes := []uint64{0, top}
		for k := range b {
			for _, c := range []uint64{1<<k - 1, 1 << k, 1<<k + 1} {
				codes = append(codes, min(c, top))
			}
		}
		vs := []table.Value{nullInt}
		for _, c := range codes {
			vs = append(vs, table.Int(table.IntFromOrdinal(c)))
		}
		chunk := chunkOf(t, vs)
		if chunk.Segments[0].Max != top {
			t.Fatalf("the column has max code %d, want %d", chunk.Segments[0].Max, top)
		}
		for _, k := range codes {
			for _, op := range ops {
				checkSelection(t, leafPred(&predicate.Compare{Op: op, Code: k}), chunk)
			}
			for _, hi := range []uint64{k + 1, 1 << max(0, b-1), top} {
				if k < hi && hi <= top && (k > 0 || hi < top) {
					checkSelection(t, leafPred(&predicate.Range{Lo: k, Hi: hi}), chunk)
				}
			}
		}
		checkSelection(t, leafPred(&predicate.NullTest{}), chunk)
		checkSelection(t, leafPred(&predicate.NullTest{Not: true}), chunk)
	}
}

// anyInt draws integers near the edges of words, or small.
func anyInt(t *rapid.T) int64 {
	edge := rapid.SampledFrom([]int64{0, 1, -1, 2, math.MinInt64, math.MaxInt64, 1 << 31, -1 << 31, 3_037_000_500}).Draw(t, "edge")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return edge
	case 1:
		return edge + rapid.Int64Range(-3, 3).Draw(t, "near")
	}
	return rapid.Int64Range(-100, 100).Draw(t, "small")
}

func anyChunk(t *rapid.T) *table.Chunk {
	n := rapid.SampledFrom([]int{1, 7, 63, 64, 65, 130, vecRows - 1, vecRows + 1}).Draw(t, "rows")
	cols := make([][]table.Value, 3)
	for i := range cols {
		span := rapid.SampledFrom([]int64{1, 1 << 7, 1 << 12, 1 << 20, 0}).Draw(t, "span")
		pool := make([]table.Value, rapid.IntRange(1, 9).Draw(t, "distinct"))
		for j := range pool {
			v := anyInt(t)
			if span > 0 {
				v %= span
			}
			pool[j] = table.Int(v)
		}
		if rapid.Bool().Draw(t, "nulls") {
			pool[0] = nullInt
		}
		state := rapid.Uint64().Draw(t, "shuffle")
		for range n {
			state = state*6364136223846793005 + 1442695040888963407
			cols[i] = append(cols[i], pool[state>>33%uint64(len(pool))])
		}
	}
	return chunkOf(t, cols...)
}

func anyVal(t *rapid.T, c *table.Chunk, depth int) *predicate.Val {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "stop") == 0 {
		if rapid.Bool().Draw(t, "const") {
			return &predicate.Val{Op: predicate.Const, I: anyInt(t)}
		}
		col := rapid.IntRange(0, len(c.Segments)-1).Draw(t, "col")
		return &predicate.Val{Op: predicate.Col, Column: col, Offset: int64(c.Segments[col].Base ^ 1<<63)}
	}
	op := rapid.SampledFrom([]predicate.ValOp{predicate.AddV, predicate.SubV, predicate.MulV, predicate.DivV, predicate.ModV, predicate.NegV}).Draw(t, "op")
	v := &predicate.Val{Op: op, CanFail: true, Kids: []*predicate.Val{anyVal(t, c, depth-1)}}
	if op != predicate.NegV {
		v.Kids = append(v.Kids, anyVal(t, c, depth-1))
	}
	return v
}

func anyPred(t *rapid.T, c *table.Chunk, depth int) *predicate.Pred {
	if depth > 0 && rapid.Bool().Draw(t, "inner") {
		p := &predicate.Pred{Op: rapid.SampledFrom([]predicate.Op{predicate.And, predicate.Or}).Draw(t, "junction")}
		for range rapid.IntRange(2, 3).Draw(t, "kids") {
			p.Kids = append(p.Kids, anyPred(t, c, depth-1))
		}
		return p
	}
	col := rapid.IntRange(0, len(c.Segments)-1).Draw(t, "col")
	s := c.Segments[col]
	code := func() uint64 {
		if s.NonNull() > 0 && rapid.Bool().Draw(t, "present") {
			return s.Codes.At(rapid.IntRange(0, c.Rows-1).Draw(t, "row"))
		}
		return rapid.Uint64Range(0, s.Max).Draw(t, "code")
	}
	op := expr.CmpOp(rapid.IntRange(0, 5).Draw(t, "op"))
	switch rapid.IntRange(0, 5).Draw(t, "leaf") {
	case 0:
		return leafPred(&predicate.NullTest{Col: col, Not: rapid.Bool().Draw(t, "not")})
	case 1:
		lo, hi := code(), code()
		if lo < hi && (lo > 0 || hi < s.Max) {
			return leafPred(&predicate.Range{Col: col, Lo: lo, Hi: hi})
		}
	case 2:
		m := &predicate.Members{Col: col}
		for range rapid.IntRange(1, 8).Draw(t, "spans") {
			lo := code()
			m.Spans = append(m.Spans, predicate.Span{Lo: lo, Hi: lo})
		}
		slices.SortFunc(m.Spans, func(a, b predicate.Span) int { return new(big.Int).SetUint64(a.Lo).Cmp(new(big.Int).SetUint64(b.Lo)) })
		m.Spans = slices.Compact(m.Spans)
		return leafPred(m)
	case 3:
		return leafPred(&predicate.Computed{Shape: predicate.Expression, Op: op, L: anyVal(t, c, 3), R: anyVal(t, c, 1)})
	case 4:
		if v := anyVal(t, c, 3); len(v.Kids) > 0 {
			return leafPred(&predicate.Computed{Shape: predicate.Expression, Fails: v})
		}
	}
	return leafPred(&predicate.Compare{Col: col, Op: op, Code: code()})
}

func TestSelectionIsThePredicateOfEachRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyChunk(t)
		checkSelection(t, anyPred(t, c, 3), c)
	})
}

// TestUncheckedProgram runs the loops for operations that cannot fail: eight
// values of at most 100 fit 64 bits, whatever is done with them.
func TestUncheckedProgram(t *testing.T) {
	small := rapid.Int64Range(-100, 100)
	ops := []predicate.ValOp{predicate.AddV, predicate.SubV, predicate.MulV, predicate.NegV}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 65, vecRows + 1}).Draw(t, "rows")
		lo, hi := small.Draw(t, "lo"), small.Draw(t, "hi")
		vs := make([]table.Value, n)
		for i := range vs {
			vs[i] = table.Int(lo)
			if i%3 == 1 {
				vs[i] = table.Int(hi)
			}
		}
		c := chunkOf(t, vs)
		var draw func(depth int) *predicate.Val
		draw = func(depth int) *predicate.Val {
			switch op := rapid.SampledFrom(ops).Draw(t, "op"); {
			case depth == 0 && op == predicate.AddV:
				return &predicate.Val{Op: predicate.Const, I: small.Draw(t, "const")}
			case depth == 0:
				return &predicate.Val{Op: predicate.Col, Offset: table.IntFromOrdinal(c.Segments[0].Base)}
			case op == predicate.NegV:
				return &predicate.Val{Op: op, Kids: []*predicate.Val{draw(depth - 1)}}
			default:
				return &predicate.Val{Op: op, Kids: []*predicate.Val{draw(depth - 1), draw(depth - 1)}}
			}
		}
		op := expr.CmpOp(rapid.IntRange(0, 5).Draw(t, "compare"))
		checkSelection(t, leafPred(&predicate.Computed{Shape: predicate.Expression, Op: op, L: draw(3), R: draw(1)}), c)
	})
}

func TestLookupAndToFloat(t *testing.T) {
	for _, strs := range [][]string{{"a", "c", "b", "c"}, {"", ""}, {}} {
		b := table.NewBuilder("t", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
		for _, s := range strs {
			b.Column(0).String(s)
		}
		b.Column(0).Null()
		if err := b.EndRows(len(strs) + 1); err != nil {
			t.Fatal(err)
		}
		c := b.Table().Chunks[0]
		ranks := make([]uint32, len(c.Segments[0].Dict))
		for i := range ranks {
			ranks[i] = uint32(10 * i)
		}
		// The rank as a double, at least 10: every string but the first.
		l := &predicate.Val{Op: predicate.ToFloat, Float: true, Kids: []*predicate.Val{{Op: predicate.Lookup, Table: ranks}}}
		got := selectAll(t, leafPred(&predicate.Computed{Shape: predicate.Expression, Op: expr.GE, L: l, R: &predicate.Val{Op: predicate.Const, Float: true, F: 10}}), c)
		for i, s := range strs {
			if want := s > c.Segments[0].Dict[0]; got.Get(i) != want {
				t.Errorf("%q: row %d is %v, want %v", strs, i, got.Get(i), want)
			}
		}
		if got.Get(len(strs)) {
			t.Errorf("%q: the NULL is selected", strs)
		}
	}
}

func TestFloatProgram(t *testing.T) {
	// NaN is largest and equal to itself; x / 0 and what overflows satisfy nothing.
	in := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1, math.MaxFloat64, math.SmallestNonzeroFloat64}
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.Double}}}, 0)
	for _, f := range in {
		b.Column(0).Float(f)
	}
	b.Column(0).Null()
	if err := b.EndRows(len(in) + 1); err != nil {
		t.Fatal(err)
	}
	c := b.Table().Chunks[0]
	col := &predicate.Val{Op: predicate.ColF, Float: true, Base: c.Segments[0].Base}
	k := func(f float64) *predicate.Val { return &predicate.Val{Op: predicate.Const, Float: true, F: f} }
	two := func(op predicate.ValOp, l, r *predicate.Val) *predicate.Val {
		return &predicate.Val{Op: op, Float: true, CanFail: true, Kids: []*predicate.Val{l, r}}
	}
	single := &predicate.Val{Op: predicate.Round32, Float: true, CanFail: true, Kids: []*predicate.Val{col}}
	cases := []struct {
		name string
		p    *predicate.Computed
		want uint64 // a bit a row
	}{
		{"x = NaN", &predicate.Computed{Shape: predicate.Expression, Op: expr.EQ, L: col, R: k(math.NaN())}, 0b0000001},
		{"x > Infinity", &predicate.Computed{Shape: predicate.Expression, Op: expr.GT, L: col, R: k(math.Inf(1))}, 0b0000001},
		{"x < 1", &predicate.Computed{Shape: predicate.Expression, Op: expr.LT, L: col, R: k(1)}, 0b1001100},
		{"x + x >= 0", &predicate.Computed{Shape: predicate.Expression, Op: expr.GE, L: two(predicate.AddV, col, col), R: k(0)}, 0b1011011},
		{"x + x fails", &predicate.Computed{Shape: predicate.Expression, Fails: two(predicate.AddV, col, col)}, 0b0100000},
		{"x * x fails", &predicate.Computed{Shape: predicate.Expression, Fails: two(predicate.MulV, col, col)}, 0b1100000},
		{"1 / x fails", &predicate.Computed{Shape: predicate.Expression, Fails: two(predicate.DivV, k(1), col)}, 0b1001000},
		{"x / 0 fails", &predicate.Computed{Shape: predicate.Expression, Fails: two(predicate.DivV, col, k(0))}, 0b1111110},
		{"1 / x < 2", &predicate.Computed{Shape: predicate.Expression, Op: expr.LT, L: two(predicate.DivV, k(1), col), R: k(2)}, 0b0110110},
		{"x as REAL fails", &predicate.Computed{Shape: predicate.Expression, Fails: single}, 0b1100000},
		{"-x > 0", &predicate.Computed{Shape: predicate.Expression, Op: expr.GT, L: &predicate.Val{Op: predicate.NegV, Float: true, Kids: []*predicate.Val{col}}, R: k(0)}, 0b0000101},
	}
	for _, cs := range cases {
		if got := selectAll(t, leafPred(cs.p), c)[0]; got != cs.want {
			t.Errorf("%s: rows %07b, want %07b", cs.name, got, cs.want)
		}
	}
}
