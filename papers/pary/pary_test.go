package pary_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/lab/labtest"
	"github.com/stencildb/stencildb/papers/pary"
	"github.com/stencildb/stencildb/primitives"
)

// TestMain keeps llvmpipe to one thread, as in package primitives.
func TestMain(m *testing.M) {
	if err := os.Setenv("LP_NUM_THREADS", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Keys are different, in order, of 15 characters and a null, and depend on their place alone.
func TestKeys(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000, 70_001} {
		keys := pary.Keys(n, 7)
		for i, k := range keys {
			text := k.String()
			if strings.IndexByte(text, 0) != 15 || i > 0 && (text <= keys[i-1].String() || k.Compare(keys[i-1]) <= 0) {
				t.Fatalf("key %d of %d: %q after %q", i, n, text, keys[max(0, i-1)])
			}
		}
		if !slices.Equal(keys, pary.Keys(n, 7)) || n > 0 && slices.Equal(keys, pary.Keys(n, 8)) {
			t.Errorf("%d keys: the same seed gives others, or another one the same", n)
		}
		words := pary.Words(n, 7)
		for i := range words {
			if i > 0 && words[i] <= words[i-1] {
				t.Fatalf("word %d of %d: %d after %d", i, n, words[i], words[i-1])
			}
		}
	}
	for _, text := range []string{"", "a", "0123456789abcde", "0123456789abcdef"} {
		if got := pary.KeyOf(text).String(); strings.TrimRight(got, "\x00") != text || len(got) != 16 {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	places := pary.Places(10_000, 10, 1)
	for p := range uint32(10) {
		if n := len(slices.DeleteFunc(slices.Clone(places), func(x uint32) bool { return x != p })); n < 850 || n > 1150 {
			t.Errorf("place %d is asked for %d times of 10,000", p, n)
		}
	}
}

// plain is where queries stand, by Go's search of strings.
func plain(keys, queries []pary.Key) []uint32 {
	places := make([]uint32, len(queries))
	for i, q := range queries {
		at := sort.Search(len(keys), func(j int) bool { return keys[j].String() >= q.String() })
		if places[i] = pary.Missing; at < len(keys) && keys[at] == q {
			places[i] = uint32(at)
		}
	}
	return places
}

// queries are keys, strings beside them that differ in the last byte, and those beyond both ends.
func queries(keys []pary.Key) (list []pary.Key) {
	for i := range min(len(keys), 300) {
		k := keys[i*7919%len(keys)]
		behind, before := k, k
		behind[3]++
		before[3]--
		list = append(list, k, behind, before)
	}
	for _, i := range []int{0, 1, len(keys) - 2, len(keys) - 1} {
		if i >= 0 && i < len(keys) {
			list = append(list, keys[i])
		}
	}
	return append(list, pary.Key{}, pary.Key{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}, pary.KeyOf("0"), pary.KeyOf("~~~~~~~~~~~~~~~~"))
}

var hosts = map[string]pary.Search{"serial": pary.Serial, "SIMD": pary.SIMD, "vectors": pary.Vectors, "threads": pary.Threads(pary.Serial), "vectors on all cores": pary.Threads(pary.Vectors)}

// Every search on the host finds what Go's search finds.
func TestHostSearches(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4, 5, 6, 7, 25, 26, 124, 125, 126, 1009, 4096} {
		keys := pary.Keys(n, 3)
		asked := queries(keys)
		want := plain(keys, asked)
		for name, search := range hosts {
			got := make([]uint32, len(asked))
			if search(keys, asked, got); !slices.Equal(got, want) {
				t.Errorf("%s among %d keys: %v, want %v", name, n, got, want)
			}
			search(keys, nil, nil)
		}
	}
}

// Strings of which many begin alike, up to the last byte.
func TestHostSearchesOfAlikeStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, asked := drawn(t)
		want := plain(keys, asked)
		for name, search := range hosts {
			got := make([]uint32, len(asked))
			if search(keys, asked, got); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	})
}

