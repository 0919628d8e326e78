package compute_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// tpchQueries are those of TPC-H that read lineitem alone.
var tpchQueries = []struct{ name, text string }{
	{"Q1", `SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice), SUM(l_extendedprice * (1 - l_discount)),
		SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)), AVG(l_quantity), AVG(l_extendedprice), AVG(l_discount), COUNT(*)
		FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY l_returnflag, l_linestatus`},
	{"Q6", `SELECT SUM(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
		AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24`},
}

// lineitem has the columns that they read, in the ranges of TPC-H, uniform but for what depends on the date.
func lineitem(rows int) *table.Table {
	money, text, date := table.Type{Kind: table.Decimal, Precision: 15, Scale: 2}, table.Type{Kind: table.Varchar}, table.Type{Kind: table.Date}
	t := &table.Table{Name: "lineitem", Fields: []table.Field{{Name: "l_quantity", Type: money}, {Name: "l_extendedprice", Type: money},
		{Name: "l_discount", Type: money}, {Name: "l_tax", Type: money}, {Name: "l_returnflag", Type: text}, {Name: "l_linestatus", Type: text}, {Name: "l_shipdate", Type: date}}}
	first := time.Date(1992, 1, 2, 0, 0, 0, 0, time.UTC).Unix() / 86_400
	const days, now = 2526, 1264 // 1992-01-02 to 1998-12-01, 1995-06-17
	seg := func(typ table.Type, base int64, most uint64, bits int) *table.Segment {
		return &table.Segment{Type: typ, Base: table.OrdinalInt(base), Max: most, Bits: bits}
	}
	quantity, price, discount, tax := seg(money, 100, 4900, 13), seg(money, 90_000, 10_404_999, 24), seg(money, 0, 10, 4), seg(money, 0, 8, 4)
	flag, status := &table.Segment{Type: text, Max: 2, Bits: 2, Dict: []string{"A", "N", "R"}}, &table.Segment{Type: text, Max: 1, Bits: 1, Dict: []string{"F", "O"}}
	shipped := seg(date, first, days-1, 12)
	quantity.Codes.U16, shipped.Codes.U16, price.Codes.U32 = make([]uint16, rows), make([]uint16, rows), make([]uint32, rows)
	for _, s := range []*table.Segment{discount, tax, flag, status} {
		s.Codes.U8 = make([]uint8, rows)
	}
	var wg sync.WaitGroup
	const part = 1 << 20
	for from := 0; from < rows; from += part {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(from)))
			for i := from; i < min(rows, from+part); i++ {
				day := rng.IntN(days)
				quantity.Codes.U16[i], price.Codes.U32[i] = uint16(100*rng.IntN(50)), uint32(rng.IntN(10_405_000))
				discount.Codes.U8[i], tax.Codes.U8[i], shipped.Codes.U16[i] = uint8(rng.IntN(11)), uint8(rng.IntN(9)), uint16(day)
				switch {
				case day+rng.IntN(30) < now:
					flag.Codes.U8[i] = uint8(2 * rng.IntN(2))
				default:
					flag.Codes.U8[i] = 1
				}
				if day > now {
					status.Codes.U8[i] = 1
				}
			}
		})
	}
	wg.Wait()
	t.Chunks = []*table.Chunk{{Rows: rows, Segments: []*table.Segment{quantity, price, discount, tax, flag, status, shipped}}}
	return t
}

// The benchmark of TPC-H's queries over lineitem alone, from the dispatch to the answers in values. The same queries run on cpu's
// cores in turns. It reports the median wall times:
//
//	STENCILDB_BENCH_ROWS=60000000 go test -tags egl -run - -bench TPCH ./compute
func BenchmarkTPCH(b *testing.B) { gltest.EachSize(b, benchmarkTPCH) }

func benchmarkTPCH(b *testing.B, rows int) {
	tab := lineitem(rows)
	for _, x := range tpchQueries {
		b.Run(x.name, func(b *testing.B) {
			gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) { benchmarkQuery(b, gl, g, tab, x.text) })
		})
	}
}

func benchmarkQuery(b *testing.B, gl *glctx.Context, g *pass.GL, tab *table.Table, text string) {
	f := fragmentOf(b, tab, text)
	q, err := physical.NewQuery(tab, f)
	if err != nil {
		b.Fatal(err)
	}
	ctx, d, host := context.Background(), compute.ProfileOf(gl.Caps()), cpu.New(0)
	answers := map[string]string{}
	each := func(name string, do func() (any, error)) *gltest.Timed {
		return &gltest.Timed{Name: name, Do: func() error {
			v, err := do()
			g.End()
			answers[name] = fmt.Sprint(v)
			return err
		}}
	}
	gltest.InTurns(b, gl, 7, []*gltest.Timed{
		each("device", func() (any, error) { return onDevice(ctx, g, d, q) }),
		each("cpu", func() (any, error) { return onHost(ctx, host, q, f) }),
	})
	if answers["device"] != answers["cpu"] {
		b.Errorf("the device gives %s, cpu %s", answers["device"], answers["cpu"])
	}
}

// onDevice answers a query of groups, or of aggregates of all rows, on the device.
func onDevice(ctx context.Context, g *pass.GL, d compute.Profile, q *physical.Query) (any, error) {
	if q.Groups == nil {
		return answer(g, d, q)
	}
	states, err := compute.Groups(g, d, q)
	if err != nil {
		return nil, err
	}
	var all [][]table.Value
	for rows, err := range aggregation.InValues(aggregation.GroupStates(ctx, q.Table, q.Groups, states)) {
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// onHost is onDevice by package cpu.
func onHost(ctx context.Context, host *cpu.Backend, q *physical.Query, f *plan.Fragment) (any, error) {
	n := q.Groups
	if n == nil {
		rows, err := physical.NewQuery(q.Table, f.FallbackFragment())
		if err != nil {
			return nil, err
		}
		q, n = rows, f.Fallback
	}
	var all [][]table.Value
	for rows, err := range aggregation.InValues(aggregation.Group(ctx, q.Table, n, host.Rows(ctx, q))) {
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	if q.Groups == nil && len(n.Keys) == 0 {
		return all[0], nil
	}
	return all, nil
}

// A thread of many units takes all turns of the loops over two factors' planes: llvmpipe ends them without a word after 65,536.
func TestProductsOfManyRows(t *testing.T) {
	tab := lineitem(6_000_000)
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		defer g.End()
		f := fragmentOf(t, tab, tpchQueries[1].text)
		q, err := physical.NewQuery(tab, f)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		got, err := onDevice(ctx, g, compute.ProfileOf(gl.Caps()), q)
		if err != nil {
			t.Fatal(err)
		}
		want, err := onHost(ctx, cpu.New(0), q, f)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	})
}
