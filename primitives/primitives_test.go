package primitives_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
)

// devices returns every way the primitives can run on a context's device.
func devices(ctx *glctx.Context) map[string]primitives.Shapes {
	own := primitives.ShapesOf(ctx.Caps())
	with := func(d primitives.Shapes, lookBack, subgroups bool, scan, sort primitives.Tile) primitives.Shapes {
		d.LookBack, d.Subgroups, d.Scan, d.Sort = lookBack, subgroups, scan, sort
		return d
	}
	all := map[string]primitives.Shapes{
		"own":           own,
		"solo":          with(own, false, false, primitives.Tile{Threads: 1, Items: 4}, primitives.Tile{Threads: 1, Items: 4}),
		"strips":        with(own, false, false, primitives.Tile{Threads: 32, Items: 8}, primitives.Tile{Threads: 64, Items: 2}),
		"look back":     with(own, true, false, primitives.Tile{Threads: 32, Items: 4}, primitives.Tile{Threads: 32, Items: 3}),
		"narrow groups": own,
	}
	d := all["look back"]
	d.MaxGroups = 7 // more groups than fit one direction
	all["narrow groups"] = d
	if own.Subgroups {
		all["subgroups in strips"] = with(own, false, true, primitives.Tile{Threads: 256, Items: 16}, primitives.Tile{Threads: 256, Items: 8})
		all["subgroups look back"] = with(own, true, true, primitives.Tile{Threads: 128, Items: 4}, primitives.Tile{Threads: 512, Items: 9})
	}
	return all
}

// property checks a property on every way to run, each with a context of its own.
func property(t *testing.T, f func(t *rapid.T, e *env)) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		all := devices(ctx)
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range all {
				if !yield(name) {
					return
				}
			}
		})
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.SampledFrom(names).Draw(t, "device")
			f(t, &env{t: t, r: g, d: all[name]})
			g.End()
		})
	})
}

// env is where a property runs.
type env struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	r pass.Runner
	d primitives.Shapes
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatalf("%v", err)
	}
}

// holds checks the contents of a vector.
func (e *env) holds(what string, v primitives.Vector, want []uint32) {
	e.t.Helper()
	got, err := v.First(len(want)).Read(e.r)
	e.must(err)
	for i := range want {
		if got[i] != want[i] {
			e.t.Fatalf("%s: element %d of %d is %d, should be %d", what, i, len(want), got[i], want[i])
		}
	}
}

// guarded returns a vector of n elements with a pattern behind them, and a check that
// it is still there.
func (e *env) guarded(n int) (primitives.Vector, func()) {
	const pattern = 0xdeadbeef
	v := primitives.FromSlice(slices.Repeat([]uint32{pattern}, n+8))
	return v.First(n), func() {
		e.t.Helper()
		got, err := v.Read(e.r)
		e.must(err)
		for i, w := range got[n:] {
			if w != pattern {
				e.t.Fatalf("word %d behind a vector of %d was overwritten", i, n)
			}
		}
	}
}

// length draws the length of a vector: small, around a tile, prime, or any.
func length(t *rapid.T, d primitives.Shapes) int {
	scan, sort := d.Scan.Threads*d.Scan.Items, d.Sort.Threads*d.Sort.Items
	return rapid.OneOf(
		rapid.IntRange(0, 5),
		rapid.SampledFrom([]int{scan - 1, scan, scan + 1, sort - 1, sort, sort + 1, 9 * scan, 3*sort + 1}),
		rapid.SampledFrom([]int{31, 257, 1009}),
		rapid.IntRange(0, 2000),
	).Draw(t, "n")
}

// words draws n words: any, few values, all equal, rising or falling.
func words(t *rapid.T, n int) []uint32 {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	w := make([]uint32, n)
	kind := rapid.SampledFrom([]string{"any", "few", "equal", "rising", "falling"}).Draw(t, "words")
	equal := rng.Uint32()
	for i := range w {
		switch kind {
		case "any":
			w[i] = rng.Uint32()
		case "few":
			w[i] = rng.Uint32N(3) * 0x7fffffff
		case "equal":
			w[i] = equal
		case "rising":
			w[i] = uint32(i) * 1000
		case "falling":
			w[i] = math.MaxUint32 - uint32(i)*1000
		}
	}
	return w
}

