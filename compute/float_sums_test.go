package compute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// chunkOf makes a chunk of a table, of which nothing is asked yet.
func chunkOf(d Profile, t *table.Table, chunk int) *ChunkWork {
	c, err := NewCompiler(d, &physical.Query{Table: t})
	if err != nil {
		panic(err)
	}
	return c.Chunks[chunk]
}

// runs runs what a chunk has queued, and reads the result.
func (x *ChunkWork) runs(run pass.Runner) ([]uint32, error) {
	x.Flush()
	done, err := x.Execute(run)
	x.passes = nil
	if err != nil {
		return nil, err
	}
	return done.Words, nil
}

// bitmapOf makes working memory with the records of a window that f marks.
func bitmapOf(w piece, f func(row int) bool) textures.Block {
	words := make([]uint32, 4*textures.Units(w.Rows))
	for i := range words {
		for bit := range 32 {
			if row := textures.PlaneRow(i/4, i%4, bit); row < w.Rows && f(w.From+row) {
				words[i] |= 1 << bit
			}
		}
	}
	return textures.ScratchBlock(&textures.Scratch{Words: len(words), Init: words})
}

// oneColumn makes a table of one chunk with one column.
func oneColumn(typ table.Type, values []table.Value) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: typ}}, 0)
	for _, v := range values {
		b.Column(0).Value(v)
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// checkFloatSum compares the sum over the marked records (nil: all) with the CPU's.
func checkFloatSum(g *pass.GL, d Profile, tab *table.Table, marked func(row int) bool) error {
	defer g.End()
	e := chunkOf(d, tab, 0)
	var sel *Marks
	var got, want partial.FloatSum
	for row := range e.Rows {
		if v := e.Segment(0).Value(row); !v.Null && (marked == nil || marked(row)) {
			want.Add(v.F)
		}
	}
	if marked != nil {
		sel = &Marks{}
		for _, p := range e.Pieces {
			sel.Blocks = append(sel.Blocks, bitmapOf(p, marked))
		}
	}
	e.floatSum(0, sel, e.Alloc(floatWords))
	words, err := e.runs(g)
	if err != nil {
		return err
	}
	addFloatSum(words, &got)
	got.Merge(new(partial.FloatSum)) // after which a sum has one form
	want.Merge(new(partial.FloatSum))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		x, _ := got.Float64()
		y, _ := want.Float64()
		return fmt.Errorf("the sum of %d rows is %v, want %v", e.Rows, x, y)
	}
	return nil
}

// The sum is exactly that of partial.FloatSum: every exponent, both signs, values that cancel,
// infinities, NaN, NULLs, any selection and several windows. A program takes long to compile. So the
// device as it is sums every size and selection, and the other kind sums one of them in turn. Short
// windows are tried where there are several.
func TestFloatSumIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bits64 := func() float64 {
		f := math.Float64frombits(rng.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 1
		}
		return f
	}
	bits32 := func() float64 {
		f := math.Float32frombits(rng.Uint32())
		if f != f || math.IsInf(float64(f), 0) {
			return -1
		}
		return float64(f)
	}
	cases := []struct {
		name string
		kind table.Kind
		draw func() float64
	}{
		{"any double", table.Double, bits64},
		{"any real", table.Real, bits32},
		{"unit interval", table.Double, rng.Float64},
		{"normal", table.Double, rng.NormFloat64},
		{"normal reals", table.Real, func() float64 { return float64(float32(rng.NormFloat64())) }},
		{"few codes", table.Double, func() float64 { return math.Float64frombits(math.Float64bits(0.1) + uint64(rng.IntN(200))) }},
		{"two bytes", table.Real, func() float64 { return float64(math.Float32frombits(math.Float32bits(-7) + uint32(rng.IntN(50000)))) }},
		{"four bytes", table.Double, func() float64 { return math.Float64frombits(math.Float64bits(-1e-300) + uint64(rng.Uint32())) }},
		{"subnormals", table.Double, func() float64 { return math.Float64frombits(rng.Uint64()>>12 | rng.Uint64()<<63) }},
		{"subnormal reals", table.Real, func() float64 { return float64(math.Float32frombits(rng.Uint32()>>9 | rng.Uint32()<<31)) }},
		{"largest", table.Double, func() float64 { return math.MaxFloat64 }},
		{"most negative", table.Real, func() float64 { return -math.MaxFloat32 }},
		{"a window's edges", table.Double, func() float64 { return math.Ldexp(1+rng.Float64(), rng.IntN(140)-70) }},
		{"special", table.Double, func() float64 {
			return [...]float64{1, math.Inf(1), math.Inf(-1), math.NaN(), 2, 3, 4, 5}[rng.IntN(8)]
		}},
		{"+Infinity", table.Real, func() float64 { return [...]float64{1, math.Inf(1)}[rng.IntN(2)] }},
		{"-Infinity", table.Double, func() float64 { return [...]float64{1, math.Inf(-1)}[rng.IntN(2)] }},
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for n, c := range cases {
			for i, rows := range []int{130, 20_001} {
				var values []table.Value
				for range rows {
					v := table.Value{Type: table.Type{Kind: c.kind}, F: c.draw()}
					if i%2 == 1 && rng.IntN(7) == 0 {
						v = table.Null(v.Type)
					}
					values = append(values, v)
				}
				tab := oneColumn(table.Type{Kind: c.kind}, values)
				for kind, d := range Variants(ctx.Caps()) {
					for j, marked := range []func(int) bool{nil, func(row int) bool { return row%3 == 1 }} {
						if kind == "other kind" && n%4 != 2*i+j || kind == "short windows" && (i == 0 || n%2 != j) {
							continue
						}
						if err := checkFloatSum(g, d, tab, marked); err != nil {
							t.Errorf("%s, %s: %v", c.name, kind, err)
						}
					}
				}
			}
		}
	})
}

// Random tables, random selections.
func TestRandomFloatSums(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rapid.Check(t, func(t *rapid.T) {
			k := plantest.Default()
			k.MaxColumns, k.MaxRows, k.MaxChunk = 1, 300, 0
			k.Kinds = []table.Kind{table.Real, table.Double}
			tab := plantest.Table(t, k)
			if len(tab.Chunks) == 0 {
				return
			}
			seed := rapid.Uint32().Draw(t, "selection")
			if err := checkFloatSum(g, ProfileOf(ctx.Caps()), tab, func(row int) bool { return seed>>(row%32)&1 != 0 }); err != nil {
				t.Fatal(err)
			}
		})
	})
}
