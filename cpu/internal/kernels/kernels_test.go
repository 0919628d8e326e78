package kernels

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// widths are those of codes.
var widths = []int{8, 16, 32, 64}

// edges are the codes of that many bits where a comparison can go wrong.
func edges(width int) []uint64 {
	last := ^uint64(0) >> (64 - width)
	out := []uint64{0, 1, 2, last / 2, last/2 + 1, last/2 + 2, last - 2, last - 1, last}
	for b := 7; b < width; b += 8 {
		out = append(out, 1<<b-1, 1<<b, 1<<b+1)
	}
	return out
}

// codesOf puts codes into their width, with the first one at the skip-th place of
// its array: at any alignment.
func codesOf(width, skip int, codes []uint64) table.Codes {
	switch width {
	case 8:
		return table.Codes{U8: narrow[uint8](skip, codes)}
	case 16:
		return table.Codes{U16: narrow[uint16](skip, codes)}
	case 32:
		return table.Codes{U32: narrow[uint32](skip, codes)}
	}
	return table.Codes{U64: narrow[uint64](skip, codes)}
}

func narrow[T code](skip int, codes []uint64) []T {
	out := make([]T, skip+len(codes))
	for i, c := range codes {
		out[skip+i] = T(c)
	}
	return out[skip:]
}

// random fills n codes, half of them edges.
func random(rng *rand.Rand, width, n int) []uint64 {
	out, e := make([]uint64, n), edges(width)
	for i := range out {
		if out[i] = rng.Uint64() >> (64 - width); rng.IntN(2) == 0 {
			out[i] = e[rng.IntN(len(e))]
		}
	}
	return out
}

// selection of n rows: none, all, or a mix with empty and full words.
func selection(rng *rand.Rand, n int) table.Bitmap {
	sel := table.NewBitmap(n)
	kind := rng.IntN(4)
	for w := range sel {
		switch k := kind; {
		case k == 3:
			sel[w] = []uint64{0, ^uint64(0), rng.Uint64(), 1 << rng.IntN(64)}[rng.IntN(4)]
		case k == 2:
			sel[w] = rng.Uint64()
		case k == 1:
			sel[w] = ^uint64(0)
		}
	}
	if n%64 != 0 {
		sel[len(sel)-1] &= 1<<(n%64) - 1
	}
	return sel
}

// forCodes calls check for every set, width and length, at several alignments.
func forCodes(t *testing.T, check func(t *testing.T, s Set, rng *rand.Rand, width int, codes []uint64, c table.Codes)) {
	for _, s := range Sets() {
		for _, width := range widths {
			t.Run(fmt.Sprintf("%v/%d", s, width), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, uint64(width)))
				for n := range 301 {
					codes := random(rng, width, n)
					check(t, s, rng, width, codes, codesOf(width, n%5, codes))
				}
			})
		}
	}
}

// anyRange is a range with edges at both ends, wrapping or not.
func anyRange(rng *rand.Rand, width int) Range {
	e := edges(width)
	return Range{e[rng.IntN(len(e))], e[rng.IntN(len(e))]}
}

func (r Range) has(code uint64, width int) bool {
	return (code-r.Lo)&(^uint64(0)>>(64-width)) <= r.Top
}

func TestSelectAndCount(t *testing.T) {
	forCodes(t, func(t *testing.T, s Set, rng *rand.Rand, width int, codes []uint64, c table.Codes) {
		r, among := anyRange(rng, width), selection(rng, len(codes))
		want, all := table.NewBitmap(len(codes)), uint64(0)
		for i, code := range codes {
			if r.has(code, width) {
				all++
				if among.Get(i) {
					want.Set(i)
				}
			}
		}
		got := selection(rng, len(codes)) // to be overwritten
		s.Select(got, among, c, r)
		if !slices.Equal(got, want) {
			t.Fatalf("%d codes, %+v: selected %x, want %x", len(codes), r, got, want)
		}
		if n := s.Count(c, r); n != all {
			t.Fatalf("%d codes, %+v: counted %d, want %d", len(codes), r, n, all)
		}
		if n := s.CountAmong(among, c, r); n != uint64(want.Count()) {
			t.Fatalf("%d codes, %+v: counted %d of the selected, want %d", len(codes), r, n, want.Count())
		}
		s.Select(among, among, c, r)
		if !slices.Equal(among, want) {
			t.Fatalf("%d codes, %+v: selected in place %x, want %x", len(codes), r, among, want)
		}
	})
}

