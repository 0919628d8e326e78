package compute_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// hardware is a device of which nothing runs.
var hardware = compute.Profile{Fuse: true, Multiprocessors: 100, MaxBlock: 1 << 31, MaxBlocks: 16, RegionRows: 1 << 25}

func agg(k expr.AggKind) expr.Aggregate {
	return expr.Aggregate{Kind: k, Col: 0, Name: "a", Arg: table.Type{Kind: table.BigInt}, F: 0.5, P: -1}
}

// explained lists the passes of a query without running any.
func explained(t *testing.T, d compute.Profile, q *physical.Query) []*pass.Pass {
	t.Helper()
	r := &pass.Recorder{}
	if _, err := answer(r, d, q); err != nil {
		t.Fatal(err)
	}
	return r.Plan()
}

func names(passes []*pass.Pass) string {
	var list []string
	for _, p := range passes {
		list = append(list, p.String())
	}
	return strings.Join(list, "; ")
}

func TestExplainNamesThePasses(t *testing.T) {
	tab := plantest.CodedTable(rand.New(rand.NewPCG(3, 4)), 20_000, 8, 1, false, false)
	all := &predicate.Pred{Op: predicate.True}
	for _, c := range []struct {
		where *predicate.Pred
		agg   expr.Aggregate
		want  string
	}{
		{plantest.LessThan(0, 60), expr.Aggregate{Kind: expr.CountAll, Col: -1}, "Popcount(a < 60)"},
		{all, expr.Aggregate{Kind: expr.CountAll, Col: -1}, ""},
		{all, agg(expr.Sum), "Accumulate(a)"},
		{all, agg(expr.Percentile), "Digits(a, bits 7..5); Decide(a, bits 7..5); Decide(a, bits 4..2)"},
	} {
		q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: c.where}}, Aggs: []expr.Aggregate{c.agg}}
		if got := names(explained(t, hardware, q)); got != c.want {
			t.Errorf("WHERE %v: %v has the passes %q, not %q", c.where, c.agg, got, c.want)
		}
	}
}

// One text serves every constant, and the same query gives the same text.
func TestConstantsAreNoMatterOfShape(t *testing.T) {
	tab := plantest.CodedTable(rand.New(rand.NewPCG(3, 4)), 20_000, 8, 1, false, true)
	text := func(code uint64) string {
		where := &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{plantest.LessThan(0, code), plantest.LessThan(1, 1)}}
		q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: where}}, Aggs: []expr.Aggregate{agg(expr.Sum)}}
		return explained(t, hardware, q)[0].Program.Text
	}
	for code := uint64(1); code < 200; code++ {
		if text(code) != text(3) {
			t.Fatalf("another text for the constant %d", code)
		}
	}
}

// The chunks of a column count the same digits in the same place, whatever their bases and
// dictionaries. The answers are those of the CPU.
func TestChunksShareTheDigitsOfASearch(t *testing.T) {
	integers := func(values ...int64) (list []table.Value) {
		for _, v := range values {
			list = append(list, table.Int(v))
		}
		return list
	}
	for _, x := range []struct {
		values []table.Value // two chunks of four
		passes string
	}{
		{integers(0, 1, 2, 7, 7, 3, 0, 5), "Digits(x, bits 2..0) 2"},
		{integers(0, 1, 2, 3, 64, 67, 65, 64), "Digits(x, bits 6..0) 2"},
		{integers(0, 1, 2, 7, 3, 6, 5, 4), "Digits(x, bits 2..0) 2"},
		{integers(0, 1<<40, 2, 1<<40+7, 1, 1<<32, 1<<33-1, 5),
			"Digits(x, bits 40..32) 2; Decide(x, bits 40..32) 2; " +
				"Decide(x, bits 31..29) 2; Decide(x, bits 28..26) 2; Decide(x, bits 25..23) 2; Decide(x, bits 22..20) 2; Decide(x, bits 19..17) 2; " +
				"Decide(x, bits 16..14) 2; Decide(x, bits 13..11) 2; Decide(x, bits 10..8) 2; Decide(x, bits 7..5) 2; Decide(x, bits 4..2) 2"},
		{[]table.Value{table.Str("a"), table.Str("d"), table.Str("f"), table.Str("d"), table.Str("b"), table.Str("d"), table.Str("c"), table.Str("b")},
			"Translate(x) 1; Digits(x, bits 2..0) 2"},
		{[]table.Value{table.Str("b"), table.Str("a"), table.Str("d"), table.Str("c"), table.Str("d"), table.Str("c"), table.Str("b"), table.Str("a")},
			"Digits(x, bits 1..0) 2"},
	} {
		b := table.NewBuilder("t", []table.Field{{Name: "x", Type: x.values[0].Type}}, 4)
		for _, v := range x.values {
			b.Column(0).Value(v)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: &predicate.Pred{Op: predicate.True}}, {Pred: &predicate.Pred{Op: predicate.True}}}}
		query := func(k int64) *physical.Query {
			kth := expr.Aggregate{Kind: expr.KthLargest, Col: 0, Name: "x", Arg: x.values[0].Type, K: k}
			return &physical.Query{Table: q.Table, Chunks: q.Chunks, Aggs: []expr.Aggregate{kth}}
		}
		var names []string
		times := map[string]int{}
		for _, p := range explained(t, hardware, query(1)) {
			if times[p.String()]++; times[p.String()] == 1 {
				names = append(names, p.String())
			}
		}
		for i, n := range names {
			names[i] = fmt.Sprintf("%s %d", n, times[n])
		}
		if got := strings.Join(names, "; "); got != x.passes {
			t.Errorf("%v: passes %s, want %s", x.values, got, x.passes)
		}
		gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
			for k := range x.values {
				compareWithCPU(t, g, compute.ProfileOf(ctx.Caps()), query(int64(k+1)), fmt.Sprint(x.values))
			}
		})
	}
}

