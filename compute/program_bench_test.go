package compute

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of what reads codes instead of planes: median wall time of the
// passes and a small read-back, all cases in turns.
//
//	go test -tags egl -run - -bench Values ./compute
//
// STENCILDB_BENCH_ROWS=268435456 picks another size.

// segmentOf fills a segment in parallel.
func segmentOf(typ table.Type, rows, bits int, f func(*rand.Rand) uint64) *table.Segment {
	seg := &table.Segment{Type: typ, Bits: bits, Max: ^uint64(0) >> (64 - bits)}
	if typ.Kind == table.BigInt {
		seg.Base = table.OrdinalInt(0)
	}
	if bits > 32 {
		seg.Codes.U64 = make([]uint64, rows)
	} else {
		seg.Codes.U32 = make([]uint32, rows)
	}
	var wg sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for g := range n {
		rng := rand.New(rand.NewPCG(uint64(bits), uint64(g)))
		wg.Go(func() {
			for i := rows * g / n; i < rows*(g+1)/n; i++ {
				if bits > 32 {
					seg.Codes.U64[i] = f(rng)
				} else {
					seg.Codes.U32[i] = uint32(f(rng))
				}
			}
		})
	}
	wg.Wait()
	return seg
}

func integerNode(op predicate.ValOp, lo, hi int64, kids ...*predicate.Val) *predicate.Val {
	return &predicate.Val{Op: op, Kids: kids, I: lo, Lo: big.NewInt(lo), Hi: big.NewInt(hi)}
}

// benchSemilinear is 3a + 7b - 2c + d < k, in 32 bits or, where wide, in 64.
func benchSemilinear(wide bool) *predicate.Computed {
	hi := int64(1 << 23)
	if wide {
		hi = 1 << 40
	}
	var sum *predicate.Val
	for i, c := range []int64{3, 7, -2, 1} {
		col := integerNode(predicate.Col, 0, 1<<19-1)
		col.Column, col.I = i, 0
		term := integerNode(predicate.MulV, -hi, hi, integerNode(predicate.Const, c, c), col)
		if sum == nil {
			sum = term
		} else {
			sum = integerNode(predicate.AddV, -hi, hi, sum, term)
		}
	}
	return &predicate.Computed{Op: expr.LT, L: sum, R: integerNode(predicate.Const, 2000000, 2000000), Text: "3*a + 7*b - 2*c + d < 2000000"}
}

// benchDouble is x * 2 + x < 1.
func benchDouble(col int) *predicate.Computed {
	x := &predicate.Val{Op: predicate.ColF, Column: col, Float: true}
	k := func(f float64) *predicate.Val { return &predicate.Val{Op: predicate.Const, Float: true, F: f} }
	node := func(op predicate.ValOp, a, b *predicate.Val) *predicate.Val {
		return &predicate.Val{Op: op, Float: true, Kids: []*predicate.Val{a, b}}
	}
	return &predicate.Computed{Op: expr.LT, L: node(predicate.AddV, node(predicate.MulV, x, k(2)), x), R: k(1), Shape: predicate.Expression, Text: "x * 2 + x < 1"}
}

func BenchmarkValues(b *testing.B) {
	rows := benchsize.Rows(b, 1<<22)
	c := &table.Chunk{Rows: rows}
	t := &table.Table{Name: "t", Chunks: []*table.Chunk{c}}
	add := func(name string, seg *table.Segment) int {
		t.Fields = append(t.Fields, table.Field{Name: name, Type: seg.Type})
		c.Segments = append(c.Segments, seg)
		return len(c.Segments) - 1
	}
	for i := range 4 {
		add(string(rune('a'+i)), segmentOf(table.Type{Kind: table.BigInt}, rows, 19, func(r *rand.Rand) uint64 { return r.Uint64() >> 45 }))
	}
	double := func(f func(*rand.Rand) float64) *table.Segment {
		return segmentOf(table.Type{Kind: table.Double}, rows, 64, func(r *rand.Rand) uint64 { return table.OrdinalFloat64(f(r)) })
	}
	unit := add("unit", double((*rand.Rand).Float64))
	normal := add("normal", double((*rand.Rand).NormFloat64))
	any := add("any", double(func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64() &^ (1 << 62)) }))
	two := add("two sizes", double(func(r *rand.Rand) float64 { return math.Ldexp(r.Float64(), 300*r.IntN(2)) }))
	real := add("real", segmentOf(table.Type{Kind: table.Real}, rows, 32, func(r *rand.Rand) uint64 {
		return uint64(table.OrdinalFloat32(r.Float32()))
	}))
	few, many, wide := spansOf(8, 1<<19), spansOf(5000, 1<<19), spansOf(5000, 1<<19)
	wide.Spans = append(wide.Spans, predicate.Span{Lo: 1 << 40, Hi: 1 << 40}) // too large for a bit a code
	gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
		e := chunkOf(ProfileOf(ctx.Caps()), t, 0)
		type benchCase struct {
			name string
			run  func() error
		}
		var cases []benchCase
		count := func(name string, leaf predicate.Leaf) {
			cases = append(cases, benchCase{name + ", count", func() error {
				e.valued = map[predicate.Leaf]*Node{}
				n, err := e.values(leaf)
				if err != nil {
					return err
				}
				s := sweep{op: n.named(nil), tree: n, selected: &number{}}
				return s.run(e, "")
			}})
		}
		count("semilinear in 32 bits", benchSemilinear(false))
		count("semilinear in 64 bits", benchSemilinear(true))
		cases = append(cases, benchCase{"semilinear, bitmap", func() error {
			e.valued = map[predicate.Leaf]*Node{}
			n, err := e.values(benchSemilinear(false))
			if err == nil {
				_, err = e.Mark(n)
			}
			return err
		}})
		count("x * 2 + x < 1", benchDouble(normal))
		for _, m := range []*predicate.Members{few, many, wide} {
			count(fmt.Sprintf("%d spans", len(m.Spans)), m)
		}
		for _, col := range []int{unit, normal, any, two, real} {
			cases = append(cases, benchCase{"sum of " + t.Fields[col].Name, func() error {
				e.floatSum(col, nil, e.Alloc(floatWords))
				return nil
			}})
		}
		times := make([][]time.Duration, len(cases))
		for round := range b.N + 1 {
			for i, x := range cases {
				start := time.Now()
				err := x.run()
				if err == nil {
					_, err = e.runs(g)
				}
				if err != nil {
					b.Error(x.name, err)
					return
				}
				if round > 0 {
					times[i] = append(times[i], time.Since(start))
				}
				g.End()
			}
		}
		for i, x := range cases {
			slices.SortFunc(times[i], cmp.Compare)
			b.Logf("%-40s %8.3f ms", x.name, float64(times[i][len(times[i])/2].Microseconds())/1000)
		}
	})
}

// spansOf makes n spans of single codes and short runs below top.
func spansOf(n int, top uint64) *predicate.Members {
	m := &predicate.Members{Col: 0, Text: fmt.Sprintf("a IN (%d spans)", n)}
	step := max(top/uint64(n), 4) // of codes: spans are disjoint
	for i := range uint64(n) {
		if lo := i * step; lo < top {
			m.Spans = append(m.Spans, predicate.Span{Lo: lo, Hi: min(lo+i%3, top-1)})
		}
	}
	return m
}
