package compute_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of stars of joins in the shapes of the Star Schema Benchmark's queries. It goes from the
// dispatch to the states of the groups, and reports the median wall time:
//
//	STENCILDB_BENCH_ROWS=120000000 go test -tags egl -run - -bench Stars ./compute
func BenchmarkStars(b *testing.B) { gltest.EachSize(b, benchmarkStars) }

// dimension is one of so many places, of which a share has a partner, with digits below size; none where it
// is 0.
func dimension(name string, col, places int, share float64, size int) *physical.Dimension {
	rng := rand.New(rand.NewPCG(3, uint64(col)))
	bits, digits := make([]uint32, (places+31)/32), make([]uint8, places)
	for i := range digits {
		if rng.Float64() < share {
			bits[i/32] |= 1 << (i % 32)
			digits[i] = 1 + uint8(rng.IntN(max(1, size)))
		}
	}
	d := &physical.Dimension{Name: name, Col: col, Base: table.OrdinalInt(0), Share: share, Size: max(1, size)}
	d.Bits = physical.CodesChunk(table.Codes{U32: bits}, math.MaxUint32)
	if size > 0 {
		d.Digits = physical.CodesChunk(table.Codes{U8: digits}, uint64(size))
	}
	return d
}

// facts are the columns of a lineorder of scale 20 that joins read, with values from 0 on.
func facts(rows int) *table.Table {
	integer := table.Type{Kind: table.BigInt}
	t := &table.Table{Name: "lineorder"}
	c := &table.Chunk{Rows: rows}
	var wg sync.WaitGroup
	for i, f := range []struct {
		name string
		n    uint64
		bits int
	}{{"custkey", 600_000, 20}, {"partkey", 1_000_000, 20}, {"suppkey", 40_000, 16}, {"orderdate", 70_000, 17}, {"revenue", 10_000_000, 24}, {"supplycost", 126_000, 17}} {
		seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Max: f.n - 1, Bits: f.bits}
		if f.bits > 16 {
			seg.Codes.U32 = make([]uint32, rows)
		} else {
			seg.Codes.U16 = make([]uint16, rows)
		}
		const part = 1 << 20
		for from := 0; from < rows; from += part {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(from)))
				for k := from; k < min(rows, from+part); k++ {
					if v := rng.Uint64N(f.n); f.bits > 16 {
						seg.Codes.U32[k] = uint32(v)
					} else {
						seg.Codes.U16[k] = uint16(v)
					}
				}
			})
		}
		t.Fields, c.Segments = append(t.Fields, table.Field{Name: f.name, Type: integer}), append(c.Segments, seg)
	}
	wg.Wait()
	t.Chunks = []*table.Chunk{c}
	return t
}

func benchmarkStars(b *testing.B, rows int) {
	integer := table.Type{Kind: table.BigInt}
	tab := facts(rows)
	sum := func(cols ...int) (list []expr.Aggregate) {
		for _, c := range cols {
			list = append(list, expr.Aggregate{Kind: expr.Sum, Col: c, Name: tab.Fields[c].Name, Arg: integer})
		}
		return list
	}
	customer := func(share float64, size int) *physical.Dimension {
		return dimension("customer", 0, 600_000, share, size)
	}
	part := func(share float64, size int) *physical.Dimension { return dimension("part", 1, 1_000_000, share, size) }
	supplier := func(share float64, size int) *physical.Dimension {
		return dimension("supplier", 2, 40_000, share, size)
	}
	date := func(share float64, size int) *physical.Dimension { return dimension("date", 3, 70_000, share, size) }
	queries := map[string]*physical.Query{}
	for _, c := range []struct {
		name string
		aggs []expr.Aggregate
		star []*physical.Dimension
	}{
		{"count", []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}, []*physical.Dimension{part(0.04, 0)}},
		{"Q2.1", sum(4), []*physical.Dimension{date(1, 7), part(0.04, 40), supplier(0.2, 0)}},
		{"Q3.1", sum(4), []*physical.Dimension{customer(0.2, 5), supplier(0.2, 5), date(6./7, 6)}},
		{"Q3.3", sum(4), []*physical.Dimension{customer(0.008, 2), supplier(0.008, 2), date(6./7, 6)}},
		{"Q4.1", sum(4, 5), []*physical.Dimension{customer(0.2, 5), supplier(0.2, 0), part(0.4, 0), date(1, 7)}},
		{"Q4.3", sum(4, 5), []*physical.Dimension{customer(0.2, 0), supplier(0.04, 10), part(0.04, 40), date(2./7, 2)}},
	} {
		q, err := physical.NewQuery(tab, &plan.Fragment{Table: "lineorder", Groups: &plan.Aggregate{Aggs: c.aggs}})
		if err != nil {
			b.Fatal(err)
		}
		q.Star = c.star
		q.Columns = q.GroupInputColumns()
		queries[c.name] = q
	}
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		var runs []*gltest.Timed
		for _, name := range slices.Sorted(maps.Keys(queries)) {
			q := queries[name]
			runs = append(runs, &gltest.Timed{Name: name, Do: func() error {
				states, err := compute.Groups(g, d, q)
				g.End()
				if err == nil && len(states) != 1 {
					err = fmt.Errorf("%d chunks have groups", len(states))
				}
				return err
			}})
		}
		gltest.InTurns(b, gl, 9, runs)
	})
}