// The first check that selects a record fails the query, and a rank outside the
// selection does after that.
func TestErrorsComeInOrder(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		tab := plantest.CodedTable(rand.New(rand.NewPCG(5, 6)), 1000, 8, 1, false, false)
		none := plantest.LeafOf(&predicate.Range{Col: 0, Lo: 1, Hi: tab.Chunks[0].Segments[0].Max, Text: "some"})
		first, second := errors.New("first"), errors.New("second")
		kth := agg(expr.KthLargest)
		kth.K = 100_000
		run := func(checks ...predicate.Check) error {
			_, err := answer(g, d, &physical.Query{Table: tab, Aggs: []expr.Aggregate{kth},
				Chunks: []physical.ChunkPlan{{Pred: &predicate.Pred{Op: predicate.True}, Checks: checks}}})
			g.End()
			return err
		}
		if err := run(predicate.Check{Pred: none, Err: first}, predicate.Check{Pred: none, Err: second}); err != first {
			t.Errorf("error %v, not that of the first check", err)
		}
		if err := run(predicate.Check{Pred: none, Err: second}); err != second {
			t.Errorf("error %v, not that of the check", err)
		}
		if err := run(predicate.Check{Pred: &predicate.Pred{Op: predicate.False}, Err: first}); err == nil || err == first {
			t.Errorf("error %v, not that of the rank", err)
		}
	})
}

// Trees with more leaves or storage blocks than a program takes are cut up.
func TestLargeTreesAgreeWithCPU(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(7, 8))
		d := compute.ProfileOf(ctx.Caps())
		d.Fuse = true
		tab := plantest.CodedTable(rng, 9000, 12, 1, false, true)
		for i, leaves := range []int{15, 40, 40} {
			if i == 2 { // on hardware
				d.Software, d.Multiprocessors, d.RegionRows = false, 2, 0
			}
			p := &predicate.Pred{Op: predicate.Or}
			for i := range leaves {
				p.Kids = append(p.Kids, plantest.LeafOf(&predicate.Compare{Col: i % 2, Op: expr.EQ, Code: uint64(1 + 37*i%1000), Text: fmt.Sprint("leaf ", i)}))
			}
			q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, agg(expr.Sum), agg(expr.Percentile)}}
			compareWithCPU(t, g, d, q, fmt.Sprint(leaves, " leaves"))
		}
	})
}

// A region for each multiprocessor: every record is looked at once, wherever the work
// groups run and whichever regions have none.
func TestRegionsCoverEveryRecord(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		d.Software, d.RegionRows = false, 0
		for _, rows := range []int{300, 100_001} {
			tab := plantest.UniformCodes(rows)
			and := &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{plantest.Semilinear(), plantest.LessThan(1, 300_000)}}
			for _, d.Multiprocessors = range []int{1, 3, 20} {
				for _, p := range []*predicate.Pred{plantest.Semilinear(), and} {
					q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
					if p == and {
						q.Aggs = append(q.Aggs, agg(expr.Sum), agg(expr.Percentile))
					}
					compareWithCPU(t, g, d, q, fmt.Sprint(rows, " rows, ", d.Multiprocessors, " regions"))
					compareWithCPU(t, g, d, q, "again")
				}
			}
		}
	})
}

