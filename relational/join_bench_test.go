package relational_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/relational"
)

// The benchmark of joins of two sides with as many rows. It reports median wall times of counting the
// pairs, and of emitting them, which stay on the device.
//
//	go test -tags egl -run - -bench Join ./compute
//
// foreign: the keys of the right side are unique, sparse, of 31 bits, and the left side has some of them.
// duplicates: three quarters as many keys as rows, some on both sides several times: 4 pairs of 3 rows.
// dense: foreign, of keys that are 0 to the number of rows, each once on the right side.
// hot: foreign, where nine of ten rows of the left side have the same key.
//
// STENCILDB_BENCH_ROWS picks the sizes, as for BenchmarkQuery.
func BenchmarkJoin(b *testing.B) { gltest.EachSize(b, benchmarkJoin) }

func benchmarkJoin(b *testing.B, rows int) {
	rng := rand.New(rand.NewPCG(5, 6))
	keys := func(of func(i int) uint32) []uint32 {
		list := make([]uint32, rows)
		for i := range list {
			list[i] = of(i)
		}
		return list
	}
	sparse := func(n uint32) uint32 { return n * 0x9e3779b1 & (1<<31 - 1) }
	drawn := func(n int) uint32 { return sparse(rng.Uint32N(uint32(n))) }
	unique := keys(func(i int) uint32 { return sparse(uint32(i)) })
	rng.Shuffle(rows, func(i, j int) { unique[i], unique[j] = unique[j], unique[i] })
	dense := keys(func(i int) uint32 { return uint32(i) })
	rng.Shuffle(rows, func(i, j int) { dense[i], dense[j] = dense[j], dense[i] })
	for _, c := range []struct {
		name        string
		left, right []uint32
	}{
		{"dense", keys(func(int) uint32 { return rng.Uint32N(uint32(rows)) }), dense},
		{"foreign", keys(func(int) uint32 { return drawn(rows) }), unique},
		{"duplicates", keys(func(int) uint32 { return drawn(rows * 3 / 4) }), keys(func(int) uint32 { return drawn(rows * 3 / 4) })},
		{"hot", keys(func(int) uint32 {
			if rng.IntN(10) > 0 {
				return sparse(42)
			}
			return drawn(rows)
		}), unique},
	} {
		width := bits.Len32(max(slices.Max(c.left), slices.Max(c.right)))
		for _, way := range relational.JoinWays {
			if way == "loops" && rows > 1<<17 || way == "perfect" && c.name != "dense" { // which look at every pair of rows; are hash joins
				continue
			}
			b.Run(c.name+"/"+way, func(b *testing.B) { benchmarkPairs(b, way, width, c.left, c.right) })
		}
	}
}

// benchmarkPairs joins keys of so many bits.
func benchmarkPairs(b *testing.B, way string, width int, left, right []uint32) {
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		held := g.Open() // the keys are uploaded once; each run is a query of its own
		defer held.Close()
		sides := [2]relational.JoinSide{{Keys: primitives.FromSlice(left)}, {Keys: primitives.FromSlice(right)}}
		if err := held.Do(b.Context(), func() error {
			one := primitives.New(1)
			for _, s := range sides {
				if err := primitives.Reduce(g, d.Primitives, primitives.Max, s.Keys, one); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		took, found := map[uint64][]time.Duration{}, uint64(0)
		run := func(pairs uint64) {
			gl.Finish()
			start := time.Now()
			if err := g.Query(b.Context(), func() error {
				out, err := relational.Join(g, d, relational.JoinShape{Way: way, Cmp: expr.EQ, Bits: width, Pairs: pairs}, sides[0], sides[1])
				gl.Finish()
				found = out.N
				return err
			}); err != nil {
				b.Fatal(err)
			}
			took[pairs] = append(took[pairs], time.Since(start))
		}
		run(1 << 30) // makes the programs and the working memory
		took = map[uint64][]time.Duration{}
		for b.Loop() {
			for range 5 {
				run(0)
				run(1 << 30)
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(found), "pairs")
		for pairs, list := range took {
			slices.Sort(list)
			what := "emit-ms"
			if pairs == 0 {
				what = "count-ms"
			}
			b.ReportMetric(float64(list[len(list)/2].Nanoseconds())/1e6, what)
		}
	})
}
