package compute_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
)

// The benchmark of lookups in sorted keys of 32 bits. A lookup finds the places of a sixteenth as many keys as there are,
// or of 16,384. They are in no order, or (ascending) in order. Median wall times. All stays on the device; the places are
// checked. build is what it takes to make the tree.
//
//	STENCILDB_BENCH_ROWS=268435456 go test -tags egl -run - -bench Lookup ./compute
func BenchmarkLookup(b *testing.B) { gltest.EachSize(b, benchmarkLookup) }

func benchmarkLookup(b *testing.B, rows int) {
	step := uint32((1 << 32) / uint64(rows+1))
	rng := rand.New(rand.NewPCG(7, 8))
	sorted := make([]uint32, rows)
	for i := range sorted {
		sorted[i] = uint32(i)*step + rng.Uint32N(step)
	}
	b.Run("build", func(b *testing.B) { benchmarkPlaces(b, "build", sorted, nil) })
	for _, n := range []int{rows / 16, 1 << 14} {
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = rng.Uint32()
		}
		for _, order := range []string{"", "/ascending"} {
			if order != "" {
				slices.Sort(keys)
			}
			for _, way := range primitives.SearchWays {
				b.Run(fmt.Sprintf("%d%s/%s", n, order, way), func(b *testing.B) { benchmarkPlaces(b, way, sorted, keys) })
			}
		}
	}
}

// benchmarkPlaces looks for keys in one way, or makes the tree.
func benchmarkPlaces(b *testing.B, way string, sorted, keys []uint32) {
	gltest.Run(b, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps()).Primitives
		held := g.Open() // the keys are uploaded once; each run is a query of its own
		defer held.Close()
		x, k, out := primitives.FromSlice(sorted), primitives.FromSlice(keys), primitives.New(len(keys))
		tree := primitives.Tree{}
		search := func() error { return primitives.Search(g, d, way, primitives.Sorted{Words: x, Tree: tree}, k, out) }
		if err := held.Do(b.Context(), func() (err error) {
			if tree, err = primitives.NewTree(g, d, x); err != nil || way == "build" {
				return err
			}
			return search()
		}); err != nil {
			b.Fatal(err)
		}
		if way == "build" {
			search = func() error { _, err := primitives.NewTree(g, d, x); return err }
		}
		var list []time.Duration
		for b.Loop() {
			for range 11 {
				gl.Finish()
				start := time.Now()
				if err := g.Query(b.Context(), func() error {
					err := search()
					gl.Finish()
					return err
				}); err != nil {
					b.Fatal(err)
				}
				list = append(list, time.Since(start))
			}
		}
		slices.Sort(list)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(list[len(list)/2].Nanoseconds())/1e6, "ms")
		if way != "build" {
			checkPlaces(b, g, held, sorted, keys, out)
		}
	})
}

// checkPlaces compares places with what binary search finds.
func checkPlaces(b *testing.B, g *pass.GL, in *pass.Scope, sorted, keys []uint32, out primitives.Vector) {
	b.Helper()
	if err := in.Do(b.Context(), func() error {
		got, err := out.Read(g)
		if err != nil {
			return err
		}
		for i := 0; i < len(keys); i += max(1, len(keys)>>16) {
			if want, _ := slices.BinarySearch(sorted, keys[i]); got[i] != uint32(want) {
				return fmt.Errorf("key %d is at %d, not at %d", keys[i], want, got[i])
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}