// operator is an operator with its meaning.
type operator struct {
	primitives.Operator
	f        func(a, b uint32) uint32
	identity uint32
}

var operators = []operator{
	{primitives.Add, func(a, b uint32) uint32 { return a + b }, 0},
	// x -> m*x + c modulo 2^16, one after the other: associative, not commutative.
	{primitives.Operator{Name: "affine", Identity: "1u",
		Expr: "((a & 65535u) * (b & 65535u) & 65535u) | ((a >> 16) * (b & 65535u) + (b >> 16)) << 16"},
		func(a, b uint32) uint32 {
			return a&65535*(b&65535)&65535 | (a>>16*(b&65535)+b>>16)<<16
		}, 1},
	{primitives.Min, func(a, b uint32) uint32 { return min(a, b) }, math.MaxUint32},
	{primitives.Max, func(a, b uint32) uint32 { return max(a, b) }, 0},
	{primitives.Or, func(a, b uint32) uint32 { return a | b }, 0},
	{primitives.And, func(a, b uint32) uint32 { return a & b }, math.MaxUint32},
}

func TestReduceIsTheFold(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		op, in := rapid.SampledFrom(operators).Draw(t, "operator"), words(t, length(t, e.d))
		want := op.identity
		for _, x := range in {
			want = op.f(want, x)
		}
		out, check := e.guarded(1)
		e.must(primitives.Reduce(e.r, e.d, op.Operator, primitives.FromSlice(in), out))
		e.holds(op.Name, out, []uint32{want})
		check()
	})
}

func TestScanIsTheRunningFold(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		op, in := rapid.SampledFrom(operators[:2]).Draw(t, "operator"), words(t, length(t, e.d))
		shape := primitives.ScanShape{Inclusive: rapid.Bool().Draw(t, "inclusive")}
		var heads []uint32
		if rapid.Bool().Draw(t, "segmented") {
			every := rapid.SampledFrom([]int{1, 2, 10, 1000, 100_000}).Draw(t, "segment")
			rng := rand.New(rand.NewPCG(1, uint64(every)))
			heads = make([]uint32, len(in))
			for i := range heads {
				if i > 0 {
					heads[i] = heads[i-1]
				}
				if rng.IntN(every) == 0 {
					heads[i] += 1 + rng.Uint32N(math.MaxUint32)
				}
			}
			shape.Segments = primitives.FromSlice(heads)
		}
		want := make([]uint32, len(in))
		so := op.identity
		for i, x := range in {
			if heads != nil && i > 0 && heads[i] != heads[i-1] {
				so = op.identity
			}
			want[i] = so
			so = op.f(so, x)
			if shape.Inclusive {
				want[i] = so
			}
		}
		out, check := e.guarded(len(in))
		v := primitives.FromSlice(in)
		e.must(primitives.Scan(e.r, e.d, op.Operator, shape, v, out))
		e.holds(op.Name, out, want)
		check()
		e.must(primitives.Scan(e.r, e.d, op.Operator, shape, v, v))
		e.holds(op.Name+" in place", v, want)
	})
}

func TestPermuteMovesEachElement(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		in := words(t, length(t, e.d))
		e.d.Reach = rapid.SampledFrom([]int{0, 1, 100, 1 << 14}).Draw(t, "reach")
		at, want := make([]uint32, len(in)), make([]uint32, len(in))
		for i, k := range rand.New(rand.NewPCG(5, uint64(len(in)))).Perm(len(in)) {
			at[i], want[k] = uint32(k), in[i]
		}
		out, check := e.guarded(len(in))
		ins, outs := []primitives.Vector{primitives.FromSlice(in)}, []primitives.Vector{out}
		if rapid.Bool().Draw(t, "two") {
			second, wanted := make([]uint32, len(in)), make([]uint32, len(in))
			for i, k := range at {
				second[i] = ^uint32(i) * 77
				wanted[k] = second[i]
			}
			out, check := e.guarded(len(in))
			ins, outs = append(ins, primitives.FromSlice(second)), append(outs, out)
			defer check()
			defer e.holds("permuted beside", out, wanted)
		}
		e.must(primitives.Permute(e.r, e.d, primitives.FromSlice(at), ins, outs))
		e.holds("permuted", out, want)
		check()
	})
}

