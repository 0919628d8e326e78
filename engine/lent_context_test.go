package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
)

func TestALentContextStaysOpen(t *testing.T) {
	gpu, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		db, err := Open(Options{Backend: "classic"})
		if err != nil {
			t.Fatal(err)
		}
		Inspect(db).RunOn(gpu)
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

// A statement that has waited for the GL thread while its device was closed makes nothing there.
func TestAClosedDeviceRunsNothing(t *testing.T) {
	gpu, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(Options{Backend: "classic"})
	if err != nil {
		t.Fatal(err)
	}
	Inspect(db).RunOn(gpu)
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT i FROM small WHERE i > 1"
	s, err := db.plan(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	b := devicesOf(db).ByName["classic"]
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Execute(context.Background(), s.plan, &querystats.Collector{}); !errors.Is(err, glctx.ErrClosed) {
		t.Errorf("executing: %v", err)
	}
	for _, err := range b.Rows(context.Background(), s.plan, &querystats.Collector{}) {
		if !errors.Is(err, glctx.ErrClosed) {
			t.Errorf("reading rows: %v", err)
		}
	}
	if live := gpu.Live(); len(live) > 0 {
		t.Errorf("left behind: %v", live)
	}
	if err := gpu.Close(); err != nil {
		t.Error(err)
	}
}