// drawn are keys of few different words, at their ends too, and queries among and beside them.
func drawn(t *rapid.T) (keys, asked []pary.Key) {
	word := rapid.SampledFrom([]uint32{0, 1, 1 << 31, 1<<31 - 1, math.MaxUint32})
	key := rapid.Custom(func(t *rapid.T) pary.Key {
		return pary.Key{word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c"), word.Draw(t, "d")}
	})
	keys = rapid.SliceOfN(key, 0, 200).Draw(t, "keys")
	slices.SortFunc(keys, pary.Key.Compare)
	keys = slices.Compact(keys)
	return keys, rapid.SliceOfN(key, 0, 60).Draw(t, "queries")
}

// untouched is what stands behind the places.
const untouched = 0xabcdef

// onDevice runs a search on the device, and what it counts.
func onDevice(t *testing.T, d *lab.Device, keys, asked []pary.Key, lanes int, search func(pary.Searched, pary.Counts) error) (places, counts []uint32) {
	t.Helper()
	err := d.Query(t.Context(), func() error {
		all := primitives.FromSlice(slices.Repeat([]uint32{untouched}, len(asked)+8))
		s := pary.Searched{Keys: primitives.FromSlice(flat(keys)), Queries: primitives.FromSlice(flat(asked)), Places: all.First(len(asked))}
		c := pary.Counts{Lanes: lanes}
		if lanes > 0 {
			c.Words = primitives.Zeros(3)
		}
		if err := search(s, c); err != nil {
			return err
		}
		if lanes > 0 && len(asked) > 0 {
			var err error
			if counts, err = c.Words.Read(d.GL); err != nil {
				return err
			}
		}
		if len(asked) == 0 {
			return nil
		}
		words, err := all.Read(d.GL)
		if places = words[:len(asked)]; slices.ContainsFunc(words[len(asked):], func(w uint32) bool { return w != untouched }) {
			t.Errorf("%d places for %d queries", len(words), len(asked))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return places, counts
}

func flat(keys []pary.Key) (words []uint32) {
	for _, k := range keys {
		words = append(words, k[:]...)
	}
	return words
}

// Every search on the device, counting or not, finds what Go's search finds: for sizes around powers of p, and p that divides nothing.
func TestDeviceSearches(t *testing.T) {
	d := labtest.Device(t)
	sh := pary.ShapesOf(d)
	type way struct {
		scheme   pary.Scheme // "" is binary
		p        int
		counting bool
	}
	ways := []way{{"", 8, false}, {"", 8, true}, {pary.Reused, 2, false}, {pary.Reused, 32, false}, {pary.Reused, 128, false}}
	for _, scheme := range pary.Schemes {
		ways = append(ways, way{scheme, 3, false}, way{scheme, 8, false}, way{scheme, 8, true})
	}
	for _, n := range []int{1, 2, 7, 8, 9, 63, 64, 65, 511, 513, 1009} {
		keys := pary.Keys(n, 3)
		asked := queries(keys)
		asked = asked[max(0, len(asked)-50):]
		want := plain(keys, asked)
		for _, w := range ways {
			lanes := 0
			if w.counting {
				lanes = w.p
			}
			got, _ := onDevice(t, d, keys, asked, lanes, func(s pary.Searched, c pary.Counts) error {
				if w.scheme == "" {
					return pary.Binary(d.GL, sh, s, c)
				}
				return pary.PAry(d.GL, sh, w.scheme, w.p, s, c)
			})
			if !slices.Equal(got, want) {
				t.Errorf("%+v among %d keys: %v, want %v", w, n, got, want)
			}
		}
	}
}

func TestDeviceSearchesOfAlikeStrings(t *testing.T) {
	d := labtest.Device(t)
	sh := pary.ShapesOf(d)
	rapid.Check(t, func(rt *rapid.T) {
		keys, asked := drawn(rt)
		if len(keys) == 0 {
			return
		}
		scheme, p := rapid.SampledFrom(pary.Schemes).Draw(rt, "scheme"), rapid.SampledFrom([]int{3, 8}).Draw(rt, "p")
		want := plain(keys, asked)
		got, _ := onDevice(t, d, keys, asked, 0, func(s pary.Searched, c pary.Counts) error { return pary.PAry(d.GL, sh, scheme, p, s, c) })
		if !slices.Equal(got, want) && len(asked) > 0 {
			rt.Fatalf("%v, want %v", got, want)
		}
	})
}

// What is counted is what the text says of each scheme. It counts reads a step, and of a binary search the steps of the slowest of p
// queries. The first log2 p steps of binary searches conflict (section 3); of the p-ary search only the own boundaries do.
func TestCounts(t *testing.T) {
	d := labtest.Device(t)
	sh := pary.ShapesOf(d)
	const n, p, batch = 512, 8, 64
	keys := pary.Keys(n, 5)
	var asked []pary.Key // at the ends of parts of one key: found in the last step
	for i := range batch {
		asked = append(asked, keys[i*8+1])
	}
	for scheme, perStep := range map[pary.Scheme]int{pary.Own: 2 * p, pary.Shared: p + 1, pary.Reused: p - 1} {
		_, counts := onDevice(t, d, keys, asked, p, func(s pary.Searched, c pary.Counts) error { return pary.PAry(d.GL, sh, scheme, p, s, c) })
		steps := pary.PArySteps(n, p)
		if steps != 3 || int(counts[0]) != steps*batch {
			t.Errorf("%s: %d steps of %d searches, want %d each", scheme, counts[0], batch, steps)
		}
		// The range at the upper end of the keys has an infinite boundary, and the one at the lower end reads its first key.
		if most, got := perStep*steps*batch, int(counts[1]); got > most+batch || got < most-steps*batch {
			t.Errorf("%s: %d reads, want about %d", scheme, got, most)
		}
		if conflicts := counts[2] > 0; conflicts != (scheme == pary.Own) {
			t.Errorf("%s: %d conflicts", scheme, counts[2])
		}
	}
	_, counts := onDevice(t, d, keys, asked, p, func(s pary.Searched, c pary.Counts) error { return pary.Binary(d.GL, sh, s, c) })
	want := [2]int{} // steps of teams, and reads, by the search of one query after the other
	for i := 0; i < batch; i += p {
		slowest := 0
		for _, q := range asked[i : i+p] {
			n := halvings(keys, q)
			slowest, want[1] = max(slowest, n), want[1]+n
		}
		want[0] += slowest
	}
	if got := [2]int{int(counts[0]), int(counts[1])}; got != want || int(counts[2]) < 3*batch {
		t.Errorf("binary: counted %v, want %v, and %d conflicts at least", counts, want, 3*batch)
	}
	for n, want := range map[int][3]int{0: {0, 0, 0}, 1: {1, 1, 1}, 8: {4, 1, 3}, 9: {4, 2, 4}, 64: {7, 2, 6}, 36_000_000: {26, 9, 26}} {
		if got := [3]int{pary.BinarySteps(n), pary.PArySteps(n, 8), pary.PArySteps(n, 2)}; got != want {
			t.Errorf("%d keys: %v steps, want %v", n, got, want)
		}
	}
}

// halvings is how many keys a binary search reads until it has found one.
func halvings(keys []pary.Key, q pary.Key) (n int) {
	for lo, hi := 0, len(keys); lo < hi; {
		at := (lo + hi) / 2
		n++
		switch order := keys[at].Compare(q); {
		case order == 0:
			return n
		case order < 0:
			lo = at + 1
		default:
			hi = at
		}
	}
	return n
}

// As many keys fit as a storage block holds, and host memory three times.
func TestMostKeys(t *testing.T) {
	for _, c := range []struct {
		block, budget, memory int64
		rows                  int
		holder                string
	}{{1 << 40, 1 << 40, 480, 10, "memory"}, {160, 1 << 40, 1 << 40, 10, "block"}, {1 << 40, 320, 1 << 40, 20, "block"}, {128 << 20, 1 << 30, 1 << 40, 8 << 20, "block"}} {
		rows, holder := pary.Paper().Most(&glctx.Caps{MaxStorageBlock: c.block, Budget: c.budget}, c.memory)
		if rows != c.rows || !strings.Contains(holder, c.holder) {
			t.Errorf("%+v: %d, %s", c, rows, holder)
		}
	}
}

func TestRefusals(t *testing.T) {
	d := labtest.Device(t)
	sh := pary.ShapesOf(d)
	s := pary.Searched{Keys: primitives.New(8), Queries: primitives.New(8), Places: primitives.New(2)}
	for want, err := range map[string]error{
		"p is 1: a search takes 2 to":                         pary.PAry(d.GL, sh, pary.Own, 1, s, pary.Counts{}),
		fmt.Sprintf("p is %d", sh.MaxLocal+1):                 pary.PAry(d.GL, sh, pary.Own, sh.MaxLocal+1, s, pary.Counts{}),
		"1 places for 2 queries":                              pary.Binary(d.GL, sh, pary.Searched{Keys: s.Keys, Queries: s.Queries, Places: primitives.New(1)}, pary.Counts{}),
		"7 words of keys and 8 of queries: a string has four": pary.Binary(d.GL, sh, pary.Searched{Keys: primitives.New(7), Queries: s.Queries, Places: s.Places}, pary.Counts{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
