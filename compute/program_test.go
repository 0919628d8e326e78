package compute

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// valueLeaves lists the leaves of a predicate that are evaluated from the codes.
func valueLeaves(p *predicate.Pred) []predicate.Leaf {
	var out []predicate.Leaf
	for _, k := range p.Kids {
		out = append(out, valueLeaves(k)...)
	}
	switch p.Leaf.(type) {
	case *predicate.Computed, *predicate.Members:
		out = append(out, p.Leaf)
	}
	return out
}

// checkLeaf compares the bitmaps and the count of a leaf with what cpu selects.
func checkLeaf(g *pass.GL, d Profile, tab *table.Table, chunk int, leaf predicate.Leaf) error {
	e := chunkOf(d, tab, chunk)
	n, err := e.values(leaf)
	if err != nil {
		return err
	}
	before := e.Alloc(1)
	var counted number
	counter := sweep{op: n.named(nil), tree: n, selected: &counted}
	if err := counter.run(e, ""); err != nil {
		return err
	}
	after := e.Alloc(1)
	bitmap, err := e.Mark(n)
	if err != nil {
		return err
	}
	words, err := e.runs(g)
	if err != nil {
		return err
	}
	holds, err := cpu.Selected(&predicate.Pred{Op: predicate.Simple, Leaf: leaf}, e.Chunk)
	if err != nil {
		return err
	}
	m, total := bitmap.Leaf.Marks, 0
	for i, w := range e.Pieces {
		got := make([]uint32, m.Blocks[i].Scratch.Words)
		if err := g.Read(m.Blocks[i], got); err != nil {
			return err
		}
		if m.shared {
			got = got[4*w.from:]
		}
		for at, word := range got[:4*w.units()] {
			total += bits.OnesCount32(word)
			for bit := range 32 {
				row := textures.PlaneRow(at/4, at%4, bit)
				want := row < w.Rows && holds.Get(w.From+row)
				if (word>>bit&1 != 0) != want {
					return fmt.Errorf("%s: row %d of window %d is %v, want %v: %v", leaf, row, i, !want, want, recordOf(e.Chunk, leaf, w.From+row))
				}
			}
		}
	}
	if words[before] != 0 || words[after] != 0 || words[counted.words[0].at] != uint32(total) {
		return fmt.Errorf("%s: %d counted, want %d; %d and %d beside it", leaf, words[counted.words[0].at], total, words[before], words[after])
	}
	return nil
}

func recordOf(c *table.Chunk, leaf predicate.Leaf, row int) []table.Value {
	var v []table.Value
	for _, col := range leaf.Columns() {
		if row < c.Rows {
			v = append(v, c.Segments[col].Value(row))
		}
	}
	return v
}

// Random conditions over random tables. Each leaf that needs the values marks the records that plan
// says, and so does each leaf that finds records whose evaluation fails. The arithmetic is of few
// shapes, since each costs a program.
func TestValueLeavesHold(t *testing.T) {
	var fields []table.Field
	for i, kind := range plantest.Default().Kinds {
		fields = append(fields, table.Field{Name: fmt.Sprintf("c%d", i), Type: table.Type{Kind: kind}})
		if kind == table.Decimal {
			fields[i].Type.Precision, fields[i].Type.Scale = 18, 2
		}
	}
	k := plantest.Default()
	k.Depth, k.MaxRows = 0, 12
	k.Shapes = plantest.Shapes{N: 6, Seed: 7}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := ProfileOf(ctx.Caps())
		rapid.Check(t, func(t *rapid.T) {
			tab := plantest.TableOf(t, "t", fields, k)
			where := plantest.Where(t, tab, k)
			for i := range tab.Chunks {
				pred, checks, err := lower.Lower(where, tab, tab.Chunks[i])
				if err != nil {
					return
				}
				leaves := valueLeaves(pred)
				for _, c := range checks {
					leaves = append(leaves, valueLeaves(c.Pred)...)
				}
				for _, leaf := range leaves {
					if err := checkLeaf(g, d, tab, i, leaf); err != nil {
						t.Fatal(err)
					}
				}
			}
			g.End()
		})
	})
}

// randomSegment makes a BIGINT column of codes of a width, every third one NULL.
func randomSegment(rng *rand.Rand, width, rows int, nulls bool) *table.Segment {
	seg := &table.Segment{Type: table.Type{Kind: table.BigInt}, Base: table.OrdinalInt(-5)}
	codes := make([]uint64, rows)
	for i := range codes {
		codes[i] = rng.Uint64() >> (64 - width)
	}
	if nulls {
		seg.Valid = table.NewBitmap(rows)
		for i := range codes {
			if i%3 == 1 {
				seg.Nulls++
				codes[i] = 0
			} else {
				seg.Valid.Set(i)
			}
		}
	}
	seg.Max = slices.Max(codes)
	seg.Bits = bits.Len64(seg.Max)
	seg.Codes = table.Narrow(codes, seg.Bits)
	return seg
}

