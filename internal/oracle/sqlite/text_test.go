package sqlite

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/plantest"
)

// The same text means the same to the engine and to SQLite. How literals and columns of different
// types are brought together is each one's own.
func TestSQLiteReadsTheSameText(t *testing.T) {
	h := harness.Open(t)
	p := open(t, dialect{iso: true})
	k := plantest.Default()
	k.Special, k.Narrow = false, true
	rapid.Check(t, func(t *rapid.T) {
		tab := draw.Table(t, h.NewName(), draw.SQLiteFields, k, 2000)
		h.Register(t, tab)
		if err := p.Load(tab); err != nil {
			t.Fatal(err)
		}
		g := &draw.Texts{T: t, Tab: tab}
		for range 10 {
			h.CheckText(t, tab, g.Statement(), p)
		}
		for range 4 {
			h.CheckGroups(t, tab, g.Groups(), p)
		}
		if err := p.Drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.Tally)
}