// Working memory that scopes give back before the device has come to what they asked for begins as the next scope says.
func TestScopesBeforeTheDevice(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := primitives.ShapesOf(ctx.Caps())
		long := 1 << 22
		if !ctx.Caps().Software {
			long = 1 << 28
		}
		e, outer, rng := &env{t: t, r: g, d: d}, g.Open(), rand.New(rand.NewPCG(8, 8))
		defer outer.Close()
		var outs []primitives.Vector
		var ins [][]uint32
		for range 20 {
			in := make([]uint32, 1+rng.IntN(5000))
			for i := range in {
				in[i] = rng.Uint32N(100)
			}
			out := primitives.New(len(in))
			e.must(g.Apart(nil, func() error {
				e.must(primitives.Map(g, d, primitives.Expr("i * i"), primitives.New(long)))
				e.must(primitives.Scan(g, d, primitives.Add, primitives.ScanShape{Inclusive: true}, primitives.FromSlice(in), out))
				return g.Hand(out.Block, outer)
			}))
			outs, ins = append(outs, out), append(ins, in)
		}
		e.must(outer.Do(t.Context(), func() error {
			for k, in := range ins {
				for i := 1; i < len(in); i++ {
					in[i] += in[i-1]
				}
				e.holds(fmt.Sprintf("sums %d", k), outs[k], in)
			}
			return nil
		}))
	})
}

func TestScanWideAddsTo64Bits(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		low, two := words(t, length(t, e.d)), rapid.Bool().Draw(t, "upper words")
		rng := rand.New(rand.NewPCG(7, uint64(len(low))))
		var in primitives.Vector
		high := make([]uint32, len(low))
		if two {
			for i := range high {
				high[i] = rng.Uint32()
			}
			in = primitives.FromSlice(high)
		}
		var so uint64
		wantLow, wantHigh := make([]uint32, len(low)), make([]uint32, len(low))
		for i := range low {
			so += uint64(high[i])<<32 | uint64(low[i])
			wantLow[i], wantHigh[i] = uint32(so), uint32(so>>32)
		}
		v := primitives.FromSlice(low)
		outLow, checkLow := e.guarded(len(low))
		outHigh, checkHigh := e.guarded(len(low))
		e.must(primitives.ScanWide(e.r, e.d, v, in, outLow, outHigh))
		e.holds("lower words", outLow, wantLow)
		e.holds("upper words", outHigh, wantHigh)
		checkLow()
		checkHigh()
		if two {
			e.must(primitives.ScanWide(e.r, e.d, v, in, v, in))
			e.holds("lower words in place", v, wantLow)
			e.holds("upper words in place", in, wantHigh)
		}
	})
}

func TestRunsAreNumbered(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		x := words(t, length(t, e.d))
		without := rapid.SampledFrom([]int{0, 3, 31}).Draw(t, "without")
		var beside []uint32
		if rapid.Bool().Draw(t, "beside") {
			beside = words(t, len(x))
		}
		long := rapid.Bool().Draw(t, "long runs")
		number, starts := make([]uint32, len(x)), []uint32{}
		for i := range x {
			if long && i > 0 && i%1000 != 0 {
				x[i] = x[i-1]
			}
			if beside != nil {
				beside[i] &= 1
			}
			if i == 0 || x[i]>>without != x[i-1]>>without || beside != nil && beside[i] != beside[i-1] {
				starts = append(starts, uint32(i))
			}
			number[i] = uint32(len(starts))
		}
		if len(x) > 0 {
			starts = append(starts, uint32(len(x)))
		}
		of := primitives.Vector{}
		if beside != nil {
			of = primitives.FromSlice(beside)
		}
		out, check := e.guarded(len(x))
		begins := primitives.New(len(x) + 1)
		e.must(primitives.Runs(e.r, e.d, primitives.FromSlice(x), without, of, out, begins))
		e.holds("numbers", out, number)
		check()
		begins.N = len(starts)
		e.holds("starts", begins, starts)
	})
}

