package compute_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// The benchmark of whole queries on prepared plans, in turns; it reports the median
// wall time of each on the GL thread:
//
//	go test -tags egl -run - -bench Query ./compute
//
// STENCILDB_BENCH_ROWS=268435456 picks other sizes (a comma-separated list).
func BenchmarkQuery(b *testing.B) { eachSize(b, benchmarkRows) }

// eachSize runs a benchmark for each number of rows that is asked for.
func eachSize(b *testing.B, benchmark func(b *testing.B, rows int)) {
	list := os.Getenv("STENCILDB_BENCH_ROWS")
	if list == "" {
		list = "1048576,16777216"
	}
	for _, s := range strings.Split(list, ",") {
		rows, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(s, func(b *testing.B) { benchmark(b, rows) })
	}
}

// uniform makes four attributes of 19 bits, like the paper's data_count.
func uniform(rows int) *table.Table {
	t := &table.Table{Name: "t"}
	ch := &table.Chunk{Rows: rows}
	var wg sync.WaitGroup
	for c := range 4 {
		integer := table.Type{Kind: table.BigInt}
		seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Bits: 19, Max: 1<<19 - 1}
		seg.Codes.U32 = make([]uint32, rows)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(c)))
			for i := range seg.Codes.U32 {
				seg.Codes.U32[i] = rng.Uint32() >> 13
			}
		})
		t.Fields = append(t.Fields, table.Field{Name: string(rune('a' + c)), Type: integer})
		ch.Segments = append(ch.Segments, seg)
	}
	wg.Wait()
	t.Chunks = []*table.Chunk{ch}
	return t
}

func less(col int, code uint64) *predicate.Pred {
	return leafOf(&predicate.Compare{Col: col, Op: expr.LT, Code: code, Text: fmt.Sprintf("%c < %d", 'a'+col, code)})
}

// semilinear is 3a + 7b - 2c + d < 2000000.
func semilinear() *predicate.Pred {
	constant := func(c int64) *predicate.Val {
		return &predicate.Val{Op: predicate.Const, I: c, Lo: big.NewInt(c), Hi: big.NewInt(c)}
	}
	wide := func(op predicate.ValOp, kids ...*predicate.Val) *predicate.Val {
		return &predicate.Val{Op: op, Kids: kids, Lo: big.NewInt(-1 << 23), Hi: big.NewInt(1 << 23)}
	}
	var sum *predicate.Val
	for i, c := range []int64{3, 7, -2, 1} {
		col := &predicate.Val{Op: predicate.Col, Column: i, Name: string(rune('a' + i)), Max: 1<<19 - 1, Lo: big.NewInt(0), Hi: big.NewInt(1<<19 - 1)}
		term := wide(predicate.MulV, constant(c), col)
		if sum != nil {
			term = wide(predicate.AddV, sum, term)
		}
		sum = term
	}
	return leafOf(&predicate.Computed{Op: expr.LT, L: sum, R: constant(2000000), Shape: predicate.Semilinear, Text: "3*a + 7*b - 2*c + d < 2000000"})
}

type benchQuery struct {
	name  string
	query *physical.Query
}

func benchQueries(t *table.Table) []*benchQuery {
	all := &predicate.Pred{Op: predicate.True}
	const sixty, eighty = 314573, 419430
	agg := func(k expr.AggKind) expr.Aggregate {
		return expr.Aggregate{Kind: k, Col: 0, Name: "a", Arg: table.Type{Kind: table.BigInt}, F: 0.5}
	}
	count := expr.Aggregate{Kind: expr.CountAll, Col: -1}
	and := &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{less(0, sixty), less(1, sixty), less(2, sixty), less(3, sixty)}}
	between := leafOf(&predicate.Range{Col: 0, Lo: 104858, Hi: eighty, Text: "a BETWEEN 104858 AND 419430"})
	var list []*benchQuery
	add := func(name string, p *predicate.Pred, aggs ...expr.Aggregate) {
		list = append(list, &benchQuery{name: name, query: &physical.Query{Table: t, Chunks: []physical.ChunkPlan{{Pred: p}}, Aggs: aggs}})
	}
	add("COUNT", less(0, sixty), count)
	add("BETWEEN", between, count)
	add("AND4", and, count)
	if os.Getenv("STENCILDB_BENCH_SEMILINEAR") != "" {
		add("semilinear", semilinear(), count)
	}
	add("SUM", all, agg(expr.Sum))
	add("SUM_WHERE", less(1, eighty), agg(expr.Sum))
	add("MAX", all, agg(expr.Max))
	add("MEDIAN", all, agg(expr.Percentile))
	add("MEDIAN_WHERE", less(1, eighty), agg(expr.Percentile))
	third := agg(expr.Percentile)
	third.F = 0.3
	add("two_quantiles", all, agg(expr.Percentile), third)
	return list
}

func benchmarkRows(b *testing.B, rows int) {
	gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		list := benchQueries(uniform(rows))
		var runs []*timed
		for _, x := range list {
			runs = append(runs, &timed{name: x.name, do: func() error {
				_, err := answer(g, d, x.query)
				g.End()
				return err
			}})
		}
		inTurns(b, ctx, 5, runs)
	})
}

// timed is something that a benchmark times.
type timed struct {
	name string
	do   func() error
	took []time.Duration
}

// inTurns runs each of a list twice, which makes what it reads resident, and then all of them in turns, so many
// rounds each time; it reports the median wall times, around a finish before each run.
func inTurns(b *testing.B, gl *glctx.Context, rounds int, list []*timed) {
	run := func(x *timed) time.Duration {
		gl.Finish()
		start := time.Now()
		if err := x.do(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	for _, x := range list {
		run(x)
		run(x)
	}
	for b.Loop() {
		for range rounds {
			for _, x := range list {
				x.took = append(x.took, run(x))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, x := range list {
		slices.Sort(x.took)
		b.ReportMetric(float64(x.took[len(x.took)/2].Nanoseconds())/1e6, x.name+"-ms")
	}
}
