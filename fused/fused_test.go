package fused_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// sample is a table of x and s in chunks whose minima differ. The codes of x are up to top, with many
// at the ends and around the powers of two, some NULL; s is 0..9.
func sample(rng *rand.Rand, rows, chunkRows int, top uint64, nulls bool) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: integer}, {Name: "s", Type: integer}}, chunkRows)
	for i := range rows {
		v := rng.Uint64()
		switch rng.IntN(4) {
		case 0:
			v = top - min(top, v%3)
		case 1:
			v = uint64(1)<<rng.IntN(64) + v%3 - 1
		}
		if v > top {
			v %= top + 1
		}
		if c := uint64(i / chunkRows); c > 0 && top > 1000 {
			v = v/(c+1) + top/7*c/(c+1) // another range in each chunk
		}
		if nulls && rng.IntN(4) == 0 {
			b.Column(0).Null()
		} else {
			b.Column(0).Int(table.IntFromOrdinal(v + (^uint64(0)-top)/2))
		}
		b.Column(1).Int(int64(rng.IntN(10)))
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

func column(i int) *expr.Column {
	return &expr.Column{Index: i, Name: []string{"x", "s"}[i], T: integer}
}

func compareTo(col int, op expr.CmpOp, v int64) expr.Expr {
	return &expr.Compare{Op: op, L: column(col), R: &expr.Const{V: table.Literal(v)}}
}

// check compares fused with the scalar oracle.
func check(t *testing.T, g *pass.GL, d predicates.Limits, tab *table.Table, where expr.Expr, aggs ...expr.Aggregate) {
	t.Helper()
	q := &plan.Fragment{Table: "t", Where: where, Aggs: aggs}
	p, err := physical.NewQuery(tab, q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := cpu.Scalar(context.Background(), tab, q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := answer(g, d, p)
	g.End()
	if err != nil {
		t.Fatalf("WHERE %v: %v", where, err)
	}
	if d := cmp.Diff(texts(want), texts(got)); d != "" {
		t.Errorf("WHERE %v, %v: %s", where, aggs, d)
	}
}

func texts(values []table.Value) (out []string) {
	for _, v := range values {
		out = append(out, v.String())
	}
	return out
}

// devices are this one, and one that keeps single attributes as depths where this
// one does not, or the reverse.
func devices(ctx *glctx.Context) []predicates.Limits {
	a := predicates.LimitsOf(ctx.Caps())
	b := a
	b.Software = !b.Software
	return []predicates.Limits{a, b}
}

func aggregatesOf(name string, col int) []expr.Aggregate {
	agg := func(k expr.AggKind) expr.Aggregate {
		return expr.Aggregate{Kind: k, Col: col, Name: name, Arg: integer, F: 0.3, K: 1}
	}
	return []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, agg(expr.Count), agg(expr.Sum), agg(expr.Avg), agg(expr.Min), agg(expr.Max), agg(expr.Percentile)}
}

// The boundaries of storage widths, of a word, and of the depth texture: 24 bits,
// one less with NULLs.
func TestAggregatesOfEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, top := range []uint64{0, 1, 1<<8 - 1, 1 << 8, 1<<16 - 1, 1<<22 - 1, 1 << 22, 1<<24 - 2, 1<<24 - 1, 1 << 24,
			1<<30 - 1, 1 << 30, 1<<32 - 1, 1 << 32, 1<<48 - 1, 1 << 48, 1<<63 - 1, ^uint64(0)} {
			for _, d := range devices(ctx) {
				tab := sample(rng, 2000, []int{700, 2000}[rng.IntN(2)], top, rng.IntN(2) == 0)
				check(t, g, d, tab, nil, aggregatesOf("x", 0)...)
				check(t, g, d, tab, compareTo(1, expr.LT, int64(1+rng.IntN(9))), aggregatesOf("x", 0)...)
			}
		}
	})
}

