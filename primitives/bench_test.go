package primitives_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// The benchmarks of the primitives: median wall time around a finish.
//
//	go test -tags egl -run - -bench Primitive ./primitives
//
// STENCILDB_BENCH_ROWS=67108864 picks other sizes (a comma-separated list).

func BenchmarkPrimitive(b *testing.B) {
	for _, n := range benchsize.List(b, 1<<20) {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkRows(b, n) })
	}
}

// bench is a context with vectors of n elements: keys of 31 bits, upper words of
// keys, a random permutation, flags of segments, and outputs.
type bench struct {
	ctx                                      *glctx.Context
	gl                                       *pass.GL
	d                                        primitives.Shapes
	keys, high, shuffled, heads, out, second primitives.Vector
	few                                      primitives.Vector
}

func benchmarkRows(b *testing.B, n int) {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ctx.Close()
	x := &bench{ctx: ctx, d: primitives.ShapesOf(ctx.Caps())}
	var store *textures.Store
	err = ctx.Do(context.Background(), func() error {
		store = textures.NewStore(ctx, 0)
		x.gl = pass.NewGL(ctx, store)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	defer ctx.Do(context.Background(), func() error {
		x.gl.Close()
		store.Close()
		return nil
	})
	keys, high, shuffled, heads := make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		keys[i], high[i], shuffled[i] = rng.Uint32()>>1, rng.Uint32(), uint32(i)
		if keys[i]%100 == 0 {
			heads[i] = 1
		}
	}
	rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, v := range []struct {
		name string
		f    func() error
	}{
		{"Map_x+1", func() error { return primitives.Map(x.gl, x.d, primitives.Expr("x + 1u"), x.out, x.keys) }},
		{"Reduce_add", func() error { return primitives.Reduce(x.gl, x.d, primitives.Add, x.keys, x.few) }},
		{"Scan_add", func() error {
			return primitives.Scan(x.gl, x.d, primitives.Add, primitives.ScanShape{}, x.keys, x.out)
		}},
		{"Scan_add_segmented", func() error {
			return primitives.Scan(x.gl, x.d, primitives.Add, primitives.ScanShape{Segments: x.heads}, x.keys, x.out)
		}},
		{"Gather_random", func() error { return primitives.Gather(x.gl, x.d, x.keys, x.shuffled, x.out) }},
		{"Scatter_random", func() error { return primitives.Scatter(x.gl, x.d, x.keys, x.shuffled, x.out) }},
		{"Permute_random", func() error {
			return primitives.Permute(x.gl, x.d, x.shuffled, []primitives.Vector{x.keys}, []primitives.Vector{x.out})
		}},
		{"Scan_add_64_bits", func() error {
			return primitives.ScanWide(x.gl, x.d, x.keys, primitives.Vector{}, x.out, x.second)
		}},
		{"Split_256", func() error {
			return primitives.Split(x.gl, x.d, primitives.Parts{Of: primitives.Expr("x & 255u"), N: 256, Keys: x.keys, KeysOut: x.out, ValuesOut: x.second, Offsets: x.few})
		}},
		{"Sort_31_bits_with_row_ids", func() error {
			return primitives.Sort(x.gl, x.d, primitives.Keys{Words: x.keys, Bits: 31}, x.out, x.second)
		}},
		{"Sort_31_bits", func() error {
			return primitives.Sort(x.gl, x.d, primitives.Keys{Words: x.keys, Bits: 31}, x.out, primitives.Vector{})
		}},
		{"Sort_63_bits_row_ids", func() error {
			return primitives.Sort(x.gl, x.d, primitives.Keys{Words: x.high, High: x.keys, Bits: 63}, primitives.Vector{}, x.second)
		}},
	} {
		b.Run(v.name, func(b *testing.B) {
			x.keys, x.high, x.shuffled = primitives.FromSlice(keys), primitives.FromSlice(high), primitives.FromSlice(shuffled)
			x.heads, x.out, x.second, x.few = primitives.FromSlice(heads), primitives.New(n), primitives.New(n), primitives.New(257)
			times := []time.Duration{x.timed(b, v.f)}[:0] // the first compiles and uploads
			for b.Loop() {
				times = append(times, x.timed(b, func() error { return x.gl.Query(context.Background(), v.f) }))
			}
			slices.Sort(times)
			ms := float64(times[len(times)/2].Nanoseconds()) / 1e6
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms, "ms")
			b.ReportMetric(float64(n)/ms/1e6, "Gelements/s")
			if err := x.ctx.Do(context.Background(), func() error { x.gl.End(); return nil }); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// timed is the wall time of f on the GL thread, between two finishes.
func (x *bench) timed(b *testing.B, f func() error) time.Duration {
	var d time.Duration
	err := x.ctx.Do(context.Background(), func() error {
		x.ctx.Finish()
		start := time.Now()
		err := f()
		x.ctx.Finish()
		d = time.Since(start)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return d
}