func TestMapIsElementByElement(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		n := length(t, e.d)
		var in [3][]uint32
		for i := range in {
			in[i] = words(t, n)
		}
		x, y, z := primitives.FromSlice(in[0]), primitives.FromSlice(in[1]), primitives.FromSlice(in[2])
		want := make([]uint32, n)
		out, check := e.guarded(n)
		for i := range want {
			want[i] = uint32(i) * 3
		}
		e.must(primitives.Map(e.r, e.d, primitives.Expr("i * 3u"), out))
		e.holds("of i", out, want)
		for i := range want {
			want[i] = in[0][i] + 7*in[1][i] ^ in[2][i]
		}
		e.must(primitives.Map(e.r, e.d, primitives.Func{Expr: "x + c0 * y ^ z", Constants: []uint32{7}}, out, x, y, z))
		e.holds("of x, y, z", out, want)
		check()
		for i := range want {
			want[i] = in[0][i] >> 1
		}
		e.must(primitives.Map(e.r, e.d, primitives.Expr("x >> 1"), x, x))
		e.holds("in place", x, want)
	})
}

func TestGatherAndScatterFollowLocations(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		in := words(t, length(t, e.d))
		m := length(t, e.d)
		at := make([]uint32, m)
		rng := rand.New(rand.NewPCG(uint64(m), uint64(len(in))))
		want := make([]uint32, m)
		for i := range at {
			if at[i] = rng.Uint32N(uint32(len(in)) + 3); rng.IntN(10) == 0 {
				at[i] = rng.Uint32()
			}
			if int(at[i]) < len(in) {
				want[i] = in[at[i]]
			}
		}
		out, check := e.guarded(m)
		e.must(primitives.Gather(e.r, e.d, primitives.FromSlice(in), primitives.FromSlice(at), out))
		e.holds("gather", out, want)
		check()

		perm := rng.Perm(len(in) + m) // elements go to different places among twice as many
		to := make([]uint32, len(in))
		want = slices.Repeat([]uint32{42}, len(in))
		for i, x := range in {
			to[i] = uint32(perm[i])
			if int(to[i]) < len(want) {
				want[to[i]] = x
			}
		}
		placed := slices.Repeat([]uint32{42}, len(in)+4)
		v := primitives.FromSlice(placed)
		e.must(primitives.Scatter(e.r, e.d, primitives.FromSlice(in), primitives.FromSlice(to), v.First(len(in))))
		e.holds("scatter", v, append(want, 42, 42, 42, 42))
	})
}

func TestSplitIsStable(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		in := words(t, length(t, e.d))
		parts := rapid.SampledFrom([]int{1, 2, 3, 100, 255, 256}).Draw(t, "parts")
		part := func(x uint32) int { return min(int(x>>8%300), parts-1) }
		order := make([]uint32, len(in))
		offsets := make([]uint32, parts+1)
		for i, x := range in {
			order[i] = uint32(i)
			offsets[part(x)+1]++
		}
		for p := range parts {
			offsets[p+1] += offsets[p]
		}
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(part(in[a]), part(in[b])) })
		keys, vals := make([]uint32, len(in)), make([]uint32, len(in))
		for i, row := range order {
			keys[i], vals[i] = in[row], ^in[row]
		}
		complement := make([]uint32, len(in))
		for i, x := range in {
			complement[i] = ^x
		}
		p := primitives.Parts{Of: primitives.Func{Expr: "(x >> c0) % 300u", Constants: []uint32{8}}, N: parts,
			Keys: primitives.FromSlice(in), Offsets: primitives.New(parts + 1)}
		var check, checkValues func()
		p.KeysOut, check = e.guarded(len(in))
		p.ValuesOut, checkValues = e.guarded(len(in))
		e.must(primitives.Split(e.r, e.d, p))
		e.holds("offsets", p.Offsets, offsets)
		e.holds("keys", p.KeysOut, keys)
		e.holds("row ids", p.ValuesOut, order)
		check()
		checkValues()
		p.KeysOut, p.Values, p.Offsets = primitives.Vector{}, primitives.FromSlice(complement), primitives.New(parts+1)
		e.must(primitives.Split(e.r, e.d, p))
		e.holds("values", p.ValuesOut, vals)
		e.holds("offsets", p.Offsets, offsets)
	})
}

