package sqlite

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/plantest"
)

// queriesPerTable is how many statements are asked of each table that is drawn, and a quarter as many of rows.
const queriesPerTable = 20

// Random statements have one answer: classic, cpu, the scalar oracle and SQLite
// agree.
func TestSQLiteAgrees(t *testing.T) {
	knobs := plantest.Default()
	knobs.SQL = true
	knobs.Special = false // SQLite has NULL for NaN
	knobs.Shapes = plantest.Shapes{N: 48, Seed: 1}
	h := harness.Open(t)
	p := open(t, dialect{})
	rapid.Check(t, func(t *rapid.T) {
		k := knobs
		k.Narrow = rapid.IntRange(0, 2).Draw(t, "narrow") > 0
		tab := draw.Table(t, h.NewName(), draw.SQLiteFields, k, 3000)
		h.Register(t, tab)
		if err := p.Load(tab); err != nil {
			t.Fatal(err)
		}
		for range queriesPerTable {
			h.Check(t, tab, draw.Query(t, tab, k), p)
		}
		for range queriesPerTable / 4 {
			h.CheckRows(t, tab, k, p)
		}
		if err := p.Drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.Tally)
}