// A digit is counted by itself, as where rows stream. Chunks have codes with thresholds a digit apart, and others. Texts have a
// dictionary a chunk. Nearly all records are in one of the ranges.
func TestDigitsByThemselves(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	texts := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.Varchar}}, {Name: "s", Type: integer}}, 500)
	for range 2000 {
		texts.Column(0).String(fmt.Sprint("text ", rng.IntN(3000)))
		texts.Column(1).Int(int64(rng.IntN(10)))
		if err := texts.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tables := []*table.Table{texts.Table()}
	for _, top := range []uint64{1, 15, 1000, 1<<19 - 1, 1<<30 - 1, 1<<32 - 1, 1 << 40} {
		for _, chunkRows := range []int{700, 4000} {
			tables = append(tables, sample(rng, 4000, chunkRows, top, top%2 == 0))
		}
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for i, tab := range tables {
			for _, d := range devices(ctx) {
				for _, where := range []expr.Expr{nil, compareTo(1, expr.LT, int64(1+rng.IntN(9)))} {
					q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: where, Aggs: aggregatesOf("x", 0)[1:2]})
					if err != nil {
						t.Fatal(err)
					}
					s, err := fused.Select(g, d, q)
					if err != nil {
						t.Fatal(err)
					}
					space := physical.NewCodeSpace(tab, 0)
					for range 4 {
						digit := partial.Digit{Bits: 1 + rng.IntN(s.VisitBits())}
						digit.Shift = rng.IntN(space.Bits())
						digit.Bits = min(digit.Bits, 32-digit.Shift%32) // none both below and above bit 32
						digit.Lo = rng.Uint64N(space.Max()+1) >> (digit.Shift + digit.Bits) << (digit.Shift + digit.Bits)
						want := make([]uint64, len(digit.Thresholds(space)))
						for _, c := range tab.Chunks {
							for r := range c.Rows {
								if c.Segments[0].IsNull(r) || where != nil && c.Segments[1].Value(r).I >= where.(*expr.Compare).R.(*expr.Const).V.I {
									continue
								}
								for k, at := range digit.Thresholds(space) {
									if space.Code(c.Segments[0], c.Segments[0].Codes.At(r)) >= at {
										want[k]++
									}
								}
							}
						}
						got, err := s.CountAtLeast(0, space, digit)
						if err != nil || !slices.Equal(got, want) {
							t.Errorf("table %d, WHERE %v, %+v: %v, %v, want %v", i, where, digit, got, err, want)
						}
					}
					g.End()
				}
			}
		}
	})
}

// More chunks than their textures fit the budget: columns come and go, the answers
// stay.
func TestChunksBeyondTheBudget(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	gltest.Run(t, 48<<10, func(ctx *glctx.Context, g *pass.GL) {
		for _, top := range []uint64{1<<20 - 1, 1<<40 - 1} {
			tab := sample(rng, 8000, 800, top, true)
			for _, d := range devices(ctx) {
				check(t, g, d, tab, nil, aggregatesOf("x", 0)...)
				check(t, g, d, tab, compareTo(1, expr.LT, 5), aggregatesOf("x", 0)...)
				check(t, g, d, tab, compareTo(0, expr.LT, 5), aggregatesOf("s", 1)...)
			}
		}
	})
}

// Every operator, at codes at and beside the powers of two, with depths and without.
func TestComparisonsAreExactAtEveryCode(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, top := range []uint64{1<<22 - 1, 1<<24 - 1, 1 << 24, 1<<33 - 1} {
			for _, nulls := range []bool{false, true} {
				tab := sample(rng, 1500, 1500, top, nulls)
				seg := tab.Chunks[0].Segments[0]
				for b := range bits.Len64(seg.Max) {
					for _, d := range devices(ctx) {
						code := min(seg.Max, uint64(1)<<b+rng.Uint64N(3)-1)
						low, k := seg.Decode(code/2).I, seg.Decode(code).I
						count := expr.Aggregate{Kind: expr.CountAll, Col: -1}
						compare := compareTo(0, expr.CmpOp(rng.IntN(6)), k)
						between := &expr.Between{X: column(0), Lo: &expr.Const{V: table.Int(low)}, Hi: &expr.Const{V: table.Int(k)}}
						for _, e := range []expr.Expr{compare, between} {
							check(t, g, d, tab, e, count)
							check(t, g, d, tab, &expr.And{Kids: []expr.Expr{compareTo(1, expr.LT, 9), e}}, count)
						}
					}
				}
			}
		}
	})
}

// Chunks of every small number of rows: a line that is not full, one record.
func TestPaddingIsNeverCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 255, 257, 1023, 1024, 1025, 4097, 70001} {
			tab := sample(rng, rows, rows, 1000, rows%2 == 0)
			for _, d := range devices(ctx) {
				check(t, g, d, tab, nil, aggregatesOf("x", 0)...)
				check(t, g, d, tab, compareTo(1, expr.GE, 0), aggregatesOf("x", 0)...)
				check(t, g, d, tab, compareTo(1, expr.LT, 5), aggregatesOf("x", 0)...)
			}
		}
	})
}

