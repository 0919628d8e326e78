package engine

import (
	"context"
	"testing"

	"github.com/stencildb/stencildb/glctx"
)

func TestALentContextStaysOpen(t *testing.T) {
	gpu, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		db, err := Open(Options{Backend: "classic", Context: gpu})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small WHERE i > 1")); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if live := gpu.Live(); len(live) > 0 {
			t.Errorf("left behind: %v", live)
		}
	}
	if err := gpu.Close(); err != nil {
		t.Error(err)
	}
}
