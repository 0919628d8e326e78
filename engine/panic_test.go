package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/ingest"
)

// A panic is the error of its statement. It is on the caller's goroutine, in a file's reader,
// in the rows of one side of a divided query, or in what is released. The transaction around it has failed, and other statements go on.
func TestPanicsAreErrors(t *testing.T) {
	ctx := context.Background()
	notes := make(chan string, 1)
	db := open(t, Options{Backend: "cpu", Note: func(s string) { notes <- s }})
	is := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "panic: a fault") {
			t.Errorf("error %v", err)
		}
	}
	_, err := db.limited(ctx, func(context.Context) (*Rows, error) { panic("a fault") })
	is(err)
	is(db.reading(ctx, catalog.NewEntry("t", nil), func(ingest.Options) error { panic("a fault") }))
	db.backends.Background(func() { panic("a fault") })
	if note := <-notes; !strings.Contains(note, "panic: a fault") {
		t.Errorf("note %q", note)
	}
	tx, err := db.Begin(ctx, TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.db.limited(ctx, func(context.Context) (*Rows, error) { panic("a fault") })
	is(err)
	if _, err := tx.Query(ctx, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "transaction") {
		t.Errorf("the transaction goes on: %v", err)
	}
	_ = tx.Rollback()
	if got := inWords(Collect(db.Query(ctx, "SELECT 1"))); got != "[[1]]" {
		t.Errorf("after all of them: %s", got)
	}
}
