package cpu

import (
	"context"
	"slices"
	"sort"
	"testing"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// TestTreeFindsWhatBinarySearchFinds compares both over lists around the sizes at which levels begin.
func TestTreeFindsWhatBinarySearchFinds(t *testing.T) {
	t.Run("32 bits", testTree[uint32])
	t.Run("64 bits", testTree[uint64])
}

func testTree[T uint32 | uint64](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.SampledFrom([]int{63, 64, 65, 255, 256, 257, 511, 513, 4095, 4096, 4097, 70000})).Draw(t, "n")
		step := rapid.Uint64Range(0, uint64(^T(0))/uint64(n+1)).Draw(t, "step")
		base := uint64(^T(0)) - step*uint64(n)
		at := func(i int) uint64 { return base + uint64(i)*step/2*2 }
		tree := newTree[T](n, at)
		keys := []uint64{0, 1, uint64(^T(0)), base, base + 1}
		for range 40 {
			keys = append(keys, base+rapid.Uint64Range(0, step*uint64(n)).Draw(t, "key"))
		}
		got := make([]uint32, len(keys))
		tree.find(keys, got)
		for i, k := range keys {
			want := sort.Search(n, func(i int) bool { return at(i) >= k })
			if one := tree.first(k); one != want || int(got[i]) != want {
				t.Fatalf("the first of %d codes from %d in steps of %d that is %d or larger: %d, and %d among others; binary search says %d",
					n, base, step, k, one, got[i], want)
			}
		}
	})
}

// TestQueriesByIndexAgreeWithScans runs random queries with indexes of both kinds on random columns, which find the
// rows however many these are.
func TestQueriesByIndexAgreeWithScans(t *testing.T) {
	ctx, used := context.Background(), 0
	knobs := plantest.Default()
	knobs.Errors = false
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, knobs)
		of := map[*table.Segment][]*Index{}
		for _, c := range tab.Chunks {
			for col := range tab.Fields {
				kind := rapid.SampledFrom([]string{"", "sorted", "hash"}).Draw(t, "kind")
				if s := c.Segments[col]; kind != "" && s != nil {
					x, err := NewIndex(ctx, kind, kind, s)
					if err != nil {
						t.Fatal(err)
					}
					if x.Rows() != s.NonNull() {
						t.Fatalf("%d rows in the index, of %d that are not NULL", x.Rows(), s.NonNull())
					}
					of[s] = append(of[s], x)
				}
			}
		}
		b := New(2, WithIndexes(func(s *table.Segment) []*Index { return of[s] }))
		b.leastPart, b.spanRows = 1, 0
		for range 5 {
			f := plantest.Query(t, tab, knobs)
			q, err := physical.NewQuery(tab, f)
			if err != nil || q.RequireColumns() != nil {
				continue
			}
			if b.IndexesOf(q) != nil {
				used++
			}
			want, wantErr := New(2).Execute(ctx, q)
			got, err := b.Execute(ctx, q)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%v WHERE %v: error %v, without indexes %v", q.Aggs, q.Where, err, wantErr)
			}
			for i := range got {
				if !sameValue(got[i], want[i]) {
					t.Fatalf("%v WHERE %v: %v, without indexes %v", q.Aggs[i], q.Where, got[i], want[i])
				}
			}
			if rows, scanned := selectedRows(t, b, q), selectedRows(t, New(2), q); !slices.Equal(rows, scanned) {
				t.Fatalf("WHERE %v: rows %v, without indexes %v", q.Where, rows, scanned)
			}
		}
	})
	if used == 0 {
		t.Error("no query used an index")
	}
}

// selectedRows are those of a query, by chunk and place; nothing where a row has an error.
func selectedRows(t *rapid.T, b *Backend, q *physical.Query) (list [][2]int) {
	for at, err := range b.Rows(context.Background(), q) {
		if err != nil {
			return nil
		}
		for i := range at.Len() {
			list = append(list, [2]int{at.Chunk, at.Row(i)})
		}
	}
	return list
}
