package radixsort

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sorted asks a sorter for the places of rows, given in runs by several workers.
func sorted(t interface{ Fatal(...any) }, by Spec, columns [][]uint64, run int) []uint64 {
	const workers = 3
	s, ok := New(workers, by)
	if !ok {
		t.Fatal("too many bits")
	}
	n := len(columns[0])
	for i, w := 0, 0; i < n; i, w = i+run, w+1 {
		var part [][]uint64
		for _, c := range columns {
			part = append(part, c[i:min(n, i+run)])
		}
		s.Add(w%workers, part)
	}
	places, err := s.Places(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return places
}

// byRows is the places as a plain sort of the rows has them.
func byRows(columns [][]uint64, unique int) []uint64 {
	rows := make([][]uint64, len(columns[0]))
	for i := range rows {
		for _, c := range columns {
			rows[i] = append(rows[i], c[i])
		}
	}
	slices.SortFunc(rows, func(a, b []uint64) int { return slices.Compare(a, b) })
	if unique > 0 {
		rows = slices.CompactFunc(rows, func(a, b []uint64) bool { return slices.Equal(a[:unique], b[:unique]) })
	}
	var places []uint64
	for _, r := range rows {
		places = append(places, r[len(r)-1])
	}
	return places
}

// Rows by any number of keys of any width come in the order of a plain sort. So do the first of them,
// and those that are not alike.
func TestSorterSortsAsAPlainSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keyBits := rapid.SliceOfN(rapid.IntRange(0, 64), 1, 12).Draw(t, "bits")
		n := rapid.OneOf(rapid.IntRange(0, 300), rapid.Just(20_000)).Draw(t, "rows")
		varying := rapid.IntRange(1, 64).Draw(t, "varying")
		state := rapid.Uint64Min(1).Draw(t, "seed")
		next := func() uint64 {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			return state * 0x2545f4914f6cdd1d
		}
		columns := make([][]uint64, len(keyBits)+1)
		for k := range columns {
			columns[k] = make([]uint64, n)
		}
		for i := range n {
			for k, b := range keyBits {
				c := next() & (1<<varying - 1)
				if b < 64 {
					c &= 1<<b - 1
				}
				columns[k][i] = c
			}
			columns[len(keyBits)][i] = uint64(3 * i)
		}
		first := rapid.OneOf(rapid.Just(int64(-1)), rapid.Int64Range(0, 5000)).Draw(t, "first")
		unique := 0
		if first < 0 {
			unique = rapid.IntRange(0, len(keyBits)).Draw(t, "unique")
		}
		got := sorted(t, Spec{keyBits, 16, first, unique}, columns, rapid.IntRange(1, 9000).Draw(t, "run"))
		want := byRows(columns, unique)
		if first >= 0 {
			want = want[:min(len(want), int(first))]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows, first %d, unique %d: %v, want %v", n, first, unique, got, want)
		}
	})
}

// A sorter says which rows are of no use any more, and keeps few.
func TestSorterOfTheFirstRowsIsBounded(t *testing.T) {
	const n, first = 1 << 20, 10
	s := newSorter[[1]uint64](1, Spec{KeyBits: []int{21}, PlaceBits: 21, First: first}).(*sorter[[1]uint64])
	for i := 0; i < n; i += 1 << 16 {
		codes, places := make([]uint64, 1<<16), make([]uint64, 1<<16)
		for k := range codes { // each row goes before all that came
			codes[k], places[k] = uint64(n-i-k), uint64(i+k)
		}
		s.Add(0, [][]uint64{codes, places})
		if kept := cap(s.parts[0].best); kept > 1<<15 {
			t.Fatalf("%d rows are kept", kept)
		}
		if most, least := s.Most(0), uint64(n-i-1<<16); most < least+first || most > uint64(n-i) {
			t.Fatalf("after %d rows codes up to %d are wanted", i+1<<16, most)
		}
	}
	places, err := s.Places(context.Background())
	if err != nil || len(places) != first || places[0] != n-1 || places[9] != n-10 {
		t.Fatalf("%v, %v", places, err)
	}
}

func TestSorterEndsWithItsContext(t *testing.T) {
	s, _ := New(2, Spec{KeyBits: []int{64}, PlaceBits: 20, First: -1})
	s.Add(0, [][]uint64{make([]uint64, 1<<14), make([]uint64, 1<<14)})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Places(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	if _, ok := New(1, Spec{KeyBits: slices.Repeat([]int{64}, 16), PlaceBits: 1, First: -1}); ok {
		t.Error("keys of 1,024 bits and a place are taken")
	}
}
