package backends

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/oracle/reference"
	"github.com/stencildb/stencildb/internal/plantest"
)

// Groups and their aggregates are those of the definitions, whichever backend selects the rows.
func TestGroupsAgree(t *testing.T) {
	h := harness.Open(t)
	rapid.Check(t, func(t *rapid.T) {
		k := plantest.Default()
		k.Narrow = rapid.IntRange(0, 3).Draw(t, "narrow") > 0
		tab := draw.Table(t, h.NewName(), draw.GroupFields, k, 300)
		h.Register(t, tab)
		g := &draw.Aggregations{Texts: draw.Texts{T: t, Tab: tab}}
		for range 8 {
			text := g.Statement()
			h.Queries++
			tree, err := harness.Bind(tab, text)
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			want, wantErr := reference.Groups(tab, tree)
			if h.RowsAgree(t, tab, text, want, wantErr) {
				h.Compared++
			}
		}
	})
	t.Log(&h.Tally)
	if h.Compared < h.Queries/3 {
		t.Error("most statements fail")
	}
}
