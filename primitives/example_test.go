package primitives_test

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// onDevice calls f on the GL thread of a context, with a runner.
func onDevice(f func(r pass.Runner, d primitives.Shapes) error) {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ctx.Close()
	err = ctx.Do(context.Background(), func() error {
		store := textures.NewStore(ctx, 0)
		defer store.Close()
		g := pass.NewGL(ctx, store)
		defer g.Close()
		return f(g, primitives.ShapesOf(ctx.Caps()))
	})
	if err != nil {
		fmt.Println(err)
	}
}

func ExampleScan() {
	onDevice(func(r pass.Runner, d primitives.Shapes) error {
		in := primitives.FromSlice([]uint32{3, 1, 4, 1, 5, 9, 2, 6})
		out := primitives.New(in.N)
		if err := primitives.Scan(r, d, primitives.Add, primitives.ScanShape{}, in, out); err != nil {
			return err
		}
		sums, err := out.Read(r)
		fmt.Println(sums)
		return err
	})
	// Output: [0 3 4 8 9 14 23 25]
}

func ExampleScan_segmented() {
	onDevice(func(r pass.Runner, d primitives.Shapes) error {
		in := primitives.FromSlice([]uint32{3, 1, 4, 1, 5, 9, 2, 6})
		segments := primitives.FromSlice([]uint32{7, 7, 7, 4, 4, 4, 4, 7})
		out := primitives.New(in.N)
		if err := primitives.Scan(r, d, primitives.Max, primitives.ScanShape{Inclusive: true, Segments: segments}, in, out); err != nil {
			return err
		}
		maxima, err := out.Read(r)
		fmt.Println(maxima)
		return err
	})
	// Output: [3 3 4 1 5 9 9 6]
}

// Any associative operator: a sum that stays at the largest word instead of wrapping.
func ExampleReduce() {
	onDevice(func(r pass.Runner, d primitives.Shapes) error {
		saturate := primitives.Operator{Name: "saturating add", Expr: "a > ~b ? ~0u : a + b", Identity: "0u", Commutative: true}
		in, out := primitives.FromSlice([]uint32{4e9, 5e8, 1}), primitives.New(1)
		if err := primitives.Reduce(r, d, saturate, in, out); err != nil {
			return err
		}
		sum, err := out.Read(r)
		fmt.Println(sum)
		return err
	})
	// Output: [4294967295]
}

// ORDER BY key: row ids in order of the keys, and another column gathered by them.
func ExampleSort() {
	onDevice(func(r pass.Runner, d primitives.Shapes) error {
		keys := primitives.FromSlice([]uint32{30, 10, 20, 10})
		other := primitives.FromSlice([]uint32{7, 8, 9, 10})
		ids, out := primitives.New(keys.N), primitives.New(keys.N)
		if err := primitives.Sort(r, d, primitives.Keys{Words: keys, Bits: 5}, primitives.Vector{}, ids); err != nil {
			return err
		}
		if err := primitives.Gather(r, d, other, ids, out); err != nil {
			return err
		}
		order, err := ids.Read(r)
		if err != nil {
			return err
		}
		column, err := out.Read(r)
		fmt.Println(order, column)
		return err
	})
	// Output: [1 3 2 0] [8 10 9 7]
}

// Hash partitioning: rows by the lowest two bits of the key.
func ExampleSplit() {
	onDevice(func(r pass.Runner, d primitives.Shapes) error {
		p := primitives.Parts{Of: primitives.Expr("x & 3u"), N: 4,
			Keys: primitives.FromSlice([]uint32{13, 7, 4, 9, 8}), KeysOut: primitives.New(5), Offsets: primitives.New(5)}
		if err := primitives.Split(r, d, p); err != nil {
			return err
		}
		keys, err := p.KeysOut.Read(r)
		if err != nil {
			return err
		}
		offsets, err := p.Offsets.Read(r)
		fmt.Println(keys, offsets)
		return err
	})
	// Output: [4 8 13 9 7] [0 2 4 4 5]
}

func ExampleMap() {
	onDevice(func(r pass.Runner, d primitives.Shapes) error {
		a, b := primitives.FromSlice([]uint32{1, 2, 3}), primitives.FromSlice([]uint32{10, 20, 30})
		out := primitives.New(3)
		if err := primitives.Map(r, d, primitives.Expr("x + y * i"), out, a, b); err != nil {
			return err
		}
		values, err := out.Read(r)
		fmt.Println(values)
		return err
	})
	// Output: [1 22 63]
}
