package harness

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/reference"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Functions draws a small table and a generator of expressions over it.
func (h *Harness) Functions(t *rapid.T) (*table.Table, *plantest.Functions) {
	k := plantest.Default()
	k.Narrow = rapid.IntRange(0, 3).Draw(t, "narrow") > 0
	tab := draw.Table(t, h.NewName(), draw.EveryField, k, 100)
	h.Register(t, tab)
	return tab, plantest.NewFunctions(t, tab, nil)
}

// Bindable binds a statement of drawn expressions. One of constants may be an error that no row
// raises, but nothing may be missing.
func (h *Harness) Bindable(t fataler, tab *table.Table, text string) (plan.Node, bool) {
	tree, err := Bind(tab, text)
	if err != nil && (strings.Contains(err.Error(), "supported") || strings.Contains(err.Error(), "does not exist")) {
		t.Fatalf("%s\n%v", text, err)
	}
	if err != nil {
		h.Refused++
	}
	return tree, err == nil
}

// CheckCount compares the aggregates of a statement on every backend with those of one row
// at a time, and returns these.
func (h *Harness) CheckCount(t fataler, tab *table.Table, text string) ([]table.Value, error) {
	h.Queries++
	q, err := Bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, err := scalar(tab, q)
	h.Backends(t, tab, text, want, err)
	return want, err
}

// CheckSelect compares the rows of a statement with those computed one at a time.
func (h *Harness) CheckSelect(t fataler, tab *table.Table, text string) {
	h.Queries++
	tree, err := Bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, wantErr := reference.Rows(tab, tree)
	h.RowsAgree(t, tab, text, want, wantErr)
}