func TestSortIsStableAndOrdered(t *testing.T) {
	property(t, func(t *rapid.T, e *env) {
		in := words(t, length(t, e.d))
		bits := rapid.SampledFrom([]int{1, 9, 32, 33, 64}).Draw(t, "bits")
		if bits > 32 {
			sortTwoWords(t, e, in, bits)
			return
		}
		ids := make([]uint32, len(in))
		for i := range in {
			in[i] >>= 32 - bits
			ids[i] = uint32(i)
		}
		by := func(i uint32) uint32 { return in[i] }
		keys := primitives.Keys{Words: primitives.FromSlice(in), Bits: bits}
		if rapid.Bool().Draw(t, "by a hash") {
			by = func(i uint32) uint32 { return in[i] * 0x9e3779b1 >> (32 - bits) }
			keys.Of = primitives.Func{Expr: "x * 0x9e3779b1u >> c0", Constants: []uint32{uint32(32 - bits)}}
		}
		slices.SortStableFunc(ids, func(a, b uint32) int { return cmp.Compare(by(a), by(b)) })
		ordered := make([]uint32, len(in))
		for i, id := range ids {
			ordered[i] = in[id]
		}
		order := slices.Clone(ids)
		sorted, check := e.guarded(len(in))
		rows, checkRows := e.guarded(len(in))
		outputs := rapid.IntRange(1, 3).Draw(t, "outputs")
		if outputs&1 == 0 {
			sorted = primitives.Vector{}
		}
		if outputs&2 == 0 {
			rows = primitives.Vector{}
		} else if rapid.Bool().Draw(t, "values") {
			keys.Values = primitives.FromSlice(slices.Clone(in)) // else the row ids
			copy(ids, ordered)
		}
		if outputs&2 != 0 && rapid.Bool().Draw(t, "beside") {
			beside, want := make([]uint32, len(in)), make([]uint32, len(in))
			for i := range beside {
				beside[i] = ^uint32(i) * 77
			}
			for i, id := range order {
				want[i] = beside[id]
			}
			out, check := e.guarded(len(in))
			keys.Beside, keys.BesideOut = primitives.FromSlice(beside), out
			defer check()
			defer e.holds("beside", out, want)
		}
		e.must(primitives.Sort(e.r, e.d, keys, sorted, rows))
		if outputs&1 != 0 {
			e.holds("keys", sorted, ordered)
			check()
		}
		if outputs&2 != 0 {
			e.holds("row ids", rows, ids)
			checkRows()
		}
		e.holds("the input", keys.Words, in)
	})
}

// sortTwoWords checks keys of more than 32 bits.
func sortTwoWords(t *rapid.T, e *env, low []uint32, bits int) {
	high := words(t, len(low))
	keys := make([]uint64, len(low))
	ids := make([]uint32, len(low))
	for i := range keys {
		keys[i] = (uint64(high[i])<<32 | uint64(low[i])) >> (64 - bits)
		low[i], high[i], ids[i] = uint32(keys[i]), uint32(keys[i]>>32), uint32(i)
	}
	slices.SortStableFunc(ids, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
	out, check := e.guarded(len(low))
	k := primitives.Keys{Words: primitives.FromSlice(low), High: primitives.FromSlice(high), Bits: bits}
	e.must(primitives.Sort(e.r, e.d, k, primitives.Vector{}, out))
	e.holds("row ids", out, ids)
	check()
}

// TestAMillionElements runs the device's own shapes over enough tiles that work groups
// depend on each other.
func TestAMillionElements(t *testing.T) {
	const n = 1_000_003
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		e := &env{t: t, r: g, d: primitives.ShapesOf(ctx.Caps())}
		rng := rand.New(rand.NewPCG(1, 2))
		in := make([]uint32, n)
		sums := make([]uint32, n)
		sum := uint32(0)
		for i := range in {
			in[i] = rng.Uint32()
			sums[i] = sum
			sum += in[i]
		}
		v, out, number := primitives.FromSlice(in), primitives.New(n), primitives.New(1)
		e.must(primitives.Scan(e.r, e.d, primitives.Add, primitives.ScanShape{}, v, out))
		e.holds("scan", out, sums)
		e.must(primitives.Reduce(e.r, e.d, primitives.Add, v, number))
		e.holds("reduce", number, []uint32{sum})
		ids := primitives.New(n)
		e.must(primitives.Sort(e.r, e.d, primitives.Keys{Words: v}, out, ids))
		e.holds("sort", out, slices.Sorted(slices.Values(in)))
		e.must(primitives.Gather(e.r, e.d, v, ids, out))
		e.holds("gather by row id", out, slices.Sorted(slices.Values(in)))
	})
}

