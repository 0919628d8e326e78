package relational

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// pairTable has a column of integers by of, then one of texts; where nulls, one row of five is NULL in both.
func pairTable(rows, chunk int, nulls bool, rng *rand.Rand, of func(i int) int64) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "k", Type: table.Type{Kind: table.BigInt}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}}, chunk)
	for i := range rows {
		if nulls && rng.IntN(5) == 0 {
			b.Column(0).Null()
			b.Column(1).Null()
		} else {
			b.Column(0).Int(of(i))
			b.Column(1).String(fmt.Sprint("word ", rng.IntN(40)+i/max(1, chunk)))
		}
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// The pairs of two tables are those of loops over their values. Two keys and three of one byte to eight, of one
// word and of two. Chunks have smallest keys that lie far apart, NULLs, deleted rows, filters, and texts of
// other dictionaries.
func TestPairsAreThoseOfTheValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	steps := func(width, apart int64) func(i int) int64 {
		return func(i int) int64 { return width*rng.Int64N(300) + int64(i/1000)*apart - 7 }
	}
	without := func(tab *table.Table) *table.Table {
		c, err := tab.Chunks[0].Delete([]int{0, 1, 5, 900})
		if err != nil {
			t.Fatal(err)
		}
		return tab.With(append([]*table.Chunk{c}, tab.Chunks[1:]...)...)
	}
	type pair struct {
		left, right *table.Table
		where       int64 // k of the left side is greater
		cols        []int // the keys
	}
	none := int64(-1 << 62)
	cases := map[string]pair{
		"bytes":          {pairTable(900, 1000, false, rng, steps(1, 0)), pairTable(700, 1000, true, rng, steps(1, 0)), none, []int{0}},
		"words":          {pairTable(1900, 0, false, rng, steps(1<<20, 0)), pairTable(700, 0, false, rng, steps(1<<20, 0)), none, []int{0}},
		"words, chunks":  {pairTable(1900, 1000, false, rng, steps(1<<20, 1<<20)), pairTable(2700, 1000, true, rng, steps(1<<21, 1<<19)), 1 << 24, []int{0}},
		"wide":           {pairTable(900, 0, false, rng, steps(1<<40, 0)), pairTable(800, 0, true, rng, steps(1<<40, 0)), none, []int{0}},
		"wide, chunks":   {pairTable(2100, 1000, false, rng, steps(1<<30, 1<<30)), pairTable(2800, 1000, false, rng, steps(1<<30, 1<<31)), none, []int{0}},
		"wide and bytes": {pairTable(900, 1000, false, rng, steps(1, 0)), pairTable(2800, 1000, false, rng, steps(1, 1<<40)), none, []int{0}},
		"deleted rows":   {without(pairTable(2100, 1000, false, rng, steps(1<<20, 0))), pairTable(800, 1000, false, rng, steps(1<<20, 0)), none, []int{0}},
		"texts":          {pairTable(1100, 500, true, rng, steps(1, 0)), pairTable(600, 400, false, rng, steps(1, 0)), 20, []int{1}},
		"two of a word":  {pairTable(1100, 0, false, rng, steps(1, 0)), pairTable(900, 400, true, rng, steps(1, 0)), none, []int{0, 1}},
		"two of a side":  {pairTable(600, 0, false, rng, steps(1<<31, 0)), pairTable(500, 300, false, rng, steps(1<<31, 0)), none, []int{1, 0, 1}},
		"no values":      {pairTable(0, 0, true, rng, steps(1, 0)), pairTable(600, 400, false, rng, steps(1, 0)), none, []int{0}},
	}
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for kind, d := range compute.Variants(gl.Caps()) {
			for name, c := range cases {
				for _, way := range JoinWays {
					q := &physical.JoinQuery{Cmp: expr.EQ, Algorithm: way, Limit: 1 << 24}
					for _, col := range c.cols {
						q.Keys = append(q.Keys, physical.JoinKey{&expr.Column{Index: col, T: c.left.Fields[col].Type}, &expr.Column{Index: col, T: c.right.Fields[col].Type}})
					}
					var values [2]map[uint32]string
					for i, tab := range []*table.Table{c.left, c.right} {
						k := &expr.Column{Index: 0, Name: "k", T: tab.Fields[0].Type}
						least := none
						if i == 0 {
							least = c.where
						}
						where := &expr.And{Kids: []expr.Expr{&expr.Compare{Op: expr.GT, L: k, R: &expr.Const{V: table.Int(least)}}}}
						for _, col := range c.cols {
							where.Kids = append(where.Kids, &expr.IsNull{X: &expr.Column{Index: col, Name: "key", T: tab.Fields[col].Type}, Not: true})
						}
						var err error
						if q.Sides[i], err = physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: where}); err != nil {
							t.Fatal(err)
						}
						values[i] = keysAbove(tab, c.cols, least)
					}
					if name == "words" && q.Sides[0].Chunks[0].Pred.Op != predicate.True {
						t.Error("not all rows are selected, whose codes are taken as they are")
					}
					got, err := Pairs(g, d, q)
					g.End()
					if err != nil {
						t.Errorf("%s, %s by %s: %v", kind, name, way, err)
						continue
					}
					var have, want []uint64
					for i, l := range got.Rows[0] {
						have = append(have, uint64(l)<<32|uint64(got.Rows[1][i]))
					}
					at := map[string][]uint32{}
					for row, v := range values[1] {
						at[v] = append(at[v], row)
					}
					for row, v := range values[0] {
						for _, r := range at[v] {
							want = append(want, uint64(row)<<32|uint64(r))
						}
					}
					slices.Sort(have)
					slices.Sort(want)
					if !slices.Equal(have, want) || got.N != uint64(len(want)) || got.Selected != [2]int{len(values[0]), len(values[1])} {
						t.Errorf("%s, %s by %s: %d pairs of %v rows, want %d of %d and %d", kind, name, way, got.N, got.Selected, len(want), len(values[0]), len(values[1]))
					}
				}
			}
		}
	})
}

// keysAbove are the values of columns of the rows, by their numbers in the table, that are not deleted and of which k is greater.
func keysAbove(tab *table.Table, cols []int, least int64) map[uint32]string {
	out := map[uint32]string{}
	first := 0
	for _, c := range tab.Chunks {
		for row := range c.Rows {
			k, key, null := c.Segments[0].Value(row), "", false
			for _, col := range cols {
				v := c.Segments[col].Value(row)
				key, null = key+"|"+v.String(), null || v.Null
			}
			if !k.Null && !null && k.I > least && c.IsLive(row) {
				out[uint32(first+row)] = key
			}
		}
		first += c.Rows
	}
	return out
}
