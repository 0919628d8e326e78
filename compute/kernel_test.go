package compute_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
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

// pieces makes a table of chunks of different sizes, bases and shapes. Columns a and b are integers,
// of which every third chunk may have NULLs; c is a DOUBLE.
func pieces(rng *rand.Rand, chunks, width int) *table.Table {
	t := &table.Table{Name: "t", Fields: []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}},
		{Name: "b", Type: table.Type{Kind: table.BigInt}}, {Name: "c", Type: table.Type{Kind: table.Double}}}}
	for i := range chunks {
		rows := []int{1, 129, 3000, 8193, 9001}[rng.IntN(5)]
		a, b, c := plantest.Column(rng, rows, width, false, i%3 == 1), plantest.Column(rng, rows, 9, i%5 == 2, false), plantest.Column(rng, rows, 20, false, i%3 == 1)
		if width < 60 {
			a.Base += rng.Uint64N(1 << width)
		}
		c.Type, c.Base = table.Type{Kind: table.Double}, table.OrdinalFloat64(float64(1+i%4))
		t.Chunks = append(t.Chunks, &table.Chunk{Rows: rows, Segments: []*table.Segment{a, b, c}})
	}
	return t
}

// One program over several chunks, with a region for each multiprocessor or without, gives the answers
// of the CPU, whatever the chunks have in common.
func TestProgramsGoOverSeveralChunks(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		rng := rand.New(rand.NewPCG(31, 32))
		for i, chunks := range []int{3, 4, 4} {
			d := compute.ProfileOf(ctx.Caps())
			d.Software, d.Fuse, d.Multiprocessors, d.RegionRows, d.Together = false, i%2 == 0, 1, []int{0, 1 << 40}[i%2], []int{16, 2, 2}[i] // arrays of many blocks take llvmpipe long to compile
			if i == 2 {
				d.WindowRows = 8192
			}
			tab := pieces(rng, chunks, []int{33, 12, 9}[i])
			for _, where := range []func(c *table.Chunk) *predicate.Pred{
				func(*table.Chunk) *predicate.Pred { return &predicate.Pred{Op: predicate.True} },
				func(*table.Chunk) *predicate.Pred { return plantest.LessThan(1, 200) },
				func(c *table.Chunk) *predicate.Pred { return plantest.DrawPredicate(rng, c, 2) },
			} {
				q := &physical.Query{Table: tab, Aggs: append(everyAggregate(rng, 0, "a")[:8], everyAggregate(rng, 1, "b")[3])}
				q.Aggs = append(q.Aggs, expr.Aggregate{Kind: expr.Sum, Col: 2, Name: "c", Arg: tab.Fields[2].Type, P: -1})
				for _, c := range tab.Chunks {
					q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: where(c)})
				}
				compareWithCPU(t, g, d, q, fmt.Sprint(chunks, " chunks"))
				q = &physical.Query{Table: tab, Chunks: q.Chunks, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
				compareWithCPU(t, g, d, q, fmt.Sprint(chunks, " chunks, counted"))
			}
		}
	})
}

// Chunks have one program and yet different columns with NULLs, or without any value: the values of a
// column are those of each chunk.
func TestValuesAreCountedWhereverNullsLie(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	tab := plantest.CodedTable(rng, 300, 9, 4, false, false)
	tab.Fields = append(slices.Clip(tab.Fields), table.Field{Name: "c", Type: table.Type{Kind: table.BigInt}})
	for i, c := range tab.Chunks {
		c.Segments = []*table.Segment{plantest.Column(rng, 300, 9, false, i > 1), plantest.Column(rng, 300, 9, false, false), plantest.Column(rng, 300, 9, false, true)}
	}
	empty := plantest.Column(rng, 300, 0, false, true)
	empty.Valid, empty.Nulls = table.NewBitmap(300), 300
	tab.Chunks[3].Segments[0] = empty
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		for range 2 {
			q := &physical.Query{Table: tab}
			for col, name := range []string{"a", "b", "c"} {
				q.Aggs = append(q.Aggs, expr.Aggregate{Kind: expr.Count, Col: col, Name: name, Arg: tab.Fields[col].Type, P: -1})
			}
			for range tab.Chunks {
				q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: plantest.LessThan(1, 200)})
			}
			compareWithCPU(t, g, d, q, "counts")
			d.Software, d.Fuse, d.Multiprocessors, d.Together = false, true, 1, 4
		}
	})
}

