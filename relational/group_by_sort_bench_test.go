package relational_test

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of GROUP BY with COUNT(*) and SUM of 19 bits, from the dispatch to the answers in values. It
// reports the median wall time with 1,000 groups that are alike, with 90 % of the rows in one of them, and with
// 65,536. It reports cpu's with 1,000, too:
//
//	go test -tags egl -run - -bench Groups ./compute
//
// STENCILDB_BENCH_ROWS picks the sizes, as for BenchmarkQuery.
func BenchmarkGroups(b *testing.B) { gltest.EachSize(b, benchmarkGroups) }

// The benchmark of MAX over groups by five eighths as many values as there are rows, of which two thirds come. It goes until the
// states are on the device, until they are in host memory, and until there are values. It takes some seconds a run.
//
//	go test -tags egl -run - -bench ManyKeys ./compute
func BenchmarkManyKeys(b *testing.B) { gltest.EachSize(b, benchmarkManyKeys) }

func benchmarkManyKeys(b *testing.B, rows int) {
	integer := table.Type{Kind: table.BigInt}
	tab := keyed(rows, 1, false)
	key := tab.Chunks[0].Segments[0]
	key.Max, key.Codes = uint64(rows*5/8-1), table.Codes{U32: make([]uint32, rows)}
	key.Bits = bits.Len64(key.Max)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range key.Codes.U32 {
		key.Codes.U32[i] = uint32(rng.Uint64N(key.Max + 1))
	}
	n := &plan.Aggregate{Keys: []expr.Expr{&expr.Column{Index: 0, Name: "k", T: integer}}, Aggs: []expr.Aggregate{{Kind: expr.Max, Col: 1, Name: "x", Arg: integer}}}
	q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Groups: n})
	if err != nil {
		b.Fatal(err)
	}
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		find := func(run pass.Runner) error {
			_, err := relational.ManyGroups(run, d, q)
			return err
		}
		states, values := &gltest.Timed{Name: "states"}, &gltest.Timed{Name: "values"}
		for range 4 {
			start := time.Now()
			found, err := relational.ManyGroups(g, d, q)
			g.End()
			at := time.Since(start)
			for range aggregation.GroupStates(context.Background(), tab, n, found) {
			}
			if err != nil {
				b.Fatal(err)
			}
			states.Took, values.Took = append(states.Took, at), append(values.Took, time.Since(start))
		}
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		for _, x := range []*gltest.Timed{states, values} {
			b.ReportMetric(float64(slices.Min(x.Took).Nanoseconds())/1e6, x.Name+"-ms")
		}
		gltest.LeftThere(b, "max", g, gl, find)
		gltest.LogPasses(b, "MAX of many groups", g, gl, find)
	})
}

// keyed makes a table of a key with so many values, of which one may be hot, and x of 19 bits.
func keyed(rows, groups int, hot bool) *table.Table {
	integer := table.Type{Kind: table.BigInt}
	key := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Max: uint64(groups - 1), Bits: 16}
	x := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Max: 1<<19 - 1, Bits: 19}
	key.Codes.U16, x.Codes.U32 = make([]uint16, rows), make([]uint32, rows)
	var wg sync.WaitGroup
	const part = 1 << 20
	for from := 0; from < rows; from += part {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(from)))
			for i := from; i < min(rows, from+part); i++ {
				x.Codes.U32[i] = rng.Uint32() >> 13
				if key.Codes.U16[i] = uint16(groups / 2); !hot || rng.IntN(10) == 0 {
					key.Codes.U16[i] = uint16(rng.IntN(groups))
				}
			}
		})
	}
	wg.Wait()
	return &table.Table{Name: "t", Fields: []table.Field{{Name: "k", Type: integer}, {Name: "x", Type: integer}},
		Chunks: []*table.Chunk{{Rows: rows, Segments: []*table.Segment{key, x}}}}
}

func benchmarkGroups(b *testing.B, rows int) {
	integer := table.Type{Kind: table.BigInt}
	n := &plan.Aggregate{Keys: []expr.Expr{&expr.Column{Index: 0, Name: "k", T: integer}},
		Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, {Kind: expr.Sum, Col: 1, Name: "x", Arg: integer}}}
	ctx := context.Background()
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		var list []*gltest.Timed
		for _, c := range []struct {
			name   string
			groups int
			hot    bool
		}{{"uniform", 1000, false}, {"hot", 1000, true}, {"groups65536", 1 << 16, false}} {
			tab := keyed(rows, c.groups, c.hot)
			q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Groups: n})
			if err != nil {
				b.Fatal(err)
			}
			drain := func(states []physical.GroupStates) (err error) {
				for _, err = range aggregation.GroupStates(ctx, tab, n, states) {
				}
				return err
			}
			gltest.LogPasses(b, c.name, g, gl, func(run pass.Runner) error {
				_, err := relational.Groups(run, d, q)
				return err
			})
			list = append(list, &gltest.Timed{Name: c.name, Do: func() error {
				states, err := relational.Groups(g, d, q)
				if err == nil {
					err = drain(states)
				}
				g.End()
				return err
			}})
			if c.name == "uniform" {
				one := cpu.New(0)
				list = append(list, &gltest.Timed{Name: "cpu", Do: func() (err error) {
					for _, err = range aggregation.Group(ctx, tab, n, one.Rows(ctx, q)) {
					}
					return err
				}})
			}
		}
		gltest.InTurns(b, gl, 5, list)
	})
}
