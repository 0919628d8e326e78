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
func forCodes(t *testing.T, check func(t *testing.T, rng *rand.Rand, width int, codes []uint64, c Codes)) {
	for _, s := range Sets() {
		for _, width := range widths {
			t.Run(fmt.Sprintf("%v/%d", s, width), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, uint64(width)))
				for n := range 301 {
					codes := random(rng, width, n)
					check(t, rng, width, codes, s.Of(codesOf(width, n%5, codes)))
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

func TestSelect(t *testing.T) {
	forCodes(t, func(t *testing.T, rng *rand.Rand, width int, codes []uint64, c Codes) {
		r, among := anyRange(rng, width), selection(rng, len(codes))
		want := table.NewBitmap(len(codes))
		for i, code := range codes {
			if r.has(code, width) && among.Get(i) {
				want.Set(i)
			}
		}
		got := selection(rng, len(codes)) // to be overwritten
		c.Select(got, among, 0, r)
		if !slices.Equal(got, want) {
			t.Fatalf("%d codes, %+v: selected %x, want %x", len(codes), r, got, want)
		}
		c.Select(among, among, 0, r)
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
			c := s.Of(codesOf(width, 0, codes))
			all, got := slices.Repeat([]uint64{^uint64(0)}, len(codes)/64), table.NewBitmap(len(codes))
			for _, lo := range edges(width) {
				for _, top := range edges(width) {
					r, want := Range{lo, top}, 0
					for _, code := range codes {
						if r.has(code, width) {
							want++
						}
					}
					if c.Select(got, all, 0, r); got.Count() != want {
						t.Fatalf("%v, %d bits, %+v: %d, want %d", s, width, r, got.Count(), want)
					}
				}
			}
		}
	}
}

func TestSum(t *testing.T) {
	forCodes(t, func(t *testing.T, rng *rand.Rand, width int, codes []uint64, c Codes) {
		sel := selection(rng, len(codes))
		want := new(big.Int)
		for i, code := range codes {
			if sel.Get(i) {
				want.Add(want, new(big.Int).SetUint64(code))
			}
		}
		hi, lo := c.Sum(sel, 0)
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
			hi, lo := s.Of(codesOf(width, 1, slices.Repeat([]uint64{last}, n))).Sum(sel, 0)
			got := new(big.Int).SetUint64(hi)
			if got.Add(got.Lsh(got, 64), new(big.Int).SetUint64(lo)).Cmp(want) != 0 {
				t.Errorf("%v, %d bits: %v, want %v", s, width, got, want)
			}
		}
	}
}

func TestExtremes(t *testing.T) {
	forCodes(t, func(t *testing.T, rng *rand.Rand, width int, codes []uint64, c Codes) {
		sel := selection(rng, len(codes))
		lo, hi := ^uint64(0)>>(64-width), uint64(0)
		for i, code := range codes {
			if sel.Get(i) {
				lo, hi = min(lo, code), max(hi, code)
			}
		}
		if gotLo, gotHi := c.Extremes(sel, 0); sel.Count() > 0 && (gotLo != lo || gotHi != hi) {
			t.Fatalf("%d codes: %d..%d, want %d..%d", len(codes), gotLo, gotHi, lo, hi)
		}
	})
}

func TestMultiplyAdd(t *testing.T) {
	forCodes(t, func(t *testing.T, rng *rand.Rand, width int, codes []uint64, c Codes) {
		acc := random(rng, 64, len(codes)+1)[1:]
		coef := random(rng, 64, 1)[0]
		want := slices.Clone(acc)
		acc32, want32 := narrow[uint32](1, acc), narrow[uint32](0, acc)
		for i, code := range codes {
			want[i] += coef * code
			want32[i] += uint32(coef) * uint32(code)
		}
		c.MultiplyAdd64(acc, 0, coef)
		if !slices.Equal(acc, want) {
			t.Fatalf("%d codes times %d: %d, want %d", len(codes), coef, acc, want)
		}
		c.MultiplyAdd32(acc32, 0, uint32(coef))
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

// From any row on, the results are those of the rows from there.
func TestFromAnyRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom(widths).Draw(t, "width")
		codes := rapid.SliceOfN(rapid.Uint64Range(0, ^uint64(0)>>(64-width)), 1, 200).Draw(t, "codes")
		row := rapid.IntRange(0, len(codes)-1).Draw(t, "row")
		n := rapid.IntRange(0, len(codes)-row).Draw(t, "rows")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		sel, r, members := selection(rng, n), anyRange(rng, width), random(rng, 64, 1<<8)
		var gathered, loaded, selected []uint64
		var inTable []int
		sum := new(big.Int)
		for i, code := range codes[row : row+n] {
			loaded = append(loaded, code+7)
			if width == 8 && table.Bitmap(members).Get(int(code)) {
				inTable = append(inTable, i)
			}
			if sel.Get(i) {
				gathered = append(gathered, code)
				sum.Add(sum, new(big.Int).SetUint64(code))
				if r.has(code, width) {
					selected = append(selected, code)
				}
			}
		}
		for _, s := range Sets() {
			c := s.Of(codesOf(width, 0, codes))
			if got := c.Gather(nil, sel, row); c.Width() != width || !slices.Equal(got, gathered) {
				t.Fatalf("%v: gathered %v of %d bits, want %v of %d", s, got, c.Width(), gathered, width)
			}
			load := make([]int64, n)
			c.Load(load, row, 7)
			for i, v := range load {
				if uint64(v) != loaded[i] {
					t.Fatalf("%v: code %d is loaded as %d, want %d", s, i, uint64(v), loaded[i])
				}
			}
			out := table.NewBitmap(n)
			c.Select(out, sel, row, r)
			if got := c.Gather(nil, out, row); !slices.Equal(got, selected) {
				t.Fatalf("%v: selected %v, want %v", s, got, selected)
			}
			if hi, lo := c.Sum(sel, row); new(big.Int).Rsh(sum, 64).Uint64() != hi || new(big.Int).And(sum, new(big.Int).SetUint64(^uint64(0))).Uint64() != lo {
				t.Fatalf("%v: sum %d * 2^64 + %d, want %v", s, hi, lo, sum)
			}
			if width == 8 {
				c.Members(out, row, members)
				for i := range n {
					if out.Get(i) != slices.Contains(inTable, i) {
						t.Fatalf("%v: row %d is a member: %v", s, i, out.Get(i))
					}
				}
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
			c := s.Of(codesOf(width, 0, codes))
			r := Range{1, 1<<(width-1) + 1<<(width-3)}
			acc := make([]uint64, n)
			for _, k := range []struct {
				name string
				run  func()
			}{
				{"select", func() { c.Select(dst, all, 0, r) }},
				{"select some", func() { c.Select(dst, some, 0, r) }},
				{"sum", func() { c.Sum(all, 0) }},
				{"sum some", func() { c.Sum(some, 0) }},
				{"extremes", func() { c.Extremes(all, 0) }},
				{"extremes some", func() { c.Extremes(some, 0) }},
				{"multiply", func() { c.MultiplyAdd64(acc, 0, 12345) }},
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
