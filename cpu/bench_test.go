package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// benchTable has four columns of 19-bit integers, like the paper's data_count, a
// DOUBLE and a BIGINT of all 64 bits. It is built once for each size.
func benchTable(b *testing.B, rows int) *table.Table {
	benchTables.Lock()
	defer benchTables.Unlock()
	if t := benchTables.of[rows]; t != nil {
		return t
	}
	fields := []table.Field{}
	for _, n := range []string{"a", "b", "c", "d", "wide"} {
		fields = append(fields, table.Field{Name: n, Type: table.Type{Kind: table.BigInt}})
	}
	fields = append(fields, table.Field{Name: "f", Type: table.Type{Kind: table.Double}})
	rng := rand.New(rand.NewPCG(1, 2))
	build := table.NewBuilder("bench", fields, 0)
	for i := range fields {
		c := build.Column(i)
		for range rows {
			switch i {
			case 4:
				c.Int(int64(rng.Uint64()))
			case 5:
				c.Float(rng.NormFloat64() * 1e3)
			default:
				c.Int(rng.Int64N(1 << 19))
			}
		}
	}
	if err := build.EndRows(rows); err != nil {
		b.Fatal(err)
	}
	t := build.Table()
	benchTables.of[rows] = t
	return t
}

var benchTables = struct {
	sync.Mutex
	of map[int]*table.Table
}{of: map[int]*table.Table{}}

func BenchmarkExecute(b *testing.B) {
	agg := func(kind expr.AggKind, col int) expr.Aggregate {
		t := table.Type{Kind: table.BigInt}
		if col == 5 {
			t = table.Type{Kind: table.Double}
		}
		return expr.Aggregate{Kind: kind, Col: col, Arg: t, F: 0.5}
	}
	less := func(col int, code uint64) *predicate.Pred {
		return leafPred(&predicate.Compare{Col: col, Op: expr.LT, Code: code})
	}
	all := &predicate.Pred{Op: predicate.True}
	var spans []predicate.Span
	for i := range uint64(64) {
		spans = append(spans, predicate.Span{Lo: i * 8000, Hi: i*8000 + 4000})
	}
	const most = 1 << 19 * 6 / 10 // 60 %, as the paper's figures have it
	cases := []struct {
		name    string
		pred    *predicate.Pred
		agg     expr.Aggregate
		columns int // 4-byte columns read, for the bytes per second
	}{
		{"compare", less(0, most), agg(expr.CountAll, -1), 1},
		{"compare=", leafPred(&predicate.Compare{Col: 0, Op: expr.EQ, Code: most}), agg(expr.CountAll, -1), 1},
		{"range", leafPred(&predicate.Range{Col: 0, Lo: 1000, Hi: most}), agg(expr.CountAll, -1), 1},
		{"compare wide", less(4, 1<<63), agg(expr.CountAll, -1), 2},
		{"and of 4", &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{less(0, most), less(1, most), less(2, most), less(3, most)}}, agg(expr.CountAll, -1), 4},
		{"or of 4", &predicate.Pred{Op: predicate.Or, Kids: []*predicate.Pred{less(0, 99), less(1, 99), less(2, 99), less(3, 99)}}, agg(expr.CountAll, -1), 4},
		{"members", leafPred(&predicate.Members{Col: 0, Spans: spans}), agg(expr.CountAll, -1), 1},
		{"semilinear of 4", nil, agg(expr.CountAll, -1), 4},
		{"sum", all, agg(expr.Sum, 0), 1},
		{"sum selected", less(1, most), agg(expr.Sum, 0), 2},
		{"sum wide", all, agg(expr.Sum, 4), 2},
		{"sum double", all, agg(expr.Sum, 5), 2},
		{"max", all, agg(expr.Max, 0), 1},
		{"median", all, agg(expr.Percentile, 0), 1},
		{"median selected", less(1, most), agg(expr.Percentile, 0), 2},
		{"median wide", all, agg(expr.Percentile, 4), 2},
	}
	for _, rows := range []int{1 << 20, 1 << 24} {
		for _, c := range cases {
			b.Run(fmt.Sprintf("%s/%dM", c.name, rows>>20), func(b *testing.B) {
				tab := benchTable(b, rows)
				pred := c.pred
				if pred == nil {
					pred = semilinear(b, tab)
				}
				q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{{Pred: pred}}, Aggs: []expr.Aggregate{c.agg}}
				execute := func(backend *Backend) func() {
					return func() {
						if _, err := backend.Execute(context.Background(), q); err != nil {
							b.Fatal(err)
						}
					}
				}
				interleave(b, 4*c.columns*rows, map[string]func(){
					"portable": execute(New(0, WithoutSIMD)),
					"simd":     execute(New(0)),
					"memory":   func() { readCodes(b, tab, c.columns) },
				})
			})
		}
	}
}

// interleave runs all variants in each iteration, so that what else the machine does slows down all of
// them. It reports the median and the least of each in milliseconds.
func interleave(b *testing.B, bytes int, variants map[string]func()) {
	times := map[string][]float64{}
	for b.Loop() {
		for name, run := range variants {
			start := time.Now()
			run()
			times[name] = append(times[name], time.Since(start).Seconds())
		}
	}
	for name, t := range times {
		slices.Sort(t)
		b.ReportMetric(t[len(t)/2]*1e3, name+"-ms")
		b.ReportMetric(t[0]*1e3, name+"-least-ms")
		if name == "memory" {
			b.ReportMetric(float64(bytes)/t[len(t)/2]/1e9, "memory-GB/s")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// readCodes adds up the codes of the first columns of 4 bytes: the least that a query
// over them can take.
func readCodes(b *testing.B, t *table.Table, columns int) {
	x := &execution{Backend: New(0), ctx: context.Background(), workers: runtime.GOMAXPROCS(0)}
	var read []kernels.Codes
	for i := range columns {
		read = append(read, x.kernels.Of(t.Chunks[0].Segments[i].Codes))
	}
	rows := t.Rows()
	for row := 0; row < rows; row += vector.BlockRows {
		x.blocks = append(x.blocks, block{row: row, n: min(vector.BlockRows, rows-row)})
	}
	all := slices.Repeat([]uint64{^uint64(0)}, blockWords)
	err := x.forBlocks(func(_ int, _ *scratch, bl block) {
		for _, c := range read {
			c.Sum(all[:bl.n/64], bl.row)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
}

// semilinear is a - 2*b + 3*c - 4*d < 0.
func semilinear(b *testing.B, t *table.Table) *predicate.Pred {
	var sum expr.Expr
	for i, k := range []int64{1, -2, 3, -4} {
		f := t.Fields[i]
		var e expr.Expr = &expr.Arith{Op: expr.Mul, L: &expr.Const{V: table.Int(k)}, R: Column(t, i), T: f.Type}
		if sum != nil {
			e = &expr.Arith{Op: expr.Add, L: sum, R: e, T: f.Type}
		}
		sum = e
	}
	p, _, err := lower.Lower(&expr.Compare{Op: expr.LT, L: sum, R: &expr.Const{V: table.Int(0)}}, t, t.Chunks[0])
	if err != nil {
		b.Fatal(err)
	}
	return p
}