// sumBelow is a + 2b < k, checked for overflow where the columns are wide.
func sumBelow(c *table.Chunk) *predicate.Computed {
	at := func(col int) *predicate.Val {
		s := c.Segments[col]
		return &predicate.Val{Op: predicate.Col, Column: col, Offset: -5, Max: s.Max, Lo: big.NewInt(-5), Hi: new(big.Int).SetUint64(s.Max)}
	}
	a, b := at(0), at(1)
	two := &predicate.Val{Op: predicate.Const, I: 2, Lo: big.NewInt(2), Hi: big.NewInt(2)}
	wide := max(c.Segments[0].Bits, c.Segments[1].Bits) > 28
	hi := new(big.Int).Lsh(big.NewInt(1), uint(c.Segments[0].Bits+c.Segments[1].Bits+2))
	node := func(op predicate.ValOp, x, y *predicate.Val) *predicate.Val {
		return &predicate.Val{Op: op, Kids: []*predicate.Val{x, y}, Lo: big.NewInt(-20), Hi: hi, CanFail: wide}
	}
	k := int64(min(c.Segments[0].Max, math.MaxInt64) / 2)
	return &predicate.Computed{Op: expr.LT, L: node(predicate.AddV, a, node(predicate.MulV, two, b)), Shape: predicate.Expression, Text: "a + 2 * b < k",
		R: &predicate.Val{Op: predicate.Const, I: k, Lo: big.NewInt(k), Hi: big.NewInt(k)}}
}

// A sum of columns, and membership in many spans, of each width of codes, with and without NULLs.
// Devices are of both kinds, in one window and in several.
func TestValueLeavesOverWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for name, d := range Variants(ctx.Caps()) {
			for i, width := range []int{1, 8, 12, 23, 32, 64} {
				for _, rows := range []int{1, 20_001} {
					ch := &table.Chunk{Rows: rows, Segments: []*table.Segment{
						randomSegment(rng, width, rows, i%2 == 0), randomSegment(rng, min(width, 13), rows, i%3 == 0)}}
					tab := &table.Table{Name: "t", Chunks: []*table.Chunk{ch},
						Fields: []table.Field{{Name: "a", Type: ch.Segments[0].Type}, {Name: "b", Type: ch.Segments[1].Type}}}
					for _, leaf := range []predicate.Leaf{spansOf(7, ch.Segments[0].Max+1), sumBelow(ch)} {
						if err := checkLeaf(g, d, tab, 0, leaf); err != nil {
							t.Errorf("%s, %d bits, %d rows: %v", name, width, rows, err)
						}
					}
					g.End()
				}
			}
		}
	})
}

