package cpu

import (
	"context"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// TestQueriesByIndexAgreeWithScans runs random queries with indexes of both kinds on random columns, which find the
// rows however many these are.
func TestQueriesByIndexAgreeWithScans(t *testing.T) {
	ctx, used := context.Background(), 0
	knobs := plantest.Default()
	knobs.Errors = false
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, knobs)
		of := map[*table.Segment][]*index.Index{}
		for _, c := range tab.Chunks {
			for col := range tab.Fields {
				kind := rapid.SampledFrom([]string{"", "sorted", "hash"}).Draw(t, "kind")
				if s := c.Segments[col]; kind != "" && s != nil {
					x, err := index.New(ctx, kind, kind, s)
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
		b := New(2, WithIndexes(func(s *table.Segment) []*index.Index { return of[s] }))
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
