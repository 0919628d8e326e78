package physical_test

import (
	"sync"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// numbers is a table of two columns of integers, a and b, in chunks of ten rows.
func numbers(t *testing.T, rows int) *table.Table {
	t.Helper()
	big := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: big}, {Name: "b", Type: big}}, 10)
	for i := range rows {
		b.Column(0).Int(int64(i))
		b.Column(1).Int(int64(-i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

func below(n int64) expr.Expr {
	return &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 0, Name: "a", T: table.Type{Kind: table.BigInt}}, R: &expr.Const{V: table.Int(n)}}
}

// What a change leaves alone keeps its predicate. That holds for chunks whose segments that the
// condition reads are the same, for the same condition and constants.
func TestPredicateCacheKeepsWhatDidNotChange(t *testing.T) {
	first := numbers(t, 30)
	var l physical.PredicateCache
	preds := func(tab *table.Table, n int64) (out []*predicate.Pred) {
		t.Helper()
		q, err := l.Query(tab, &plan.Fragment{Table: "t", Where: below(n)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range q.Chunks {
			out = append(out, c.Pred)
		}
		return out
	}
	change := func(c *table.Chunk, err error) *table.Chunk {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := first.Chunks
	seven := table.SegmentOf(first.Fields[0].Type, table.Int(7))
	patchedA, patchedB := change(c[1].Assign(0, []int{3}, seven, 0)), change(c[1].Assign(1, []int{3}, seven, 0))
	deleted := change(c[1].Delete([]int{3}))
	more := change(deleted.Delete([]int{4}))
	for _, x := range []struct {
		name   string
		before *table.Table
		after  *table.Table
		n      int64
		kept   []int // where the predicate was, by place now; -1: it is new
	}{
		{"nothing changes", first, first, 15, []int{0, 1, 2}},
		{"another constant", first, first, 16, []int{-1, -1, -1}},
		{"the column that is read is patched", first, first.With(c[0], patchedA, c[2]), 15, []int{0, -1, 2}},
		{"another column is patched", first, first.With(c[0], patchedB, c[2]), 15, []int{0, 1, 2}},
		{"a row is deleted", first, first.With(c[0], deleted, c[2]), 15, []int{0, -1, 2}},
		{"one more row is deleted", first.With(c[0], deleted), first.With(c[0], more), 15, []int{0, 1}},
		{"chunks move", first, first.With(c[2], c[0]), 15, []int{2, 0}},
	} {
		l = physical.PredicateCache{}
		before, after := preds(x.before, 15), preds(x.after, x.n)
		for i, from := range x.kept {
			for j := range before {
				if same := after[i] == before[j] && before[j].Op == predicate.Simple; from != j && same {
					t.Errorf("%s: chunk %d has the predicate that chunk %d had", x.name, i, j)
				}
			}
			if from >= 0 && after[i] != before[from] {
				t.Errorf("%s: chunk %d has lost its predicate", x.name, i)
			}
		}
	}
}

// However many conditions are lowered, a bounded number is kept, and any number of
// goroutines may do it.
func TestPredicateCacheIsBounded(t *testing.T) {
	tab := numbers(t, 30)
	var l physical.PredicateCache
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 300 {
				q, err := l.Query(tab, &plan.Fragment{Table: "t", Where: below(int64(i % 200))})
				if err != nil {
					t.Error(err)
					return
				}
				for ci, c := range tab.Chunks {
					holds, err := cpu.Selected(q.Chunks[ci].Pred, c)
					if err != nil {
						t.Error(err)
						return
					}
					for row := range c.Rows {
						if got, want := holds.Get(row), 10*ci+row < i%200; got != want {
							t.Errorf("goroutine %d: a < %d of %d: %v", g, i%200, 10*ci+row, got)
							return
						}
					}
				}
			}
		})
	}
	wg.Wait()
	if n := l.Len(); n > 128 {
		t.Errorf("%d conditions are kept", n)
	}
}
