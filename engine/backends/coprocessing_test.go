package backends

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// A panic on the goroutine of one side of a query that both sides share is that side's error.
func TestAPanicOfASideIsItsError(t *testing.T) {
	side := newSide(context.Background(), &physical.Query{}, func(func(table.Block, error) bool) { panic("a fault") })
	if !side.next() {
		t.Fatal("the side has ended")
	}
	if err := side.now.err; err == nil || !strings.Contains(err.Error(), "panic: a fault") {
		t.Errorf("error %v", err)
	}
}