// TestLargeVectors checks on the device, where reading back would take long: 2^28
// elements on hardware that has the memory.
func TestLargeVectors(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		bits := 28
		if ctx.Caps().Software {
			bits = 18
		}
		for 128<<bits > ctx.Caps().Budget { // up to 32 vectors
			bits--
		}
		n := 1 << bits
		e := &env{t: t, r: g, d: primitives.ShapesOf(ctx.Caps())}
		wrong := func(what, unlike string, in ...primitives.Vector) {
			flags, number := primitives.New(n), primitives.New(1)
			e.must(primitives.Map(g, e.d, primitives.Func{Expr: "uint(" + unlike + ")", Constants: []uint32{uint32(n - 1)}}, flags, in...))
			e.must(primitives.Reduce(g, e.d, primitives.Add, flags, number))
			e.holds(what+": elements that are wrong", number, []uint32{0})
		}
		keys, a, b := primitives.New(n), primitives.New(n), primitives.New(n)
		e.must(primitives.Map(g, e.d, primitives.Func{Expr: "i * 2654435761u & c0", Constants: []uint32{uint32(n - 1)}}, keys)) // each of 0..n-1 once
		e.must(primitives.Sort(g, e.d, primitives.Keys{Words: keys, Bits: bits}, a, b))
		wrong("keys", "x != i || y * 2654435761u % (c0 + 1u) != i", a, b)
		e.must(primitives.Gather(g, e.d, keys, b, a))
		wrong("gather", "x != i", a)
		e.must(primitives.Scatter(g, e.d, b, keys, a))
		e.must(primitives.Gather(g, e.d, a, keys, b)) // what was scattered comes back
		e.must(primitives.Sort(g, e.d, primitives.Keys{Words: keys, Bits: bits}, primitives.Vector{}, a))
		wrong("scatter", "x != y", a, b)
		e.must(primitives.Map(g, e.d, primitives.Expr("1u"), a))
		e.must(primitives.Scan(g, e.d, primitives.Add, primitives.ScanShape{}, a, b))
		wrong("scan", "x != i", b)
	})
}

// TestPassesAreSaid records every primitive: nothing runs, and each pass has a name.
func TestPassesAreSaid(t *testing.T) {
	base := primitives.Shapes{Scan: primitives.Tile{Threads: 256, Items: 16}, Sort: primitives.Tile{Threads: 256, Items: 16},
		Groups: 100, MaxWords: 1 << 28, MaxGroups: 65535}
	for _, c := range []struct {
		lookBack bool
		want     int
	}{{true, 1 + 1 + 2 + 1 + 1 + 2 + 5}, {false, 1 + 3 + 2 + 1 + 1 + 5 + 20}} {
		d, rec := base, &pass.Recorder{}
		d.LookBack = c.lookBack
		n := 1 << 20
		in, out, one := primitives.New(n), primitives.New(n), primitives.New(1)
		e := &env{t: t, r: rec, d: d}
		e.must(primitives.Map(rec, d, primitives.Expr("x"), out, in))
		e.must(primitives.Scan(rec, d, primitives.Max, primitives.ScanShape{Segments: in}, in, out))
		e.must(primitives.Reduce(rec, d, primitives.Add, in, one))
		e.must(primitives.Gather(rec, d, in, in, out))
		e.must(primitives.Scatter(rec, d, in, in, out))
		e.must(primitives.Split(rec, d, primitives.Parts{Of: primitives.Expr("x"), N: 256, Keys: in, KeysOut: out, Offsets: primitives.New(257)}))
		e.must(primitives.Sort(rec, d, primitives.Keys{Words: in, Bits: 31}, out, primitives.New(n)))
		if len(rec.Passes) != c.want {
			t.Errorf("look-back %v: %d passes, should be %d", c.lookBack, len(rec.Passes), c.want)
		}
		for _, p := range rec.Passes {
			if p.String() == "" || p.Op.Counts() == "" || p.Dispatch == nil || p.Dispatch.Groups[0] < 1 {
				t.Errorf("pass %+v says too little", p)
			}
		}
	}
}

