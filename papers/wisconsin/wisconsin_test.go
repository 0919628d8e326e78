package wisconsin_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/papers/lab/labtest"
	"github.com/stencildb/stencildb/papers/wisconsin"
	"github.com/stencildb/stencildb/primitives"
)

// TestMain keeps llvmpipe to one thread, as in package primitives.
func TestMain(m *testing.M) {
	if err := os.Setenv("LP_NUM_THREADS", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func device(t *testing.T) *wisconsin.GPU { return &wisconsin.GPU{Device: labtest.Device(t), Local: 64} }

// on runs f on the GL thread.
func on(t *testing.T, g *wisconsin.GPU, f func()) {
	t.Helper()
	if err := g.Query(t.Context(), func() error {
		f()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// inputs are a table that is copied, and one that is resident.
func inputs(table *wisconsin.Table) map[string]wisconsin.Input {
	list := map[string]wisconsin.Input{"copied": {Table: table}}
	if table.N > 0 {
		list["resident"] = wisconsin.Input{Table: table, Resident: primitives.FromSlice(table.Words)}
	}
	return list
}

var sizes = []int{0, 1, 2, 63, 64, 65, 1021, 1025, 7001}

// result is what a query gave in host memory, or on the device.
func result(t *testing.T, g *wisconsin.GPU, run func(take func(primitives.Vector) error) ([]uint32, error)) []uint32 {
	t.Helper()
	var there []uint32
	words, err := run(func(v primitives.Vector) (err error) {
		if v.N > 0 {
			there, err = v.Read(g.GL)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if words == nil {
		return there
	}
	return words
}

func TestProjection(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		for _, l := range []wisconsin.Layout{wisconsin.Standard, wisconsin.Small, wisconsin.Large} {
			for _, n := range sizes {
				table := wisconsin.Make(l, n, 1)
				for name, in := range inputs(table) {
					got := result(t, g, func(take func(primitives.Vector) error) ([]uint32, error) { return g.Projection(t.Context(), in, take) })
					if !slices.Equal(got, table.Projection()) {
						t.Errorf("%s, %d tuples, %s", l.Name, n, name)
					}
				}
			}
		}
	})
}

// near reports whether numbers are the same, of floats within four units in the last place, of quotients that became ints within one.
func near(a, b float64) bool { return a == b || math.Abs(a-b) <= math.Max(1, math.Abs(b)*4/(1<<23)) }

func TestAggregation(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		for _, n := range sizes {
			for _, a := range wisconsin.Aggregates {
				table := wisconsin.Make(wisconsin.Standard, n, 1)
				for name, in := range inputs(table) {
					got, err := g.Aggregation(t.Context(), a, in)
					if want := table.Aggregation(a); err != nil || !near(got, want) && !(math.IsNaN(got) && math.IsNaN(want)) {
						t.Errorf("%s of %d tuples, %s: %v, %v, want %v", a.Name, n, name, got, err, want)
					}
				}
			}
		}
		for _, l := range []wisconsin.Layout{wisconsin.Small, wisconsin.Large} {
			table := wisconsin.Make(l, 1000, 1)
			got, err := g.Aggregation(t.Context(), wisconsin.MaxFloat, wisconsin.Input{Table: table})
			if err != nil || !near(got, table.Aggregation(wisconsin.MaxFloat)) {
				t.Errorf("%s: %v, %v", l.Name, got, err)
			}
		}
		if _, err := g.Aggregation(t.Context(), wisconsin.Count, wisconsin.Input{Table: wisconsin.Make(wisconsin.Small, 1, 1)}); err == nil {
			t.Error("small tuples have no attribute two")
		}
	})
}

// More work groups than fit in one direction are a rectangle of them.
func TestWorkGroupsInTwoDimensions(t *testing.T) {
	g := device(t)
	g.Shapes.MaxGroups = 7
	on(t, g, func() {
		for _, n := range []int{7 * 64, 7*64 + 1, 3*7*64 - 1, 4000} {
			table := wisconsin.Make(wisconsin.Standard, n, 1)
			words, err := g.Projection(t.Context(), wisconsin.Input{Table: table}, nil)
			if err != nil || !slices.Equal(words, table.Projection()) {
				t.Errorf("%d tuples: %v", n, err)
			}
		}
	})
}

// The bounds of listing 8 are not in the range: tuples that have them and meet its other criteria are not counted.
func TestBoundsOfListing8(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		for _, bound := range []uint32{1000, 6000} {
			seen := false
			for seed := uint64(1); !seen; seed++ {
				table := wisconsin.Make(wisconsin.Standard, 7001, seed)
				words := table.Layout.Words
				for i := range table.N {
					of := table.Words[i*words+wisconsin.Standard.Integer+wisconsin.Unique1:]
					seen = seen || of[0] == bound && of[1]%2 == 0
				}
				if !seen {
					continue
				}
				want := table.Aggregation(wisconsin.Count)
				if got, err := g.Aggregation(t.Context(), wisconsin.Count, wisconsin.Input{Table: table}); err != nil || got != want {
					t.Errorf("unique1 = %d, seed %d: %v, %v, want %v", bound, seed, got, err, want)
				}
			}
		}
	})
}

// A table that no storage block holds comes in parts; a resident one, and one that is joined, are refused.
func TestTablesInParts(t *testing.T) {
	g := device(t)
	g.Shapes.MaxWords = 20 * 300
	on(t, g, func() {
		for _, n := range []int{300, 301, 1000, 1200} {
			table := wisconsin.Make(wisconsin.Standard, n, 1)
			in := wisconsin.Input{Table: table}
			got, err := g.Aggregation(t.Context(), wisconsin.Sum, in)
			if err != nil || got != float64((n-1)*n/2) {
				t.Errorf("aggregation of %d: %v, %v", n, got, err)
			}
			words, err := g.Projection(t.Context(), in, nil)
			if err != nil || !slices.Equal(words, table.Projection()) {
				t.Errorf("projection of %d: %v", n, err)
			}
			for _, form := range []wisconsin.Form{wisconsin.Copied, wisconsin.Vectors} {
				c := wisconsin.Constant(n)
				words, err := g.Selection(t.Context(), in, c, form, nil)
				if err != nil || !slices.Equal(words, table.Selection(c)) {
					t.Errorf("selection of %d: %d words, %v", n, len(words), err)
				}
			}
			if n == 300 {
				continue
			}
			if _, err := g.HashJoin(t.Context(), in, in, wisconsin.Listing11, nil, nil); err == nil {
				t.Errorf("a table of %d tuples that no block holds is joined", n)
			}
			if _, err := g.Integrated(t.Context(), in, in); err == nil {
				t.Errorf("a table of %d tuples that no block holds is selected from and joined", n)
			}
			resident := wisconsin.Input{Table: table, Resident: primitives.New(len(table.Words))}
			if _, err := g.Projection(t.Context(), resident, nil); err == nil {
				t.Errorf("a resident table of %d tuples that no block holds is projected", n)
			}
		}
	})
}

// Both forms give the tuples that plain Go selects, in their order. Without the -1 of the text, or with OR in the place of AND, they do not.
func TestSelection(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		for _, n := range sizes {
			table := wisconsin.Make(wisconsin.Standard, n, 1)
			for _, c := range []wisconsin.Criteria{wisconsin.Listing8(1000, 6000), wisconsin.Listing13(), wisconsin.Constant(n), wisconsin.Listing8(-1, n)} {
				var want []uint32
				for i := range n {
					if c.Go(table, i) {
						want = append(want, table.Words[20*i:20*i+20]...)
					}
				}
				if got := table.Selection(c); !slices.Equal(got, want) {
					t.Errorf("%s of %d tuples, sequential", c.Name, n)
				}
				for _, form := range []wisconsin.Form{wisconsin.Copied, wisconsin.Vectors} {
					for name, in := range inputs(table) {
						got := result(t, g, func(take func(primitives.Vector) error) ([]uint32, error) {
							return g.Selection(t.Context(), in, c, form, take)
						})
						if !slices.Equal(got, want) {
							t.Errorf("%s of %d tuples, form %d, %s: %d words, want %d", c.Name, n, form, name, len(got), len(want))
						}
					}
				}
			}
		}
	})
}