// Every code of 8 and 16 bits against every kind of range.
func TestSelectOfEveryCode(t *testing.T) {
	for _, s := range Sets() {
		for _, width := range widths[:2] {
			codes := make([]uint64, 1<<width)
			for i := range codes {
				codes[i] = uint64(i)
			}
			c := codesOf(width, 0, codes)
			for _, lo := range edges(width) {
				for _, top := range edges(width) {
					r, want := Range{lo, top}, uint64(0)
					for _, code := range codes {
						if r.has(code, width) {
							want++
						}
					}
					if got := s.Count(c, r); got != want {
						t.Fatalf("%v, %d bits, %+v: %d, want %d", s, width, r, got, want)
					}
				}
			}
		}
	}
}

func TestSum(t *testing.T) {
	forCodes(t, func(t *testing.T, s Set, rng *rand.Rand, width int, codes []uint64, c table.Codes) {
		sel := selection(rng, len(codes))
		want := new(big.Int)
		for i, code := range codes {
			if sel.Get(i) {
				want.Add(want, new(big.Int).SetUint64(code))
			}
		}
		hi, lo := s.Sum(c, sel)
		got := new(big.Int).SetUint64(hi)
		got.Add(got.Lsh(got, 64), new(big.Int).SetUint64(lo))
		if got.Cmp(want) != 0 {
			t.Fatalf("%d codes: %v, want %v", len(codes), got, want)
		}
	})
}

// Lanes that would overflow in their own width after few rows.
func TestSumOfTheLargestCodes(t *testing.T) {
	const n = 1<<16 + 65
	for _, s := range Sets() {
		for _, width := range widths {
			last := ^uint64(0) >> (64 - width)
			sel := table.NewBitmap(n)
			for i := range n {
				sel.Set(i)
			}
			want := new(big.Int).Mul(new(big.Int).SetUint64(last), big.NewInt(n))
			hi, lo := s.Sum(codesOf(width, 1, slices.Repeat([]uint64{last}, n)), sel)
			got := new(big.Int).SetUint64(hi)
			if got.Add(got.Lsh(got, 64), new(big.Int).SetUint64(lo)).Cmp(want) != 0 {
				t.Errorf("%v, %d bits: %v, want %v", s, width, got, want)
			}
		}
	}
}

func TestExtremes(t *testing.T) {
	forCodes(t, func(t *testing.T, s Set, rng *rand.Rand, width int, codes []uint64, c table.Codes) {
		sel := selection(rng, len(codes))
		lo, hi := ^uint64(0)>>(64-width), uint64(0)
		for i, code := range codes {
			if sel.Get(i) {
				lo, hi = min(lo, code), max(hi, code)
			}
		}
		if gotLo, gotHi := s.Extremes(c, sel); sel.Count() > 0 && (gotLo != lo || gotHi != hi) {
			t.Fatalf("%d codes: %d..%d, want %d..%d", len(codes), gotLo, gotHi, lo, hi)
		}
	})
}

