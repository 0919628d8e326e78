package oracle

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// everyField is columns of all types, some of a type.
var everyField = []table.Field{
	{Name: "flag", Type: table.Type{Kind: table.Boolean}},
	{Name: "i", Type: table.Type{Kind: table.Integer}},
	{Name: "j", Type: table.Type{Kind: table.BigInt}},
	{Name: "k", Type: table.Type{Kind: table.BigInt}},
	{Name: "c", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
	{Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
	{Name: "f", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 5}},
	{Name: "r", Type: table.Type{Kind: table.Real}},
	{Name: "q", Type: table.Type{Kind: table.Real}},
	{Name: "x", Type: table.Type{Kind: table.Double}},
	{Name: "y", Type: table.Type{Kind: table.Double}},
	{Name: "day", Type: table.Type{Kind: table.Date}},
	{Name: "due", Type: table.Type{Kind: table.Date}},
	{Name: "stamp", Type: table.Type{Kind: table.Timestamp}},
	{Name: "until", Type: table.Type{Kind: table.Timestamp}},
	{Name: "word", Type: table.Type{Kind: table.Varchar}},
}

// drawFunctions draws a small table and a generator of expressions over it.
func (h *harness) drawFunctions(t *rapid.T) (*table.Table, *plantest.Functions) {
	k := plantest.Default()
	k.Narrow = rapid.IntRange(0, 3).Draw(t, "narrow") > 0
	tab := drawTable(t, h.name(), everyField, k, 100)
	h.register(t, tab)
	return tab, plantest.NewFunctions(t, tab, nil)
}

// bindable binds a statement of drawn expressions. One of constants may be an error that no row
// raises, but nothing may be missing.
func (h *harness) bindable(t fataler, tab *table.Table, text string) (plan.Node, bool) {
	tree, err := bind(tab, text)
	if err != nil && (strings.Contains(err.Error(), "supported") || strings.Contains(err.Error(), "does not exist")) {
		t.Fatalf("%s\n%v", text, err)
	}
	if err != nil {
		h.refused++
	}
	return tree, err == nil
}

// Functions of columns have on every backend the values, NULLs and errors that they have one
// row at a time, in conditions and in select lists.
func TestFunctionsOfColumns(t *testing.T) {
	h := open(t)
	rapid.Check(t, func(t *rapid.T) {
		tab, g := h.drawFunctions(t)
		from := " FROM " + tab.Name
		var items []string
		for range 20 {
			item := g.Value(rapid.IntRange(1, 3).Draw(t, "depth")).String()
			tree, ok := h.bindable(t, tab, "SELECT "+item+from)
			if !ok {
				continue
			}
			if _, err := reference(tab, tree); err == nil {
				items = append(items, item)
			} else if rapid.IntRange(0, 3).Draw(t, "with its error") == 0 {
				h.checkSelect(t, tab, "SELECT "+item+from)
			}
		}
		if len(items) > 0 {
			h.checkSelect(t, tab, "SELECT "+strings.Join(items, ", ")+from)
		}
		for range 5 {
			text := "SELECT COUNT(*)" + from + " WHERE " + g.Condition(rapid.IntRange(1, 3).Draw(t, "depth")).String()
			if _, ok := h.bindable(t, tab, text); ok {
				_, _ = h.checkCount(t, tab, text)
			}
		}
	})
	t.Log(&h.tally)
}

// checkCount compares the aggregates of a statement on every backend with those of one row
// at a time, and returns these.
func (h *harness) checkCount(t fataler, tab *table.Table, text string) ([]table.Value, error) {
	h.queries++
	q, err := bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, err := scalar(tab, q)
	h.backends(t, tab, text, want, err)
	return want, err
}

// checkSelect compares the rows of a statement with those computed one at a time.
func (h *harness) checkSelect(t fataler, tab *table.Table, text string) {
	h.queries++
	tree, err := bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, wantErr := reference(tab, tree)
	h.rowsAgree(t, tab, text, want, wantErr)
}
