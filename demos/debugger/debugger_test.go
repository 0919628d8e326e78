package debugger

import (
	"context"
	"testing"

	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

const cnf = "SELECT COUNT(*) FROM flights WHERE delay > 15 AND (distance < 700 OR delay > 120)"

// flights are the first n flights, sorted as the demo shows them.
func flights(t testing.TB, n int) *table.Table {
	t.Helper()
	tab, err := lesson.Flights(n)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// open puts a statement over a table under the debugger, on a context of its own. The
// test fails when a GL object is left.
func open(t testing.TB, tab *table.Table, sql string) *Demo {
	t.Helper()
	return openWith(t, "classic", tab, sql)
}

func openWith(t testing.TB, backend string, tab *table.Table, sql string) *Demo {
	t.Helper()
	gpu, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, gpu, backend, tab, sql)
}

func openOn(t testing.TB, gpu *glctx.Context, backend string, tab *table.Table, sql string) *Demo {
	t.Helper()
	closing := func(close func() error) {
		t.Cleanup(func() {
			if err := close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing(gpu.Close)
	db := database(t, backend, tab)
	closing(db.Close)
	d, err := Open(context.Background(), gpu, db, Options{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	closing(d.Close)
	d.Resize(MinWidth, MinHeight)
	return d
}

func database(t testing.TB, backend string, tab *table.Table) *engine.DB {
	t.Helper()
	db, err := engine.Open(engine.Options{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Add(tab); err != nil {
		t.Fatal(err)
	}
	return db
}

// draws draws a frame.
func (d *Demo) draws(t testing.TB) {
	t.Helper()
	if err := d.Frame(); err != nil {
		t.Fatal(err)
	}
	if d.problem != "" {
		t.Fatal(d.problem)
	}
}

// at goes to a step and draws it.
func (d *Demo) goes(t testing.TB, step int) {
	t.Helper()
	d.Go(step)
	d.draws(t)
}