// The second run of a query makes no GL object, and compiles nothing for other
// constants.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(27, 28)), 5000, 2000, 1<<20, true)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, d := range devices(ctx) {
			query := func(c int64) (int, map[string]int) {
				check(t, g, d, tab, compareTo(1, expr.LT, c), aggregatesOf("x", 0)...)
				return g.Programs().Len(), ctx.Live()
			}
			query(5)
			programs, live := query(6)
			again, liveAgain := query(7)
			if programs != again || !cmp.Equal(live, liveAgain) {
				t.Errorf("%d programs and %v, then %d and %v", programs, live, again, liveAgain)
			}
		}
	})
}

// EXPLAIN: a pass for the whole condition, whatever the number of attributes.
func TestPasses(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(31, 32)), 300_000, 300_000, 1<<20, true)
	and := &expr.And{Kids: []expr.Expr{compareTo(0, expr.LT, 5), &expr.Or{Kids: []expr.Expr{compareTo(1, expr.LT, 5), &expr.IsNull{X: column(0)}}}}}
	median := expr.Aggregate{Kind: expr.Percentile, Col: 0, Name: "x", Arg: integer, F: 0.5}
	count := expr.Aggregate{Kind: expr.CountAll, Col: -1}
	ofX := aggregatesOf("x", 0)
	for _, c := range []struct {
		where    expr.Expr
		aggs     []expr.Aggregate
		software bool
		want     []string
	}{
		{nil, []expr.Aggregate{count}, false, nil},
		{and, []expr.Aggregate{count}, false, []string{"Count(x < 5 AND (s < 5 OR x IS NULL))", "Merge"}},
		{and, []expr.Aggregate{count}, true, []string{"Count(x < 5 AND (s < 5 OR x IS NULL))"}},
		{compareTo(0, expr.LT, 5), []expr.Aggregate{count}, true, []string{"Count(x < 5)"}},
		{nil, ofX[2:3], false, []string{"Sum(x)", "Merge"}},
		{nil, ofX[4:5], false, []string{"Min(x)", "Merge"}},
		{nil, ofX[4:6], false, []string{"Min(x)", "Merge"}}, // MAX, too
		{compareTo(1, expr.LT, 5), []expr.Aggregate{median}, false, []string{"Select(s < 5)", "Count(", "Merge", "KthLargest(x WHERE s < 5): Count(x >= x + j * 2^i, j = 1..3)", "Merge"}},
		{compareTo(1, expr.LT, 5), []expr.Aggregate{median}, true, []string{"Select(s < 5)", "Count(", "Mark(x WHERE s < 5)", "KthLargest(x WHERE s < 5): Compare(x >= x + 2^i)"}},
	} {
		p, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: c.where, Aggs: c.aggs})
		if err != nil {
			t.Fatal(err)
		}
		r := &pass.Recorder{}
		if _, err := answer(r, predicates.Limits{Samplers: 16, Uniforms: 256, Software: c.software}, p); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range r.Plan() {
			got = append(got, q.String())
		}
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && strings.HasPrefix(got[i], strings.TrimSuffix(c.want[i], ")"))
		}
		if !ok {
			t.Errorf("WHERE %v, %v: passes %q, want %q", c.where, c.aggs, got, c.want)
		}
	}
}

// However many chunks there are, their results are read back once for a count of each, and merges come after
// all of what they merge.
func TestChunksAreReadBackAtOnce(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(35, 36)), 600_000, 300_000, 1<<40, true)
	for _, software := range []bool{false, true} {
		p, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: compareTo(1, expr.LT, 5), Aggs: aggregatesOf("x", 0)[5:6]})
		if err != nil {
			t.Fatal(err)
		}
		r := &reads{}
		if _, err := answer(r, predicates.Limits{Samplers: 16, Uniforms: 256, Software: software}, p); err != nil {
			t.Fatal(err)
		}
		if r.n != 2 {
			t.Errorf("read back %d times, for the count and for the maximum 2 are enough", r.n)
		}
		merged := false
		for _, q := range r.Passes {
			if _, counts := q.Op.(fused.Count); counts && merged {
				t.Errorf("%v comes after a merge", q)
			}
			_, merge := q.Op.(fused.Merge)
			merged = merged || merge
		}
		if merged == software {
			t.Errorf("software %v: counts are merged: %v", software, merged)
		}
	}
}

// reads counts how often results are read back.
type reads struct {
	pass.Recorder
	n int
}

func (r *reads) ReadTexels(t *textures.Temp, words []uint32) error {
	r.n++
	return r.Recorder.ReadTexels(t, words)
}

