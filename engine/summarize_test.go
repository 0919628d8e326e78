package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/table"
)

// SUMMARIZE says of each column, over all chunks and without deleted rows, what a statement of
// its own would.
func TestSummarize(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	tab := typed(t, 9)
	first, err := tab.Chunks[0].Delete([]int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Add(tab.With(first, tab.Chunks[1])); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"[yes boolean 7 1 false true 2 false false true]",
		"[small smallint 7 1 2 8 7 3 5 7]",
		"[i integer 7 1 2 8 7 3 5 7]",
		"[big bigint 7 1 2 8 7 3 5 7]",
		"[dec numeric(10,2) 7 1 0.02 0.08 7 0.03 0.05 0.07]",
		"[r real 7 1 1 4 7 1.5 2.5 3.5]",
		"[d double precision 7 1 1 4 7 1.5 2.5 3.5]",
		"[day date 7 1 1970-01-03 1970-01-09 7 1970-01-04 1970-01-06 1970-01-08]",
		"[at timestamp without time zone 7 1 1970-01-01 00:00:00.000002 1970-01-01 00:00:00.000008 7 1970-01-01 00:00:00.000003 1970-01-01 00:00:00.000005 1970-01-01 00:00:00.000007]",
		"[s character varying 7 1 s002 s008 7 s003 s005 s007]",
	}
	if diff := cmp.Diff(want, words(db.Query(context.Background(), "SUMMARIZE typed"))); diff != "" {
		t.Error(diff)
	}
}

// A table without rows, and columns that cannot be used or have no value, are summarized too.
func TestSummarizeOfNothing(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	b := table.NewBuilder("none", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "v", Type: table.Type{Kind: table.Varchar}},
		{Name: "u"}, {Name: "n", Unsupported: "a nested type"}}, 0)
	if err := db.Add(b.Table()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"[a bigint 0 0 NULL NULL 0 NULL NULL NULL]",
		"[v character varying 0 0 NULL NULL 0 NULL NULL NULL]",
		"[u unknown NULL NULL NULL NULL NULL NULL NULL NULL]",
		"[n unsupported (a nested type) NULL NULL NULL NULL NULL NULL NULL NULL]",
	}
	if diff := cmp.Diff(want, words(db.Query(context.Background(), "SUMMARIZE none"))); diff != "" {
		t.Error(diff)
	}
}

// patient is a context that ends when it has been asked so many times whether it has.
type patient struct {
	context.Context
	left atomic.Int64
}

func (p *patient) Err() error {
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A SUMMARIZE that does not come to its end says why, wherever that was.
func TestSummarizeThatIsEnded(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(typed(t, 9)); err != nil {
		t.Fatal(err)
	}
	for n := int64(0); ; n++ {
		ctx := &patient{Context: context.Background()}
		ctx.left.Store(n)
		_, err := Collect(db.Query(ctx, "SUMMARIZE typed"))
		if err == nil && n > 0 {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("asked %d times: %v, want that it is canceled", n, err)
		}
	}
}
