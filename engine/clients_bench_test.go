package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/table"
)

// uniformTable has four attributes of 19 bits in one chunk.
func uniformTable(rows int) *table.Table {
	t := &table.Table{Name: "t"}
	c := &table.Chunk{Rows: rows}
	t.Chunks = []*table.Chunk{c}
	var wg sync.WaitGroup
	for i, name := range []string{"a", "b", "c", "d"} {
		f := table.Field{Name: name, Type: table.Type{Kind: table.BigInt}}
		seg := &table.Segment{Type: f.Type, Base: table.OrdinalInt(0), Max: 1<<19 - 1, Bits: 19, Codes: table.Codes{U32: make([]uint32, rows)}}
		t.Fields, c.Segments = append(t.Fields, f), append(c.Segments, seg)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for k := range seg.Codes.U32 {
				seg.Codes.U32[k] = rng.Uint32() >> 13
			}
		})
	}
	wg.Wait()
	return t
}

// BenchmarkClients has 64 clients ask at the same time, with batches and without, in turns. They ask for COUNT and SUM
// with conditions over two of four attributes, each time with other constants. It reports statements a second, and
// what one client's statement takes when it is alone.
//
//	STENCILDB_BENCH_ROWS=268435456 go test -tags egl -run - -bench Clients ./engine
func BenchmarkClients(b *testing.B) {
	db, g := batching(b, uniformTable(benchsize.Rows(b, 1<<24)), 64, 0)
	g.ScanQueue.Least = 0
	ask := func(rng *rand.Rand) error {
		cols := rng.Perm(4)
		x, y := rng.IntN(1<<18), 1<<18+rng.IntN(1<<17)
		r, err := db.Query(context.Background(), fmt.Sprintf("SELECT COUNT(*), SUM(%[1]c) FROM t WHERE %[2]c BETWEEN %[3]d AND %[4]d AND %[5]c < %[6]d",
			'a'+cols[2], 'a'+cols[0], x, x+1<<17+rng.IntN(1<<16), 'a'+cols[1], y))
		if err != nil {
			return err
		}
		_, err = r.drain()
		return err
	}
	// together returns the statements a second of so many clients that ask so many statements each.
	together := func(clients, each int) float64 {
		var group sync.WaitGroup
		var failed atomic.Pointer[error]
		start := time.Now()
		for i := range clients {
			group.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), 7))
				for range each {
					if err := ask(rng); err != nil {
						failed.Store(&err)
						return
					}
				}
			})
		}
		group.Wait()
		if err := failed.Load(); err != nil {
			b.Fatal(*err)
		}
		return float64(clients*each) / time.Since(start).Seconds()
	}
	// one returns what a client that is alone waits for a statement, ms: the median of so many.
	one := func(each int) float64 {
		rng := rand.New(rand.NewPCG(64, 7))
		took := make([]float64, each)
		for i := range took {
			start := time.Now()
			if err := ask(rng); err != nil {
				b.Fatal(err)
			}
			took[i] = time.Since(start).Seconds() * 1e3
		}
		slices.Sort(took)
		return took[each/2]
	}
	lines := map[string]int{"batched": 64, "single": 0}
	rates, alone := map[string][]float64{}, map[string][]float64{}
	round := func(keep bool) {
		for _, name := range []string{"batched", "single"} {
			g.Computes.Lines = lines[name]
			rate, ms := together(64, 64), one(64)
			if keep {
				rates[name], alone[name] = append(rates[name], rate), append(alone[name], ms)
			}
		}
	}
	round(false)
	answered := g.ScanQueue.Answered.Load()
	for b.Loop() {
		for range 3 {
			round(true)
		}
	}
	b.ReportMetric(0, "ns/op")
	for name := range lines {
		slices.Sort(rates[name])
		slices.Sort(alone[name])
		b.ReportMetric(rates[name][len(rates[name])/2], name+"-64-per-s")
		b.ReportMetric(alone[name][len(alone[name])/2], name+"-1-ms")
	}
	b.ReportMetric(float64(g.ScanQueue.Answered.Load()-answered)/float64(len(rates["batched"])*64*64), "in-batches")
}