// Wide columns with NULLs take three storage blocks each: a device with few blocks
// evaluates them a few at a time.
func TestWideColumnsOnDevicesWithFewBlocks(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(13, 14))
		tab := &table.Table{Name: "t", Chunks: []*table.Chunk{{Rows: 9000}}}
		p := &predicate.Pred{Op: predicate.And}
		for i := range 7 {
			name := string(rune('a' + i))
			tab.Fields = append(tab.Fields, table.Field{Name: name, Type: table.Type{Kind: table.BigInt}})
			tab.Chunks[0].Segments = append(tab.Chunks[0].Segments, plantest.Column(rng, 9000, 40, false, true))
			p.Kids = append(p.Kids, plantest.LeafOf(&predicate.Compare{Col: i, Op: expr.LT, Code: 1 << 39, Text: name + " < 2^39"}))
		}
		q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, agg(expr.Sum), agg(expr.Percentile)}}
		for _, blocks := range []int{8, 16} {
			d := compute.ProfileOf(ctx.Caps())
			d.Fuse, d.MaxBlocks = true, blocks
			compareWithCPU(t, g, d, q, fmt.Sprint(blocks, " blocks"))
		}
	})
}

// A selection reads its own columns only: the first one may be unsupported, without
// segments.
func TestSelectionsReadNoOtherColumn(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		tab := plantest.CodedTable(rand.New(rand.NewPCG(15, 16)), 9000, 12, 1, false, true)
		tab.Fields = append([]table.Field{{Name: "nested", Unsupported: "a nested type"}}, tab.Fields...)
		tab.Chunks[0].Segments = append([]*table.Segment{nil}, tab.Chunks[0].Segments...)
		below := func(col int) *predicate.Pred {
			return plantest.LeafOf(&predicate.Compare{Col: col, Op: expr.LT, Code: 0, Text: tab.Fields[col].Name + " < 0"})
		}
		p := &predicate.Pred{Op: predicate.Or, Kids: []*predicate.Pred{below(1), plantest.LeafOf(&predicate.NullTest{Col: 2, Text: "b IS NULL"})}}
		check := predicate.Check{Pred: &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{below(1), below(2)}}, Err: errors.New("a check")}
		median := expr.Aggregate{Kind: expr.Percentile, Col: 1, Name: "a", Arg: tab.Fields[1].Type, F: 0.5, P: -1}
		q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: p, Checks: []predicate.Check{check}}}, Aggs: []expr.Aggregate{median}}
		compareWithCPU(t, g, compute.ProfileOf(ctx.Caps()), q, "an unsupported column")
	})
}

// Rasterisers in software end the loops of a thread that takes too many steps. Few cores do not mean
// that a thread searches a long list for many records.
func TestLongSearchesInSoftware(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		const rows, spans = 1_200_000, 40_000
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(i) * 7
		}
		seg := &table.Segment{Type: table.Type{Kind: table.BigInt}, Base: table.OrdinalInt(0), Max: 7 * (rows - 1), Bits: 23, Codes: table.Codes{U32: codes}}
		m := &predicate.Members{Col: 0, Text: "a IN (...)"}
		for i := range uint64(spans) {
			m.Spans = append(m.Spans, predicate.Span{Lo: 210*i + 3, Hi: 210*i + 40})
		}
		tab := &table.Table{Name: "t", Fields: []table.Field{{Name: "a", Type: seg.Type}}, Chunks: []*table.Chunk{{Rows: rows, Segments: []*table.Segment{seg}}}}
		q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: plantest.LeafOf(m)}}, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, agg(expr.Sum)}}
		d := compute.ProfileOf(ctx.Caps())
		if d.Software {
			d.Multiprocessors = 1
		}
		compareWithCPU(t, g, d, q, "a long list")
		q.Aggs = q.Aggs[:1]
		compareWithCPU(t, g, d, q, "a long list, counted only")
	})
}

// A prepared query runs again, with other memory for its counts, and so do others
// between.
func TestQueriesRunAgain(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(9, 10))
		d := compute.ProfileOf(ctx.Caps())
		tab := plantest.CodedTable(rng, 5000, 10, 1, false, false)
		var queries []*physical.Query
		for code := range uint64(12) { // more than are kept
			queries = append(queries, &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: plantest.LessThan(0, 50*code+1)}},
				Aggs: []expr.Aggregate{agg(expr.Count), agg(expr.Sum)}})
		}
		for range 3 {
			for _, q := range queries {
				compareWithCPU(t, g, d, q, "again")
				compareWithCPU(t, g, d, q, "at once")
			}
		}
	})
}