// Doubles are exact where subnormal numbers take part, which a device may flush.
func TestSubnormalDoublesAreExact(t *testing.T) {
	fields := []table.Field{{Name: "x", Type: table.Type{Kind: table.Double}}, {Name: "y", Type: table.Type{Kind: table.Double}}, {Name: "z", Type: table.Type{Kind: table.Double}}}
	rng := rand.New(rand.NewPCG(7, 8))
	exponents := []int{-1075, -1074, -1060, -1023, -1022, -1021, -1000, -540, -520, -52, 0, 1, 60, 1000, 1023}
	draw := func() float64 {
		switch rng.IntN(12) {
		case 0:
			return [...]float64{0, math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64, math.MaxFloat64}[rng.IntN(6)]
		case 1:
			return math.Float64frombits(rng.Uint64())
		}
		m := 1 + float64(rng.Uint64()>>12&^(1<<rng.IntN(52)-1))/(1<<52)
		return math.Copysign(math.Ldexp(m, exponents[rng.IntN(len(exponents))]), float64(rng.IntN(2))-0.5)
	}
	b := table.NewBuilder("t", fields, 0)
	for range 20_000 {
		x, y := draw(), draw()
		z := [...]float64{x + y, x - y, x * y, x / y}[rng.IntN(4)]
		for i, f := range []float64{x, y, z} {
			b.Column(i).Value(table.Value{Type: fields[i].Type, F: f})
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	col := func(i int) *predicate.Val {
		return &predicate.Val{Op: predicate.ColF, Column: i, Float: true, Base: tab.Chunks[0].Segments[i].Base}
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, op := range []predicate.ValOp{predicate.AddV, predicate.SubV, predicate.MulV, predicate.DivV} {
			v := &predicate.Val{Op: op, Float: true, CanFail: true, Kids: []*predicate.Val{col(0), col(1)}}
			narrow := &predicate.Val{Op: predicate.Round32, Float: true, CanFail: true, Kids: []*predicate.Val{v}}
			name := [...]string{predicate.AddV: "+", predicate.SubV: "-", predicate.MulV: "*", predicate.DivV: "/"}[op]
			for _, leaf := range []*predicate.Computed{
				{Op: expr.EQ, L: v, R: col(2), Shape: predicate.Expression, Text: "x " + name + " y = z"},
				{Op: expr.LT, L: v, R: col(2), Shape: predicate.Expression, Text: "x " + name + " y < z"},
				{Fails: v, Shape: predicate.Expression, Text: "x " + name + " y fails"},
				{Fails: narrow, Shape: predicate.Expression, Text: "x " + name + " y does not fit a REAL"},
			} {
				if err := checkLeaf(g, ProfileOf(ctx.Caps()), tab, 0, leaf); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// A device that binds few blocks puts the NULLs of the columns together first, and
// declines a comparison of too many columns.
func TestFewBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	ch := &table.Chunk{Rows: 9000}
	tab := &table.Table{Name: "t", Chunks: []*table.Chunk{ch}}
	for range 8 {
		seg := randomSegment(rng, 9, ch.Rows, true)
		tab.Fields = append(tab.Fields, table.Field{Name: "x", Type: seg.Type})
		ch.Segments = append(ch.Segments, seg)
	}
	product := func(n int) *predicate.Computed { // of n columns, in 64 bits
		v := &predicate.Val{Op: predicate.Col, Lo: big.NewInt(-5), Hi: big.NewInt(511), Offset: -5, Max: 516}
		for i := 1; i < n; i++ {
			c := *v
			c.Op, c.Kids, c.Column, c.Offset = predicate.Col, nil, i, -5
			v = &predicate.Val{Op: predicate.MulV, Kids: []*predicate.Val{v, &c}, Lo: big.NewInt(math.MinInt64), Hi: big.NewInt(math.MaxInt64)}
		}
		return &predicate.Computed{Op: expr.LT, L: v, R: &predicate.Val{Op: predicate.Const, Lo: new(big.Int), Hi: new(big.Int)}, Shape: predicate.Polynomial, Text: "product < 0"}
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := ProfileOf(ctx.Caps())
		d.MaxBlocks = 8
		if err := checkLeaf(g, d, tab, 0, product(5)); err != nil {
			t.Error(err)
		}
		var declined *plan.Declined
		if err := checkLeaf(g, d, tab, 0, product(8)); !errors.As(err, &declined) {
			t.Errorf("nine blocks where the device has eight: %v", err)
		}
	})
}

// Semi-linear sums over planes. Coefficients have both signs, and bounds are at the ends of the range
// of sums and in between. There are all operators, NULLs, 64-bit codes and windows.
func TestSemilinearOverPlanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	coefficients := [][]int64{{1, -1}, {3, 7, -2, 1}, {-1}, {1 << 20, -3}, {255, -128, 5}, {1, 1, 1}}
	planeSums := 0
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for name, d := range Variants(ctx.Caps()) {
			for i, coef := range coefficients {
				ch := &table.Chunk{Rows: []int{70_001, 8192, 33}[i%3]}
				tab := &table.Table{Name: "t", Chunks: []*table.Chunk{ch}}
				var sum *predicate.Val
				for c, k := range coef {
					seg := randomSegment(rng, []int{19, 7, 33, 12}[(i+c)%4], ch.Rows, (i+c)%2 == 0)
					tab.Fields = append(tab.Fields, table.Field{Name: "x", Type: seg.Type})
					ch.Segments = append(ch.Segments, seg)
					col := &predicate.Val{Op: predicate.Col, Column: c, Offset: -5, Max: seg.Max, Lo: big.NewInt(-5), Hi: big.NewInt(int64(seg.Max) - 5)}
					factor := &predicate.Val{Op: predicate.Const, I: k, Lo: big.NewInt(k), Hi: big.NewInt(k)}
					v := &predicate.Val{Op: predicate.MulV, Kids: []*predicate.Val{factor, col}, Lo: big.NewInt(math.MinInt64), Hi: big.NewInt(math.MaxInt64)}
					if sum != nil {
						v = &predicate.Val{Op: predicate.AddV, Kids: []*predicate.Val{sum, v}, Lo: v.Lo, Hi: v.Hi}
					}
					sum = v
				}
				at := func(row int) int64 {
					n := int64(0)
					for c, k := range coef {
						n += k * (int64(ch.Segments[c].Codes.At(row)) - 5)
					}
					return n
				}
				for j, bound := range []int64{at(0), at(ch.Rows / 2), at(ch.Rows/2) + 1, 0} {
					if name != "own" && (i+j/2)%2 != 0 { // two of four: each operator is a program of its own
						continue
					}
					p := &predicate.Computed{Op: expr.CmpOp((i + j) % 6), L: sum, Text: fmt.Sprint("sum against ", bound),
						R: &predicate.Val{Op: predicate.Const, I: bound, Lo: big.NewInt(bound), Hi: big.NewInt(bound)}}
					if err := checkLeaf(g, d, tab, 0, p); err != nil {
						t.Errorf("%s, coefficients %v, operator %v: %v", name, coef, p.Op, err)
					}
					if chunkOf(d, tab, 0).planeSum(p) != nil {
						planeSums++
					}
				}
				g.End()
			}
		}
		if planeSums < 20 {
			t.Errorf("only %d sums were over planes", planeSums)
		}
	})
}
