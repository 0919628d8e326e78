package compute_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// lineorder is a table in the ranges of the Star Schema Benchmark's, uniform, in chunks of 2^24 rows. It has
// price of 24 bits, discount of 4, quantity of 6, date of 3 (the year), and x and y of 32.
func lineorder(b *testing.B, rows int) *table.Table {
	columns := []struct {
		name string
		lo   int64
		n    uint64
	}{{"price", 90_000, 10_400_000}, {"discount", 0, 11}, {"quantity", 1, 50}, {"year", 1992, 7}, {"x", 0, 1<<31 - 1}, {"y", 0, 1<<31 - 1}}
	var fields []table.Field
	for _, c := range columns {
		fields = append(fields, table.Field{Name: c.name, Type: table.Type{Kind: table.BigInt}})
	}
	t, rng := table.NewBuilder("lineorder", fields, 1<<24), rand.New(rand.NewPCG(1, 2))
	for range rows {
		for i, c := range columns {
			t.Column(i).Int(c.lo + int64(rng.Uint64N(c.n)))
		}
		if err := t.EndRow(); err != nil {
			b.Fatal(err)
		}
	}
	return t.Table()
}

// The benchmark of sums of products on prepared plans. It reports the median wall time of each query
// on the GL thread. The first run is reported, too, since it compiles and makes resident:
//
//	STENCILDB_BENCH_ROWS=120000000 go test -tags egl -run - -bench Products ./compute
func BenchmarkProducts(b *testing.B) {
	rows := benchsize.Rows(b, 1<<21)
	tab := lineorder(b, rows)
	gltest.Run(b, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		for _, x := range []struct{ name, text string }{
			{"SUM", "SELECT SUM(price) FROM lineorder"},
			{"24x4", "SELECT SUM(price * discount) FROM lineorder"},
			{"6x4", "SELECT SUM(quantity * discount) FROM lineorder"},
			{"24x24", "SELECT SUM(price * price) FROM lineorder"},
			{"31x31", "SELECT SUM(x * y) FROM lineorder"},
			{"Q1.1", "SELECT SUM(price * discount) FROM lineorder WHERE year = 1993 AND discount BETWEEN 1 AND 3 AND quantity < 25"},
			{"Q1.3", "SELECT SUM(price * discount) FROM lineorder WHERE year = 1994 AND discount BETWEEN 5 AND 7 AND quantity BETWEEN 26 AND 35"},
			{"24x4-codes", "SELECT COUNT(*) FROM lineorder WHERE price * discount > 50000001"}, // products of packed codes, row by row
			{"31x31-codes", "SELECT COUNT(*) FROM lineorder WHERE x * y > 1000000000000000001"},
			{"two", "SELECT SUM(price * (11 - discount)), SUM(price * discount), COUNT(*) FROM lineorder WHERE quantity < 25"},
		} {
			q, err := physical.NewQuery(tab, fragmentOf(b, tab, x.text))
			if err != nil {
				b.Fatal(err)
			}
			run := func() time.Duration {
				ctx.Finish()
				start := time.Now()
				if _, err := answer(g, d, q); err != nil {
					b.Fatal(err)
				}
				g.End()
				return time.Since(start)
			}
			first := run() // compiles and makes resident
			var took []time.Duration
			for range 15 {
				took = append(took, run())
			}
			slices.Sort(took)
			b.ReportMetric(float64(first.Microseconds())/1e3, x.name+"-first-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, x.name+"-ms")
		}
		b.ReportMetric(0, "ns/op")
	})
}
