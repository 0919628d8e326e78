package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/table"
)

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
