package wisconsin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/papers/wisconsin"
	"github.com/stencildb/stencildb/primitives"
)

// keyed is a table whose unique1 are these keys.
func keyed(keys []uint32) *wisconsin.Table {
	t := &wisconsin.Table{Layout: wisconsin.Standard, N: len(keys), Words: make([]uint32, 20*len(keys))}
	for i, k := range keys {
		t.Words[20*i], t.Words[20*i+1], t.Words[20*i+2] = uint32(i), k, k
	}
	return t
}

// pairs are the pairs of plain Go, in the order of the larger table.
func pairs(first, second *wisconsin.Table, on wisconsin.Keys) (want []uint32) {
	key := func(t *wisconsin.Table, i, k int) uint32 { return t.Words[20*i+1+k] }
	tuple := func(t *wisconsin.Table, i int) []uint32 { return t.Words[20*i : 20*i+20] }
	rows := map[uint32]int{}
	if first.N >= second.N {
		for i := range second.N {
			rows[key(second, i, on.Second)] = i
		}
		for i := range first.N {
			if s, ok := rows[key(first, i, on.First)]; ok {
				want = append(append(want, tuple(first, i)...), tuple(second, s)...)
			}
		}
		return want
	}
	for i := range first.N {
		rows[key(first, i, on.First)] = i
	}
	for i := range second.N {
		if f, ok := rows[key(second, i, on.Second)]; ok {
			want = append(append(want, tuple(first, f)...), tuple(second, i)...)
		}
	}
	return want
}

func TestJoins(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		for _, sizes := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {409, 410}, {1000, 600}, {600, 1000}, {1021, 1021}, {5000, 3000}} {
			first, second := wisconsin.Make(wisconsin.Standard, sizes[0], 1), wisconsin.Make(wisconsin.Standard, sizes[1], 2)
			for _, keys := range []wisconsin.Keys{wisconsin.Listing11, {First: wisconsin.Unique1, Second: wisconsin.Unique2}} {
				want := pairs(first, second, keys)
				if got, err := first.Join(second, keys); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, sequential: %v", sizes, err)
				}
				for name, in := range inputs(first) {
					other, ok := inputs(second)[name]
					if !ok {
						continue
					}
					if got := result(t, g, func(take func(primitives.Vector) error) ([]uint32, error) {
						return g.HashJoin(t.Context(), in, other, keys, take, nil)
					}); !slices.Equal(got, want) {
						t.Errorf("%v, %s: %d words, want %d", sizes, name, len(got), len(want))
					}
					if sizes[0] > 1021 {
						continue
					}
					for _, blocks := range []int{1 + sizes[0]/200, 7, 16} {
						if got := result(t, g, func(take func(primitives.Vector) error) ([]uint32, error) {
							return g.BlockJoin(t.Context(), in, other, keys, blocks, take)
						}); !slices.Equal(got, want) {
							t.Errorf("%v, %s, %d blocks: %d words, want %d", sizes, name, blocks, len(got), len(want))
						}
					}
				}
			}
		}
	})
}

func TestIntegrated(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		for _, n := range []int{0, 1000, 1003, 7001, 20_000} {
			first, second := wisconsin.Make(wisconsin.Standard, n, 1), wisconsin.Make(wisconsin.Standard, n*6/10, 2)
			want, any := float64(-1<<31), false
			for i := range n {
				u := first.Words[20*i+1]
				if u > 1000 && u < 6000 && int(u) < second.N {
					want, any = max(want, float64(int32(float32(u)*float32(u%10)/100))), true
				}
			}
			sequential, err := first.Integrated(second)
			if err != nil || sequential != want {
				t.Errorf("%d tuples, sequential: %v, %v, want %v", n, sequential, err, want)
			}
			got, err := g.Integrated(t.Context(), wisconsin.Input{Table: first}, wisconsin.Input{Table: second})
			if err != nil || any && !near(got, want) || !any && got != want {
				t.Errorf("%d tuples: %v, %v, want %v", n, got, err, want)
			}
		}
	})
}

// build builds a hash table of keys in so many buckets.
func build(t *testing.T, g *wisconsin.GPU, keys []uint32, buckets int) (*wisconsin.Cuckoo, error) {
	t.Helper()
	return g.Cuckoo(wisconsin.Standard, primitives.FromSlice(keyed(keys).Words), len(keys), wisconsin.Unique1, buckets)
}

// Every key stands once where its bucket's seed puts it, and the other slots are empty, also after rebuilds. A table that is not
// cleared before a rebuild has keys twice. A seed to which each failing thread adds is more than one further. All keys are possible, 0
// and 2^32-1 too.
func TestCuckoo(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		rebuilt := 0
		for _, n := range []int{0, 1, 2, 191, 192, 193, 409, 480, 490, 1500, 6000} {
			buckets := wisconsin.BucketsOf(n)
			if n < 500 {
				buckets = 1
			}
			keys := make([]uint32, n)
			for i := range keys {
				keys[i] = uint32(i) * 2654435761
			}
			if n > 1 {
				keys[0], keys[1] = 0, ^uint32(0)
			}
			c, err := build(t, g, keys, buckets)
			if err != nil {
				t.Fatalf("%d keys: %v", n, err)
			}
			if err := c.Check(g, keys); err != nil {
				t.Errorf("%d keys: %v", n, err)
			}
			b, err := c.Builds(g)
			if err != nil || b.Buckets != buckets || b.Rebuilt > b.Rebuilds || b.Most > b.Rebuilds || n > 0 && b.Iterations < 1 {
				t.Errorf("%d keys: %+v, %v", n, b, err)
			}
			rebuilt += b.Rebuilds
		}
		if rebuilt == 0 {
			t.Error("no bucket was rebuilt: nothing is seen of rebuilds")
		}
	})
}

// A bucket of 513 elements is refused by name, as keys that are there twice are, or often.
func TestCuckooRefuses(t *testing.T) {
	g := device(t)
	on(t, g, func() {
		count := func(n, each int) []uint32 {
			keys := make([]uint32, n)
			for i := range keys {
				keys[i] = uint32(i/each) * 7
			}
			return keys
		}
		for want, keys := range map[string][]uint32{"has 513 elements, and 512 at most": count(513, 1), "has 600 elements": count(600, 1), "4 keys of the hash table are there twice": {1, 5, 9, 5, 1}, "no place": {3, 3, 3, 3}} {
			if _, err := build(t, g, keys, 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d keys: %v, want %q", len(keys), err, want)
			}
		}
		if _, err := keyed(count(513, 1)).Join(keyed(count(513, 1)), wisconsin.Listing11); err != nil {
			t.Errorf("513 keys in two buckets: %v", err)
		}
		if c, err := build(t, g, count(512, 1), 1); err == nil {
			if err := c.Check(g, count(512, 1)); err != nil {
				t.Errorf("512 keys: %v", err)
			}
		} else {
			t.Errorf("512 keys: %v", err)
		}
		if _, err := g.BlockJoin(t.Context(), wisconsin.Input{Table: keyed(nil)}, wisconsin.Input{Table: keyed(nil)}, wisconsin.Listing11, 0, nil); err == nil {
			t.Error("no blocks")
		}
		many := wisconsin.Input{Table: keyed(count(300, 1))}
		if _, err := g.BlockJoin(t.Context(), many, many, wisconsin.Listing11, 1, nil); g.Context.Caps().Software && (err == nil || !strings.Contains(err.Error(), "more than 1 blocks")) {
			t.Errorf("%v: the loop is too long", err)
		}
	})
}
