package compute

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// buildOf is a dimension as a build. Its table has a row for each key with a partner, whose digit is a column. As many rows again are
// ruled out by the condition, and some of them have no key.
func buildOf(t *testing.T, d *physical.Dimension) *physical.Dimension {
	t.Helper()
	bigint := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("d", []table.Field{{Name: "key", Type: bigint}, {Name: "digit", Type: bigint}, {Name: "counts", Type: bigint}}, 0)
	row := func(key, digit table.Value, counts int64) {
		b.Column(0).Value(key)
		b.Column(1).Value(digit)
		b.Column(2).Int(counts)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	places := 0
	bits := d.Bits.Segments[0].Codes.U32
	for at := 32*len(bits) - 1; at >= 0; at-- {
		places = max(places, at+1)
		if bits[at/32]>>(at%32)&1 == 0 {
			continue
		}
		key, digit := table.Int(table.IntFromOrdinal(d.Base+uint64(at))), table.Int(0)
		if d.Digits != nil {
			digit = table.Int(int64(d.Digits.Segments[0].Codes.At(at)))
			if digit.I == 2 { // NULL tells rows apart, too
				digit = table.Null(bigint)
			}
		}
		row(key, digit, 1)
		if at%3 == 0 {
			key = table.Null(bigint)
		}
		row(key, table.Int(int64(at%5)), 0)
	}
	row(table.Int(-1000), table.Int(1), 1) // a key that no record has
	row(table.Int(1<<29), table.Int(1), 1)
	tab := b.Table()
	column := func(i int) *expr.Column { return &expr.Column{Index: i, Name: tab.Fields[i].Name, T: bigint} }
	n := &plan.Aggregate{}
	if d.Digits != nil {
		n.Keys = append(n.Keys, column(1))
	}
	counts := &expr.Compare{Op: expr.EQ, L: column(2), R: &expr.Const{V: table.Int(1)}}
	out := &physical.Dimension{Name: "d", On: "key", Col: d.Col, Base: d.Base, Share: 1,
		Build: &physical.Build{Query: gltest.QueryOf(t, tab, counts, n), Key: 0, Places: places, Unique: true}}
	out.Size = out.Build.Slots()
	return out
}

// TestBuilds compares groups over a star that the device builds with those of a loop, on all kinds of devices.
func TestBuilds(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		kinds := Variants(ctx.Caps())
		for i, star := range [][]*physical.Dimension{
			{dimensionOf(0, 60, 0.9, 5)}, // which its digits test
			{dimensionOf(1, 2000, 0.3, 0)},
			{dimensionOf(1, 2000, 0.1, 300), dimensionOf(0, 60, 0.4, 0)},
			{dimensionOf(0, 60, 0.5, 7), dimensionOf(1, 2000, 0.6, 3), dimensionOf(1, 2000, 0.5, 0)},
			{dimensionOf(0, 60, 0.8, 0), dimensionOf(1, 2000, 0.9, 65000)},
			{dimensionOf(0, 60, 0, 4), dimensionOf(1, 2000, 0.9, 2)}, // nothing
		} {
			tab := gltest.GroupTable(40_000, 3, [2]int{60, 2000}, i%2 == 0, false)
			want := loopOverStar(tab, star)
			var builds []*physical.Dimension
			for k, d := range star {
				if builds = append(builds, d); k > 0 || len(star) == 1 || i == 3 { // others are the host's
					builds[k] = buildOf(t, d)
				}
			}
			for name, d := range kinds {
				q, _ := gltest.GroupQuery(t, tab, nil)
				q.Star = builds
				q.Columns = q.GroupInputColumns()
				states, err := Groups(g, d, q)
				if d.BlockLimit() == 8 && name != "own" && plan.IsDeclined(err) {
					continue // a GPU that reads through images, as software does, has no more
				}
				if err != nil {
					t.Fatal(err)
				}
				g.End()
				if name == "short windows" { // each has groups of its own
					n := [2]int{}
					for _, s := range states {
						for k := range s.Rows {
							n[0], n[1] = n[0]+int(s.N[k]), n[1]+int(s.Aggs[0].N[k])
						}
					}
					if want := inAll(want); n != want {
						t.Errorf("star %d: in windows %v records, want %v", i, n, want)
					}
					continue
				}
				var got []string
				for _, s := range states {
					for k, row := range s.Rows {
						got = append(got, fmt.Sprintf("chunk %d row %d: %d, %d", s.Chunk, row, s.N[k], s.Aggs[0].N[k]))
						for at, l := range builds { // the numbers are combinations: codes of the digit
							if l.Build == nil || star[at].Digits == nil {
								continue
							}
							v := tab.Chunks[s.Chunk].Segments[l.Col].Value(int(row))
							digit := int64(star[at].Digits.Segments[0].Codes.At(int(table.OrdinalInt(v.I) - l.Base)))
							seg := l.Build.Query.Table.Chunks[0].Segments[1]
							code, null := uint64(s.Numbers[at][k]), seg.Nulls > 0 && uint64(s.Numbers[at][k]) == seg.Max+1
							if null != (digit == 2) || !null && table.FromOrdinal(seg.Type, seg.Base+code).I != digit {
								t.Fatalf("star %d, %s, row %d: combination %d for digit %d", i, name, row, code, digit)
							}
						}
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("star %d, %s: %d groups, want %d: %q, want %q", i, name, len(got), len(want), got[:min(3, len(got))], want[:min(3, len(want))])
				}
			}
		}
	})
}

// A build declines keys that two rows have, and takes the keys that no row has for an anti join.
func TestBuildsOfKeys(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := ProfileOf(ctx.Caps())
		facts := gltest.GroupTable(10_000, 1, [2]int{60, 2000}, false, false)
		bigint := table.Type{Kind: table.BigInt}
		for _, c := range []struct {
			keys         []int64
			unique, anti bool
			want         func(a int64) bool // nil: declined
		}{
			{[]int64{3, 9, 9, 500}, true, false, nil},
			{[]int64{3, 9, 60, 60}, true, false, func(a int64) bool { return a == 3 || a == 9 }}, // there is no place 60
			{[]int64{3, 9, 9, 500}, false, false, func(a int64) bool { return a == 3 || a == 9 }},
			{[]int64{3, 9, 9, 500}, false, true, func(a int64) bool { return a != 3 && a != 9 }},
		} {
			b := table.NewBuilder("d", []table.Field{{Name: "key", Type: bigint}}, 0)
			for _, key := range c.keys {
				b.Column(0).Int(key)
				if err := b.EndRow(); err != nil {
					t.Fatal(err)
				}
			}
			keys := b.Table()
			q, _ := gltest.GroupQuery(t, facts, nil)
			q.Star = []*physical.Dimension{{Name: "d", On: "key", Col: 0, Base: table.OrdinalInt(0), Share: 1, Size: 1,
				Build: &physical.Build{Query: gltest.QueryOf(t, keys, nil, &plan.Aggregate{}), Places: 60, Unique: c.unique, Anti: c.anti}}}
			q.Columns = q.GroupInputColumns()
			states, err := Groups(g, d, q)
			g.End()
			if c.want == nil {
				if !plan.IsDeclined(err) {
					t.Errorf("two rows of one key: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want, got := 0, 0
			for row := range facts.Rows() {
				if c.want(facts.Chunks[0].Segments[0].Value(row).I) {
					want++
				}
			}
			for _, s := range states {
				for _, n := range s.N {
					got += int(n)
				}
			}
			if got != want {
				t.Errorf("anti %v: %d records, want %d", c.anti, got, want)
			}
		}
	})
}