// What the CPU's renderer takes for a draw it is not given by the system anew, page by page.
func TestDrawsTakeNoNewMemory(t *testing.T) {
	tab := sample(rand.New(rand.NewPCG(39, 40)), 16_000, 1000, 1000, false)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		if !ctx.Caps().Software {
			return
		}
		p, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Aggs: aggregatesOf("x", 0)[2:3]})
		if err != nil {
			t.Fatal(err)
		}
		faults := func(queries int) int64 {
			var before, after unix.Rusage
			_ = unix.Getrusage(unix.RUSAGE_SELF, &before)
			for range queries {
				if _, err := answer(g, predicates.LimitsOf(ctx.Caps()), p); err != nil {
					t.Fatal(err)
				}
				g.End()
			}
			_ = unix.Getrusage(unix.RUSAGE_SELF, &after)
			return after.Minflt - before.Minflt
		}
		faults(20)
		if n := faults(200) / 200; n > 32 {
			t.Errorf("a query of 16 draws takes %d pages", n)
		}
	})
}

// Depths are compared where a table is small, also where it has several chunks, and their results need no pass.
func TestFewRecordsAreCountedByDepth(t *testing.T) {
	for rows, want := range map[int]bool{1 << 19: true, 1<<19 + 1000: false} {
		tab := sample(rand.New(rand.NewPCG(37, 38)), rows, 1<<17, 1000, false)
		p, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: compareTo(0, expr.LT, 5), Aggs: aggregatesOf("x", 0)[:1]})
		if err != nil {
			t.Fatal(err)
		}
		r := &pass.Recorder{}
		if _, err := answer(r, predicates.Limits{Samplers: 16, Uniforms: 256, Software: true}, p); err != nil {
			t.Fatal(err)
		}
		for _, q := range r.Passes {
			if _, depths := q.Op.(fused.CountDepths); depths != want {
				t.Errorf("%d rows: %v compares depths: %v", rows, q, depths)
			}
		}
	}
}

// A chunk of so many records that a second draw merges the partial results of software, too, and chunks of as many together.
func TestManyRecords(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := predicates.LimitsOf(ctx.Caps())
		d.Software = true
		check(t, g, d, uniform(1_100_037), compareTo(1, expr.LT, 100_000), aggregatesOf("a", 0)[2:5]...)
		several := uniform(700_000)
		several.Chunks = append(several.Chunks, uniform(999).Chunks[0], uniform(600_037).Chunks[0])
		check(t, g, d, several, compareTo(1, expr.LT, 100_000), aggregatesOf("a", 0)[2:]...)
	})
}

func TestTooManyTexturesAreDeclined(t *testing.T) {
	b := &table.Table{Name: "t", Chunks: []*table.Chunk{{Rows: 1}}}
	p := &predicate.Pred{Op: predicate.And}
	for i := range 5 {
		b.Fields = append(b.Fields, table.Field{Name: fmt.Sprint("a", i), Type: integer})
		b.Chunks[0].Segments = append(b.Chunks[0].Segments, &table.Segment{Type: integer, Max: 9, Bits: 4, Codes: table.Codes{U8: []uint8{9}}})
		p.Kids = append(p.Kids, plantest.LeafOf(&predicate.Compare{Col: i, Op: expr.LT, Code: 5, Text: "a < 5"}))
	}
	q := &physical.Query{Table: b, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
	_, err := answer(&pass.Recorder{}, predicates.Limits{Samplers: 4, Uniforms: 256}, q)
	if declined := (*plan.Declined)(nil); !errors.As(err, &declined) {
		t.Errorf("error %v", err)
	}
}

// OpenGL guarantees 256 vectors of uniforms; the compiler's error is not waited for.
func TestTooManyConstantsAreDeclined(t *testing.T) {
	seg := &table.Segment{Type: integer, Max: 999, Bits: 10, Codes: table.Codes{U16: []uint16{9}}}
	b := &table.Table{Name: "t", Fields: []table.Field{{Name: "a", Type: integer}}, Chunks: []*table.Chunk{{Rows: 1, Segments: []*table.Segment{seg}}}}
	for n, want := range map[int]bool{200: false, 300: true} {
		p := &predicate.Pred{Op: predicate.Or}
		for i := range n {
			p.Kids = append(p.Kids, plantest.LeafOf(&predicate.Compare{Col: 0, Op: expr.EQ, Code: uint64(3 * i), Text: "a = 3"}))
		}
		q := &physical.Query{Table: b, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
		_, err := answer(&pass.Recorder{}, predicates.Limits{Samplers: 16, Uniforms: 256}, q)
		if declined := (*plan.Declined)(nil); errors.As(err, &declined) != want {
			t.Errorf("%d constants: error %v", n, err)
		}
	}
}