// The programs of chunks whose codes lie in different bits are the same text; their sums are of
// different weights.
func TestSumsOfCodesInDifferentBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	tab := plantest.CodedTable(rng, 300, 6, 6, false, false)
	for i, c := range tab.Chunks {
		for _, seg := range c.Segments[:2] {
			base, codes := seg.Base, make([]uint64, 300)
			for row := range codes {
				codes[row] = rng.Uint64N(64) << []int{0, 16, 24, 32, 0, 48}[i]
			}
			*seg = table.Segment{Type: seg.Type, Base: base, Max: slices.Max(codes)}
			seg.Bits = bits.Len64(seg.Max)
			seg.Codes = table.Narrow(codes, seg.Bits)
		}
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		for range 2 {
			q := &physical.Query{Table: tab}
			for col, name := range []string{"a", "b"} {
				q.Aggs = append(q.Aggs, expr.Aggregate{Kind: expr.Sum, Col: col, Name: name, Arg: tab.Fields[col].Type, P: -1})
			}
			for range tab.Chunks {
				q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: &predicate.Pred{Op: predicate.True}})
			}
			compareWithCPU(t, g, d, q, "sums")
			d.Software, d.Fuse, d.Multiprocessors, d.Together = false, true, 1, 4
		}
	})
}

// Snapshots of a table with as many chunks, and other constants, share the texts of their programs.
func TestSnapshotsSharePrograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		tab, programs := plantest.CodedTable(rng, 2000, 12, 3, false, true), 0
		for i := range uint64(4) {
			q := &physical.Query{Table: tab, Aggs: []expr.Aggregate{agg(expr.Sum), agg(expr.Percentile)}}
			for range tab.Chunks {
				q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: plantest.LessThan(0, 100+i)})
			}
			compareWithCPU(t, g, d, q, "a snapshot")
			if i > 0 && g.Programs().Len() != programs {
				t.Errorf("%d programs with snapshot %d, %d before", g.Programs().Len(), i, programs)
			}
			programs = g.Programs().Len()
			next, more := *tab, plantest.CodedTable(rng, 3000, 12, 1, false, true).Chunks
			next.Chunks = append(slices.Clip(tab.Chunks[1:]), more...)
			tab = &next
		}
	})
}

// Chunks that are alike take as many passes as storage blocks ask for, not one pass a chunk. They take
// one pass where programs find blocks by their addresses.
func TestChunksShareDispatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tab := plantest.CodedTable(rng, 20_000, 8, 16, false, false)
	for i, c := range tab.Chunks {
		c.Segments[0].Base += uint64(3 * i)
		c.Segments[1] = plantest.Column(rng, 20_000, 9, false, false)
	}
	device := hardware
	device.Together = 16
	for _, x := range []struct {
		where *predicate.Pred
		agg   expr.Aggregate
		want  string
	}{
		{plantest.LessThan(1, 60), expr.Aggregate{Kind: expr.CountAll, Col: -1}, "Popcount(b < 60) x2"},
		{&predicate.Pred{Op: predicate.True}, agg(expr.Sum), "Accumulate(a) x2"},
		{plantest.LessThan(1, 60), agg(expr.Sum), "Accumulate(a) x3"},
		{&predicate.Pred{Op: predicate.True}, agg(expr.Percentile), "Digits(a, bits 8..6) x2; Decide(a, bits 8..6) x2; Decide(a, bits 5..3) x2"},
		{plantest.LessThan(1, 60), agg(expr.Percentile), "Digits(a, bits 8..6) x3; Decide(a, bits 8..6) x2; Decide(a, bits 5..3) x2"},
	} {
		q := &physical.Query{Table: tab, Aggs: []expr.Aggregate{x.agg}}
		for range tab.Chunks {
			q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: x.where})
		}
		var got []string
		n := 0
		passes := explained(t, device, q)
		for i, p := range passes {
			if n++; i+1 == len(passes) || passes[i+1].String() != p.String() {
				got, n = append(got, fmt.Sprintf("%v x%d", p, n)), 0
			}
		}
		if s := strings.Join(got, "; "); s != x.want {
			t.Errorf("WHERE %v: %v has the passes %s, want %s", x.where, x.agg, s, x.want)
		}
		addressing, alone := device, 0
		addressing.Addresses = true
		for _, p := range explained(t, addressing, q) {
			if alone++; len(p.Dispatch.Addressed)%len(tab.Chunks) != 0 || len(p.Dispatch.Addressed) == 0 {
				t.Errorf("WHERE %v: pass %v of %v reads %d blocks by their addresses", x.where, p, x.agg, len(p.Dispatch.Addressed))
			}
		}
		if alone != len(got) {
			t.Errorf("WHERE %v: %v has %d passes with addresses, %d different ones", x.where, x.agg, alone, len(got))
		}
	}
}
