package oracle

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// sqliteFields are two columns or more of each type that SQLite has, or can stand
// for with another.
var sqliteFields = []table.Field{
	{Name: "flag", Type: table.Type{Kind: table.Boolean}},
	{Name: "s", Type: table.Type{Kind: table.SmallInt}},
	{Name: "i", Type: table.Type{Kind: table.Integer}},
	{Name: "j", Type: table.Type{Kind: table.BigInt}},
	{Name: "k", Type: table.Type{Kind: table.BigInt}},
	{Name: "r", Type: table.Type{Kind: table.Real}},
	{Name: "x", Type: table.Type{Kind: table.Double}},
	{Name: "y", Type: table.Type{Kind: table.Double}},
	{Name: "day", Type: table.Type{Kind: table.Date}},
	{Name: "stamp", Type: table.Type{Kind: table.Timestamp}},
	{Name: "word", Type: table.Type{Kind: table.Varchar}},
	{Name: "name", Type: table.Type{Kind: table.Varchar}},
}

// queriesPerTable is how many statements are asked of each table that is drawn, and a quarter as many of rows.
const queriesPerTable = 20

// Random statements have one answer: classic, cpu, the scalar oracle and SQLite
// agree.
func TestSQLiteAgrees(t *testing.T) {
	knobs := plantest.Default()
	knobs.SQL = true
	knobs.Special = false // SQLite has NULL for NaN
	knobs.Shapes = plantest.Shapes{N: 48, Seed: 1}
	h := open(t)
	p := openSQLite(t, sqlite{})
	rapid.Check(t, func(t *rapid.T) {
		k := knobs
		k.Narrow = rapid.IntRange(0, 2).Draw(t, "narrow") > 0
		tab := drawTable(t, h.name(), sqliteFields, k, 3000)
		h.register(t, tab)
		if err := p.load(tab); err != nil {
			t.Fatal(err)
		}
		for range queriesPerTable {
			h.check(t, tab, drawQuery(t, tab, k), p)
		}
		for range queriesPerTable / 4 {
			h.checkRows(t, tab, k, p)
		}
		if err := p.drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.tally)
}