// Listing 8 selects nothing of 1,000 tuples and about an eighth of 10,000, of which a constant share is the other series.
func TestSelectivities(t *testing.T) {
	for n, want := range map[int][2]int{1000: {0, 125}, 10_000: {1250, 1250}, 100_000: {1250, 12_500}} {
		table := wisconsin.Make(wisconsin.Standard, n, 1)
		for i, c := range []wisconsin.Criteria{wisconsin.Listing8(1000, 6000), wisconsin.Constant(n)} {
			if got := len(table.Selection(c)) / 20; math.Abs(float64(got-want[i])) > math.Max(10, float64(want[i])/8) || want[i] == 0 && got != 0 {
				t.Errorf("%d tuples: %d of them, want about %d", n, got, want[i])
			}
		}
	}
}

// The sections of a query are named as in the text's tables, at either level.
func TestSections(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		table := wisconsin.Make(wisconsin.Standard, 100, 1)
		for level, want := range [][]string{{"init kernel", "init memory", "exec init kernel", "scan", "init result set", "init result memory", "exec finish kernel", "clean up"},
			{"copy of the mask", "prefix sum", "mask of the sums"}} {
			g.Clock = &wisconsin.Clock{Level: level}
			if _, err := g.Selection(t.Context(), wisconsin.Input{Table: table}, wisconsin.Listing13(), wisconsin.Copied, nil); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range g.Clock.Sections {
				if names = append(names, s.Name); s.Took <= 0 && s.Name != "init result set" {
					t.Errorf("%s took %v", s.Name, s.Took)
				}
			}
			if !slices.Equal(names, want) {
				t.Errorf("level %d: %v", level, names)
			}
		}
		g.Clock = nil
	})
}
