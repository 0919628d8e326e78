package dictionary

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestPackedTextsAreTheSame(t *testing.T) {
	list := []string{"", "a", "", "é", strings.Repeat("x", 1000), ""}
	want := slices.Clone(list)
	Pack(list)
	if !slices.Equal(list, want) {
		t.Errorf("%q became %q", want, list)
	}
	if all, ok := Packed(list); !ok || all != strings.Join(want, "") {
		t.Errorf("%q as one is %q, %v", want, all, ok)
	}
	list[1], list[3] = list[3], list[1]
	if all, ok := Packed(list); ok {
		t.Errorf("%q in another order is %q", list, all)
	}
}

// A dictionary of several lists of texts, of so many that several goroutines make it, has each of them once, in order.
func TestDictionaryOfSeveralLists(t *testing.T) {
	for _, n := range []int{0, 1, 100, 40_000} {
		var lists []*Builder
		all := map[string]bool{}
		for k := range 4 {
			w := &Builder{}
			for i := range n {
				s := fmt.Sprint(strings.Repeat("common ", i%3), (i*7919+k*500)%(2*n))
				if i%5000 == 1 {
					s = strings.Repeat(s, 3000)
				}
				w.Number(s)
				all[s] = true
			}
			lists = append(lists, w)
		}
		lists = append(lists, &Builder{})
		want := slices.Sorted(maps.Keys(all))
		got := Merge(lists)
		if !slices.Equal(got, want) {
			t.Fatalf("%d texts in each list: %d texts, not %d", n, len(got), len(want))
		}
		for _, w := range lists {
			for k, rank := range w.Ranks(got) {
				if got[rank] != w.List[k] {
					t.Fatalf("%q has the place of %q", w.List[k], got[rank])
				}
				if known, ok := w.Known(w.List[k]); !ok || known != uint64(k) {
					t.Fatalf("%q is number %d, not %d", w.List[k], known, k)
				}
			}
		}
	}
	if got := Merge(nil); len(got) > 0 {
		t.Errorf("a dictionary of nothing has %q", got)
	}
}

// Texts are ordered by their bytes, whatever they have in common, where they end, and with zeros in them.
func TestOrderOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 4))
	for round := range 60 {
		letters := []string{"ab", "\x00a", "\x00", "0123456789", "abcdefghijklmnopqrstuvwxyz\xff\x80"}[round%5]
		w := &Builder{}
		prefixes := []string{""}
		for range r.IntN(4) {
			prefixes = append(prefixes, prefixes[r.IntN(len(prefixes))]+strings.Repeat(letters[:1], r.IntN(20))+letters[len(letters)/2:])
		}
		for range []int{0, 1, 2, 30, 500, 6000}[r.IntN(6)] {
			s := []byte(prefixes[r.IntN(len(prefixes))])
			for range r.IntN(14) {
				s = append(s, letters[r.IntN(len(letters))])
			}
			w.Number(string(s))
		}
		want := slices.Sorted(slices.Values(slices.Clone(w.List)))
		var got []string
		for _, k := range w.Order() {
			got = append(got, w.List[k])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d texts of %q are in another order", round, len(got), letters)
		}
	}
}
