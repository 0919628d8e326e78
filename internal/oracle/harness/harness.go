package harness

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"testing"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// Harness is the engine on every backend, and what the statements came to.
type Harness struct {
	DBs    []DB // cpu is the last
	Every  bool // whether a statement runs on all of them, not only on cpu and one other
	tables int
	Tally
}

// DB is a backend under its name and number.
type DB struct {
	name string
	*engine.DB
}

// Open opens the backends; those that draw a second time without the depth bounds
// test where the device has it. A statement runs on all of them in a soak and on
// hardware, which is fast enough.
func Open(t *testing.T) *Harness {
	t.Helper()
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bounds := ctx.Caps().DepthBounds
	h := &Harness{Every: !ctx.Caps().Software || os.Getenv("STENCILDB_SOAK") != ""}
	if err := ctx.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range engine.Backends() {
		if name != "auto" && name != "cpu" {
			h.Add(t, name)
		}
	}
	if bounds {
		t.Setenv("STENCILDB_DISABLE", "GL_EXT_depth_bounds_test")
		h.Add(t, "classic")
		h.Add(t, "fused")
	}
	h.Add(t, "cpu")
	return h
}

// asked are the backends that a statement runs on: cpu, and one drawn from the others by its text, so that a failure
// repeats. For a statement in three, devices go over the table in windows, as they do where they have no room for it. On
// backend both, operators run on cpu, on the device, or on both.
func (h *Harness) asked(text string) []DB {
	f := fnv.New32a()
	f.Write([]byte(text))
	window := 0
	if n := int(f.Sum32() >> 16); n%3 == 0 {
		window = 64 << (n / 3 % 4)
	}
	assignment := []string{"both", "device, cpu", "cpu, both", "device, both"}[f.Sum32()>>8%4]
	for _, db := range h.DBs {
		engine.Inspect(db.DB).Stream(window)
		if _, err := db.Exec(context.Background(), "SET assignment = '"+assignment+"'"); err != nil {
			panic(err)
		}
	}
	if h.Every {
		return h.DBs
	}
	last := len(h.DBs) - 1
	return []DB{h.DBs[f.Sum32()%uint32(last)], h.DBs[last]}
}

// Add opens a backend and prepares it: its device is read from the environment now.
func (h *Harness) Add(t *testing.T, backend string) {
	t.Helper()
	db, err := engine.Open(engine.Options{Backend: backend})
	if err == nil {
		err = engine.Inspect(db).Ready()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	h.DBs = append(h.DBs, DB{fmt.Sprintf("%s (%d)", backend, len(h.DBs)), db})
}

// NewName returns the next table's name.
func (h *Harness) NewName() string {
	h.tables++
	return fmt.Sprintf("t%d", h.tables)
}

// Register makes a table known to every backend, with indexes of two columns of three.
func (h *Harness) Register(t fataler, tab *table.Table) {
	for _, db := range h.DBs {
		if err := db.Add(tab); err != nil {
			t.Fatalf("%v", err)
		}
		for i, f := range tab.Fields {
			kind := i % 3
			if kind == len(index.Kinds) || f.Unsupported != "" {
				continue
			}
			if _, err := db.Exec(context.Background(), "CREATE INDEX ON "+expr.Ident(tab.Name)+" USING "+index.Kinds[kind]+" ("+expr.Ident(f.Name)+")"); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
}

// fataler is the part of testing.TB that rapid.T has too.
type fataler interface {
	Fatalf(format string, args ...any)
}