func TestMultiplyAdd(t *testing.T) {
	forCodes(t, func(t *testing.T, s Set, rng *rand.Rand, width int, codes []uint64, c table.Codes) {
		acc := random(rng, 64, len(codes)+1)[1:]
		coef := random(rng, 64, 1)[0]
		want := slices.Clone(acc)
		acc32, want32 := narrow[uint32](1, acc), narrow[uint32](0, acc)
		for i, code := range codes {
			want[i] += coef * code
			want32[i] += uint32(coef) * uint32(code)
		}
		s.MultiplyAdd64(acc, c, coef)
		if !slices.Equal(acc, want) {
			t.Fatalf("%d codes times %d: %d, want %d", len(codes), coef, acc, want)
		}
		if width == 64 {
			return
		}
		s.MultiplyAdd32(acc32, c, uint32(coef))
		if !slices.Equal(acc32, want32) {
			t.Fatalf("%d codes times %d: %d, want %d", len(codes), uint32(coef), acc32, want32)
		}
	})
}

func TestWhereAndBetween(t *testing.T) {
	for _, width := range widths {
		cases := edges(width)
		if width < 64 {
			cases = append(cases, 1<<width, ^uint64(0))
		}
		for _, k := range cases {
			for op := expr.CmpOp(0); op <= 5; op++ {
				r, ok := Where(op, k, width)
				for _, code := range edges(width) {
					holds := op.Holds(new(big.Int).SetUint64(code).Cmp(new(big.Int).SetUint64(k)))
					if got := ok && r.has(code, width); got != holds {
						t.Errorf("%d bits, %d %v %d: %v, want %v", width, code, op, k, got, holds)
					}
				}
			}
			for _, lo := range cases {
				r, ok := Between(min(lo, k), max(lo, k), width)
				for _, code := range edges(width) {
					want := min(lo, k) <= code && code <= max(lo, k)
					if got := ok && r.has(code, width); got != want {
						t.Errorf("%d bits, %d between %d and %d: %v, want %v", width, code, min(lo, k), max(lo, k), got, want)
					}
				}
			}
		}
	}
}

// A part of the codes has the results of those rows, for any rows.
func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom(widths).Draw(t, "width")
		codes := rapid.SliceOfN(rapid.Uint64Range(0, ^uint64(0)>>(64-width)), 1, 200).Draw(t, "codes")
		row := rapid.IntRange(0, len(codes)-1).Draw(t, "row")
		n := rapid.IntRange(0, len(codes)-row).Draw(t, "rows")
		c := Part(codesOf(width, 0, codes), row, n)
		if c.Len() != n || Width(c) != width {
			t.Fatalf("%d codes of %d bits, want %d of %d", c.Len(), Width(c), n, width)
		}
		for i := range n {
			if c.At(i) != codes[row+i] {
				t.Fatalf("code %d is %d, want %d", i, c.At(i), codes[row+i])
			}
		}
	})
}

func BenchmarkWords(b *testing.B) {
	const n = 1 << 14
	rng := rand.New(rand.NewPCG(1, 1))
	all := slices.Repeat([]uint64{^uint64(0)}, n/64)
	some := make([]uint64, n/64)
	for i := range some {
		some[i] = rng.Uint64()
	}
	dst := make([]uint64, n/64)
	for _, s := range Sets() {
		for _, width := range widths {
			codes := make([]uint64, n)
			for i := range codes {
				codes[i] = rng.Uint64() >> (64 - width)
			}
			c := codesOf(width, 0, codes)
			r := Range{1, 1<<(width-1) + 1<<(width-3)}
			acc := make([]uint64, n)
			for _, k := range []struct {
				name string
				run  func()
			}{
				{"select", func() { s.Select(dst, all, c, r) }},
				{"count", func() { s.Count(c, r) }},
				{"count among", func() { s.CountAmong(some, c, r) }},
				{"sum", func() { s.Sum(c, all) }},
				{"sum some", func() { s.Sum(c, some) }},
				{"extremes", func() { s.Extremes(c, all) }},
				{"extremes some", func() { s.Extremes(c, some) }},
				{"multiply", func() { s.MultiplyAdd64(acc, c, 12345) }},
			} {
				b.Run(fmt.Sprintf("%v/%d/%s", s, width, k.name), func(b *testing.B) {
					for b.Loop() {
						k.run()
					}
					b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/n*64*1e9, "ns/word")
				})
			}
		}
	}
}
