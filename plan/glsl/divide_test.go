package glsl_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// divide makes a program that writes quotients and remainders, or a quotient twice,
// for each four words of its input.
func divide(parts []string, body string) shaders.Source {
	s := shaders.Compose("divide", parts, `layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Out { uvec4 result[]; };
layout(std430, binding = 1) readonly buffer In { uvec4 operands[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec2 a = operands[i].xy, b = operands[i].zw, q, r;
    `+body+`
    result[i] = uvec4(q, r);
}
`)
	s.Compute = true
	return s
}

// onDevice runs a program over pairs of 64-bit patterns, 64 to a work group.
func onDevice(t *testing.T, g *pass.GL, program shaders.Source, pairs [][2]uint64) [][2]uint64 {
	t.Helper()
	for len(pairs)%64 != 0 {
		pairs = append(pairs, [2]uint64{1, 1})
	}
	words := make([]uint32, 0, 4*len(pairs))
	for _, p := range pairs {
		words = append(words, uint32(p[0]), uint32(p[0]>>32), uint32(p[1]), uint32(p[1]>>32))
	}
	in, out := &textures.Scratch{Words: len(words), Init: words}, &textures.Scratch{Words: len(words)}
	_, err := g.Run(&pass.Pass{Op: pass.RenderQuad{}, Program: program, Dispatch: &pass.Dispatch{Groups: [2]int{len(pairs) / 64},
		Blocks: []textures.Block{textures.ScratchBlock(out), textures.ScratchBlock(in)}}})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, len(words))
	if err := g.Read(textures.ScratchBlock(out), got); err != nil {
		t.Fatal(err)
	}
	results := make([][2]uint64, len(pairs))
	for i := range results {
		w := got[4*i : 4*i+4]
		results[i] = [2]uint64{uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32}
	}
	return results
}

// randomPairs are of all lengths, and around powers of two and multiples.
func randomPairs(r *rand.Rand, n int) [][2]uint64 {
	var edges []uint64
	for i := range 64 {
		for d := range uint64(5) {
			edges = append(edges, uint64(1)<<i+d-2)
		}
	}
	var pairs [][2]uint64
	add := func(a, b uint64) { pairs = append(pairs, [2]uint64{a & math.MaxInt64, max(1, b&math.MaxInt64)}) }
	for _, a := range edges {
		for _, b := range edges {
			add(a, b)
		}
	}
	add(1<<63-1, 1)
	for range n {
		a, b := r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64)
		add(a, b)
		b = max(1, b&math.MaxInt64)
		multiple := a / b * b // the ends of a quotient
		add(multiple, b)
		add(multiple-1, b)
		add(multiple+b-1, b)
	}
	return append(pairs, [2]uint64{1 << 63, 1}, [2]uint64{1 << 63, 1 << 63}, [2]uint64{1 << 63, 3}, [2]uint64{1<<63 - 1, 1 << 63})
}

// Devices round floats differently: the estimates serve with as many units in the last
// place more or less as they are made to bear.
func TestDivisionIsExact(t *testing.T) {
	pairs := randomPairs(rand.New(rand.NewPCG(41, 42)), 100_000)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		const factor = "0.9999980926513672"
		for _, other := range []string{factor, "0.9999990463256836", "0.9999971389770508"} { // 1 - 2^-20, 1 - 3 * 2^-20
			program := divide([]string{"int64.glsl"}, "divideU64(a, b, q, r);")
			if !strings.Contains(program.Text, factor) {
				t.Fatalf("no %s in the program", factor)
			}
			program.Text = strings.Replace(program.Text, factor, other, 1)
			for i, got := range onDevice(t, g, program, pairs)[:len(pairs)] {
				a, b := pairs[i][0], pairs[i][1]
				if want := [2]uint64{a / b, a % b}; got != want {
					t.Fatalf("factor %s: %d / %d is %v, want %v", other, a, b, got, want)
				}
			}
			g.End()
		}
	})
}

// Quotients of doubles; compute has a test with subnormal ones.
func TestDivisionOfDoublesIsRoundedCorrectly(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	number := func() uint64 {
		m := r.Uint64() >> 12
		switch r.IntN(4) {
		case 0: // few bits
			m = m >> r.IntN(52) << r.IntN(52) & (1<<52 - 1)
		case 1: // almost a power of two
			m = (uint64(r.IntN(9)) - 4) & (1<<52 - 1)
		}
		return uint64(r.IntN(2))<<63 | uint64(600+r.IntN(800))<<52 | m
	}
	pairs := make([][2]uint64, 200_000)
	for i := range pairs {
		pairs[i] = [2]uint64{number(), number()}
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		program := divide([]string{"int64.glsl", "float64.glsl"}, "q = divF64(a, b); r = q;")
		for i, got := range onDevice(t, g, program, pairs)[:len(pairs)] {
			a, b := math.Float64frombits(pairs[i][0]), math.Float64frombits(pairs[i][1])
			if want := math.Float64bits(a / b); got[0] != want {
				t.Fatalf("%g / %g is %#x, want %#x", a, b, got[0], want)
			}
		}
		g.End()
	})
}
