package backends

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/oracle/reference"
)

// Functions of columns have on every backend the values, NULLs and errors that they have one row at a
// time. They are in conditions and in select lists.
func TestFunctionsOfColumns(t *testing.T) {
	h := harness.Open(t)
	rapid.Check(t, func(t *rapid.T) {
		tab, g := h.Functions(t)
		from := " FROM " + tab.Name
		var items []string
		for range 20 {
			item := g.Value(rapid.IntRange(1, 3).Draw(t, "depth")).String()
			tree, ok := h.Bindable(t, tab, "SELECT "+item+from)
			if !ok {
				continue
			}
			if _, err := reference.Rows(tab, tree); err == nil {
				items = append(items, item)
			} else if rapid.IntRange(0, 3).Draw(t, "with its error") == 0 {
				h.CheckSelect(t, tab, "SELECT "+item+from)
			}
		}
		if len(items) > 0 {
			h.CheckSelect(t, tab, "SELECT "+strings.Join(items, ", ")+from)
		}
		for range 5 {
			text := "SELECT COUNT(*)" + from + " WHERE " + g.Condition(rapid.IntRange(1, 3).Draw(t, "depth")).String()
			if _, ok := h.Bindable(t, tab, text); ok {
				_, _ = h.CheckCount(t, tab, text)
			}
		}
	})
	t.Log(&h.Tally)
}
