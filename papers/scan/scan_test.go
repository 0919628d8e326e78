package scan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/lab/labtest"
	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/primitives"
)

// TestMain keeps llvmpipe to one thread, as in package primitives.
func TestMain(m *testing.M) {
	if err := os.Setenv("LP_NUM_THREADS", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// composition composes functions x -> (p >> 16) * x + p of 16 bits: an operator that is associative and not commutative.
var composition = scan.Operator{Type: "uint", Operator: primitives.Operator{Name: "affine", Expr: "((a >> 16) * (b >> 16) << 16) | (((a & 0xffffu) * (b >> 16) + b) & 0xffffu)", Identity: "0x10000u"}}

type operator struct {
	scan.Operator
	identity uint32
	of       func(a, b uint32) uint32
}

func floats(of func(a, b float32) float32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		return math.Float32bits(of(math.Float32frombits(a), math.Float32frombits(b)))
	}
}

var affine = operator{composition, 0x10000, func(a, b uint32) uint32 { return (a>>16)*(b>>16)<<16 | ((a&0xffff)*(b>>16)+b)&0xffff }}

var operators = []operator{
	{scan.Uint(primitives.Add), 0, func(a, b uint32) uint32 { return a + b }},
	{scan.Operator{Type: "int", Operator: primitives.Operator{Name: "max of ints", Expr: "max(a, b)", Identity: "0x80000000"}}, 1 << 31, func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }},
	{scan.Operator{Type: "float", Operator: primitives.Operator{Name: "sum of floats", Expr: "a + b", Identity: "0.0"}}, 0, floats(func(a, b float32) float32 { return a + b })},
}

// elements are words that the operator takes; floats are small whole numbers, whose sums are exact.
func (o operator) elements(n int, random *rand.Rand) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		if list[i] = random.Uint32(); o.Type == "float" {
			list[i] = math.Float32bits(float32(list[i] >> 24))
		}
	}
	return list
}

var inSegments = []operator{affine, operators[2]}

// plain is the scan in plain Go of every stride-th word from at on.
func (o operator) plain(words []uint32, n, stride, at int, heads []uint32, exclusive bool) (out []uint32, total uint32) {
	out, sum := slices.Clone(words), o.identity
	for i := range n {
		x := &out[i*stride+at]
		if heads != nil && heads[i] != 0 {
			sum = o.identity
		}
		next := o.of(sum, *x)
		if *x = next; exclusive {
			*x = sum
		}
		sum = next
	}
	return out, sum
}

// check compares all scans of an array with plain Go.
func check(t interface {
	Fatalf(string, ...any)
}, d *lab.Device, s scan.Scanner, o operator, words []uint32, n, stride, at int, heads []uint32) {
	sum, kinds := func(v primitives.Vector, err error) (uint32, error) {
		if err != nil {
			return 0, err
		}
		w, err := v.Read(d.GL)
		if err != nil {
			return 0, err
		}
		return w[0], nil
	}, map[string]func(scan.Operator, scan.Array) (primitives.Vector, error){"inclusive": s.Inclusive, "exclusive": s.Exclusive, "Hillis-Steele": s.HillisSteele}
	for name, run := range kinds {
		a := scan.Array{Block: primitives.FromSlice(words), N: n, Stride: stride, At: at}
		if heads != nil {
			a.Heads = primitives.FromSlice(heads)
		}
		total, err := sum(run(o.Operator, a))
		if err != nil {
			t.Fatalf("%v", err)
		}
		got := words
		if len(words) > 0 {
			if got, err = a.Block.Read(d.GL); err != nil {
				t.Fatalf("%v", err)
			}
		}
		want, all := o.plain(words, n, stride, at, heads, name == "exclusive")
		if !slices.Equal(got, want) || total != all {
			at := 0
			for at < len(want) && got[at] == want[at] {
				at++
			}
			t.Fatalf("%s, %s of %d elements, stride %d, heads %v, %d threads: differs at word %d; the total is %#x, want %#x", name, o.Name, n, stride, heads != nil, s.Local, at, total, all)
		}
	}
	if heads != nil {
		return
	}
	total, err := sum(s.Reduce(o.Operator, scan.Array{Block: primitives.FromSlice(words), N: n, Stride: stride, At: at}))
	if _, want := o.plain(words, n, stride, at, nil, false); err != nil || total != want {
		t.Fatalf("%s reduces to %#x, %v, want %#x", o.Name, total, err, want)
	}
}

