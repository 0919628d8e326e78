package cpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// manyKeys is a table of keys a and b with many combinations, NULLs among both, and values x, y and z.
func manyKeys(t *testing.T) *table.Table {
	integer, double := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Double}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: integer}, {Name: "b", Type: integer}, {Name: "x", Type: integer}, {Name: "y", Type: integer}, {Name: "z", Type: double}}, 1<<16)
	r := rand.New(rand.NewPCG(1, 2))
	for range 140_000 {
		for c, v := range []table.Value{table.Int(r.Int64N(100_000)), table.Int(r.Int64N(3)), table.Int(r.Int64N(1000) - 500), table.Int(r.Int64()), table.Float(r.Float64())} {
			if c < 4 && r.IntN(20) == 0 {
				v = table.Null(integer)
			}
			b.Column(c).Value(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

func manyAggregates(tab *table.Table) *plan.Aggregate {
	n := &plan.Aggregate{Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
	for _, i := range []int{0, 1} {
		n.Keys = append(n.Keys, column(tab, i))
	}
	for _, a := range []struct {
		kind expr.AggKind
		col  int
	}{{expr.Count, 2}, {expr.Sum, 2}, {expr.Max, 3}, {expr.Min, 2}, {expr.Avg, 4}} {
		n.Aggs = append(n.Aggs, expr.Aggregate{Kind: a.kind, Col: a.col, Name: tab.Fields[a.col].Name, Arg: tab.Fields[a.col].Type})
	}
	return n
}

// rowText is a row as one text.
func rowText(row []table.Value) string {
	var b strings.Builder
	for _, v := range row {
		b.WriteString(v.String() + " ")
	}
	return b.String()
}

// Many groups, which are found part by part, are those that one worker finds, in the same order.
func TestManyGroups(t *testing.T) {
	tab := manyKeys(t)
	n := manyAggregates(tab)
	g := newGrouping(tab, n)
	for b := range whole(tab) {
		if !g.simple() || !g.many(b) {
			t.Fatal("the groups are not found part by part")
		}
		break
	}
	one := g.worker()
	for b := range whole(tab) {
		if err := one.block(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.arrange(); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	var rows [][]table.Value
	for list := range (groupsFound{one}).rows(context.Background(), nil) {
		for _, row := range list {
			want, rows = append(want, rowText(row)), append(rows, row)
		}
	}
	for list, err := range Group(context.Background(), tab, n, whole(tab)) {
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range list {
			got = append(got, rowText(row))
		}
	}
	if len(want) < 100_000 || !slices.Equal(got, want) {
		t.Fatalf("%d groups, want %d", len(got), len(want))
	}
	// Those that an order has first are there, in the order of their first rows, whatever the key.
	for key := range 8 {
		for _, dir := range []struct{ desc, nullsFirst bool }{{false, false}, {true, true}, {true, false}, {false, true}} {
			if dir.desc != dir.nullsFirst && key != 0 {
				continue
			}
			by := &plan.Sort{First: 30, Keys: []expr.SortKey{{E: &expr.AggRef{Index: key}, Desc: dir.desc, NullsFirst: dir.nullsFirst}}}
			first := slices.Clone(rows)
			quickselect(first, int(by.First)-1, func(a, b []table.Value) bool { return by.Keys[0].Compare(a[key], b[key]) < 0 })
			last := first[by.First-1]
			var among []string
			for i, row := range rows {
				if by.Keys[0].Compare(row[key], last[key]) <= 0 {
					among = append(among, rowText(rows[i][:2]))
				}
			}
			some := *n
			some.First = by
			at := 0
			for list, err := range Group(context.Background(), tab, &some, whole(tab)) {
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range list {
					if at < len(among) && row[0].String()+" "+row[1].String()+" " == among[at] {
						at++
					}
				}
			}
			if at < len(among) {
				t.Errorf("by %d, %+v: %d of %d groups that may be the first", key, dir, at, len(among))
			}
		}
	}
}

// Where nothing is wanted, or all, no group is lost.
func TestFirstGroupsOfFew(t *testing.T) {
	tab := integers(t, 1000, 400, func(r int64) int64 { return r % 10 }, func(r int64) int64 { return r })
	for first, least := range map[int64]int{0: 0, 3: 3, 10: 10, 50: 10, -1: 10} {
		n := &plan.Aggregate{Keys: []expr.Expr{column(tab, 0)}, Aggs: []expr.Aggregate{{Kind: expr.Sum, Col: 1, Name: "b", Arg: tab.Fields[1].Type}},
			First: &plan.Sort{First: first, Keys: []expr.SortKey{{E: &expr.AggRef{Index: 1}, Desc: true}}}}
		var rows []string
		for list, err := range Group(context.Background(), tab, n, whole(tab)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range list {
				rows = append(rows, rowText(row))
			}
		}
		if len(rows) < least {
			t.Errorf("first %d: %s", first, strings.Join(rows, ", "))
		}
	}
}