func TestSizesAreChecked(t *testing.T) {
	d := primitives.Shapes{Scan: primitives.Tile{Threads: 1, Items: 4}, Sort: primitives.Tile{Threads: 1, Items: 4}, Groups: 1, MaxWords: 100, MaxGroups: 10}
	r := &pass.Recorder{}
	short, long, huge, all := primitives.New(5), primitives.New(10), primitives.New(101), primitives.Expr("x")
	none := primitives.Vector{}
	for what, err := range map[string]error{
		"map, short input":       primitives.Map(r, d, all, long, short),
		"map, four inputs":       primitives.Map(r, d, all, long, long, long, long, long),
		"map, too long":          primitives.Map(r, d, all, huge, huge),
		"map, longer than block": primitives.Map(r, d, all, short.First(6), long),
		"reduce, no output":      primitives.Reduce(r, d, primitives.Add, long, none),
		"scan, short output":     primitives.Scan(r, d, primitives.Add, primitives.ScanShape{}, long, short),
		"scan, short segments":   primitives.Scan(r, d, primitives.Add, primitives.ScanShape{Segments: short}, long, long),
		"gather, short output":   primitives.Gather(r, d, short, long, short),
		"scatter, short input":   primitives.Scatter(r, d, short, long, long),
		"split, no parts":        primitives.Split(r, d, primitives.Parts{Of: all, Keys: long, KeysOut: long, Offsets: long}),
		"split, 257 parts":       primitives.Split(r, d, primitives.Parts{Of: all, N: 257, Keys: long, KeysOut: long, Offsets: long}),
		"split, no offsets":      primitives.Split(r, d, primitives.Parts{Of: all, N: 2, Keys: long, KeysOut: long}),
		"split, no output":       primitives.Split(r, d, primitives.Parts{Of: all, N: 2, Keys: long, Offsets: long}),
		"split, values lost":     primitives.Split(r, d, primitives.Parts{Of: all, N: 2, Keys: long, KeysOut: long, Values: long, Offsets: long}),
		"sort, no output":        primitives.Sort(r, d, primitives.Keys{Words: long}, none, none),
		"sort, short output":     primitives.Sort(r, d, primitives.Keys{Words: long}, short, none),
		"sort, short upper":      primitives.Sort(r, d, primitives.Keys{Words: long, High: short}, none, long),
		"sort, beside lost":      primitives.Sort(r, d, primitives.Keys{Words: long, Beside: long}, none, long),
		"sort, beside nothing":   primitives.Sort(r, d, primitives.Keys{Words: long, Beside: long, BesideOut: long}, long, none),
		"permute, nothing":       primitives.Permute(r, d, long, nil, nil),
		"permute, three":         primitives.Permute(r, d, long, []primitives.Vector{long, long, long}, []primitives.Vector{long, long, long}),
		"permute, short input":   primitives.Permute(r, d, long, []primitives.Vector{long, short}, []primitives.Vector{long, long}),
		"runs, short starts":     primitives.Runs(r, d, long, 0, none, long, long),
		"runs, short beside":     primitives.Runs(r, d, long.First(9), 0, short, long, long),
		"sort, upper and keys":   primitives.Sort(r, d, primitives.Keys{Words: long, High: long}, long, long),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if len(r.Passes) != 0 {
		t.Errorf("%d passes in spite of errors", len(r.Passes))
	}
}

// TestErrorsOfPassesAreReturned fails each dispatch of a sort in turn.
func TestErrorsOfPassesAreReturned(t *testing.T) {
	d := primitives.Shapes{Scan: primitives.Tile{Threads: 1, Items: 4}, Sort: primitives.Tile{Threads: 1, Items: 4}, Groups: 1, MaxWords: 1000, MaxGroups: 10}
	broken := fmt.Errorf("broken")
	in, out := primitives.New(10), primitives.New(10)
	for at := range 20 {
		err := primitives.Sort(&pass.Failer{Runner: &pass.Recorder{}, At: at, Err: broken}, d, primitives.Keys{Words: in}, primitives.Vector{}, out)
		if !errors.Is(err, broken) {
			t.Errorf("failure at pass %d: error %v", at, err)
		}
	}
}