// Every size around chunks and powers of two, one to three levels of sums, every operator.
func TestSizes(t *testing.T) {
	d, random := labtest.Device(t), rand.New(rand.NewPCG(1, 2))
	if err := d.Query(t.Context(), func() error {
		s := scan.New(d, "test")
		check(t, d, s, affine, affine.elements(2053, random), 2053, 1, 0, nil)
		s.Local = 4
		for i, n := range []int{0, 1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 127, 129, 509, 1031} {
			if check(t, d, s, affine, affine.elements(n, random), n, 1, 0, nil); i%5 == 4 {
				for _, o := range operators {
					check(t, d, s, o, o.elements(n, random), n, 1, 0, nil)
				}
			}
		}
		// Work groups in two dimensions, some beyond the last chunk; then chunks of two elements.
		s.MaxGroups = 7
		check(t, d, s, affine, affine.elements(509, random), 509, 1, 0, nil)
		s = scan.New(d, "test")
		s.Local = 1
		check(t, d, s, affine, affine.elements(13, random), 13, 1, 0, nil)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A component of vectors is scanned, and segments are, as in plain Go.
func TestArraysAndSegments(t *testing.T) {
	d := labtest.Device(t)
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(inSegments).Draw(t, "operator")
		n, stride := rapid.SampledFrom([]int{31, 64, 100, 300}).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "stride")
		at, density := rapid.IntRange(0, stride-1).Draw(t, "at"), rapid.SampledFrom([]uint32{0, 1, 2, 10, 100}).Draw(t, "length")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		s := scan.New(d, "test")
		s.Local = 8
		var heads []uint32
		if density > 0 && n > 0 {
			heads = make([]uint32, n)
			for i := range heads {
				if random.Uint32N(density) == 0 {
					heads[i] = 1 + random.Uint32N(9)
				}
			}
		}
		words := o.elements(n*stride, random)
		if err := d.Query(t.Context(), func() error {
			check(t, d, s, o, words, n, stride, at, heads)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// What does not fit is refused by name.
func TestRefusals(t *testing.T) {
	d := labtest.Device(t)
	if err := d.Query(t.Context(), func() error {
		s, v := scan.New(d, "test"), primitives.New(10)
		odd := s
		odd.Local = 3
		for want, f := range map[string]func() (primitives.Vector, error){
			"3 threads":   func() (primitives.Vector, error) { return odd.Reduce(composition, scan.Over(v)) },
			"11 elements": func() (primitives.Vector, error) { return s.Inclusive(composition, scan.Array{Block: v, N: 11}) },
			"from word 2": func() (primitives.Vector, error) {
				return s.Inclusive(composition, scan.Array{Block: v, N: 1, Stride: 2, At: 2})
			},
			"-1 elements": func() (primitives.Vector, error) { return s.Inclusive(composition, scan.Array{Block: v, N: -1}) },
			"from word -1": func() (primitives.Vector, error) {
				return s.Inclusive(composition, scan.Array{Block: v, N: 1, Stride: 2, At: -1})
			},
			"0 elements, every 2 words from word 3": func() (primitives.Vector, error) {
				return s.Inclusive(composition, scan.Array{Block: v, Stride: 2, At: 3})
			},
			"5 heads": func() (primitives.Vector, error) {
				return s.Inclusive(composition, scan.Array{Block: v, N: 10, Heads: v.First(5)})
			},
			"no segments": func() (primitives.Vector, error) { return s.Reduce(composition, scan.Array{Block: v, N: 10, Heads: v}) },
			"every 2 words": func() (primitives.Vector, error) {
				return s.Exclusive(composition, scan.Array{Block: v, N: 6, Stride: 2})
			},
		} {
			if _, err := f(); err == nil || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%v, want that it says %q", err, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
