package aggregation

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// manyKeys is a table of keys a and b with many combinations, NULLs among both, and values x, y, z and s. Its
// groups are found part by part, though it has few rows.
func manyKeys(t *testing.T) *table.Table {
	from := partTable
	partTable = 1
	t.Cleanup(func() { partTable = from })
	integer, double, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Double}, table.Type{Kind: table.Varchar}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: integer}, {Name: "b", Type: integer}, {Name: "x", Type: integer}, {Name: "y", Type: integer}, {Name: "z", Type: double}, {Name: "s", Type: text}}, 1<<13)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		for c, v := range []table.Value{table.Int(r.Int64N(15_000) * 1000), table.Int(r.Int64N(3)), table.Int(r.Int64N(1000) - 500), table.Int(r.Int64()), table.Float(r.Float64()), table.Str(string(rune('a' + r.IntN(26))))} {
			if c < 4 && r.IntN(50) == 0 {
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

// A few hundred groups are found part by part, too, where their different values are so many that these are looked up by a hash.
func TestGroupsOfManyDifferentValues(t *testing.T) {
	manyKeys(t) // lowers partTable
	integer := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "g", Type: integer}, {Name: "few", Type: integer}, {Name: "many", Type: integer}}, 1<<13)
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		for c, v := range []int64{r.Int64N(500) * 1000, r.Int64N(7), r.Int64N(2000) * 1000} {
			b.Column(c).Int(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	for col, many := range map[int]bool{1: false, 2: true} {
		n := &plan.Aggregate{Keys: []expr.Expr{column(tab, 0)}, Aggs: []expr.Aggregate{{Kind: expr.Count, Col: col, Distinct: true, Name: tab.Fields[col].Name, Arg: integer}}}
		g := newGrouping(tab, n)
		for b := range whole(tab) {
			if got := g.keys.deterministic() && g.manyGroups(b); got != many {
				t.Errorf("%s: part by part is %v, want %v", tab.Fields[col].Name, got, many)
			}
			break
		}
		if want, got := byOne(t, tab, n), byAll(t, tab, n); len(want) != 500 || !slices.EqualFunc(got, want, sameRow) {
			t.Errorf("%s: %d groups, want %d", tab.Fields[col].Name, len(got), len(want))
		}
	}
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

// sameRow reports that rows have the same values, as far as both have some.
func sameRow(a, b []table.Value) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Null != b[i].Null || !a[i].Null && table.Compare(a[i], b[i]) != 0 {
			return false
		}
	}
	return true
}

// byOne are the groups that one worker finds.
func byOne(t *testing.T, tab *table.Table, n *plan.Aggregate) (rows [][]table.Value) {
	one := newGrouping(tab, n).worker()
	for b := range whole(tab) {
		if err := one.block(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.arrange(); err != nil {
		t.Fatal(err)
	}
	for list := range InValues((groupsFound{one}).rows(context.Background(), nil)) {
		rows = append(rows, list...)
	}
	return rows
}

// byAll are the groups that [Group] finds.
func byAll(t *testing.T, tab *table.Table, n *plan.Aggregate) (rows [][]table.Value) {
	for list, err := range InValues(Group(context.Background(), tab, n, whole(tab))) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, list...)
	}
	return rows
}

// Many groups, which are found part by part, are those that one worker finds, in the same order.
func TestManyGroups(t *testing.T) {
	tab := manyKeys(t)
	n := manyAggregates(tab)
	g := newGrouping(tab, n)
	for b := range whole(tab) {
		if !g.keys.deterministic() || !g.manyGroups(b) {
			t.Fatal("the groups are not found part by part")
		}
		break
	}
	of := func(kind expr.AggKind, col int) expr.Aggregate {
		return expr.Aggregate{Kind: kind, Col: col, Name: tab.Fields[col].Name, Arg: tab.Fields[col].Type}
	}
	different, median, all := of(expr.Count, 2), of(expr.Percentile, 2), of(expr.StringAgg, 5)
	different.Distinct, median.F, all.Separator = true, 0.5, &expr.Const{V: table.Str(", ")}
	lists := &plan.Aggregate{Keys: n.Keys, Aggs: []expr.Aggregate{different, median, all}}
	for _, n := range []*plan.Aggregate{n, lists} {
		if want, got := byOne(t, tab, n), byAll(t, tab, n); len(want) < 15_000 || !slices.EqualFunc(got, want, sameRow) {
			t.Fatalf("%d groups, want %d", len(got), len(want))
		}
	}
	rows := byOne(t, tab, n)
	// Those that an order has first are there, in the order of their first rows, whatever the key.
	for _, key := range []int{0, 1, 2, 7} { // there is no number for the last
		for _, dir := range []struct{ desc, nullsFirst bool }{{false, false}, {true, true}, {true, false}, {false, true}} {
			if key != 0 && (dir.desc != dir.nullsFirst || dir.desc != (key == 1)) {
				continue
			}
			by := &plan.Sort{Limit: 30, Keys: []expr.SortKey{{E: &expr.AggRef{Index: key}, Desc: dir.desc, NullsFirst: dir.nullsFirst}}}
			first := slices.Clone(rows)
			radixsort.Quickselect(first, int(by.Limit)-1, func(a, b []table.Value) bool { return by.Keys[0].Compare(a[key], b[key]) < 0 })
			last := first[by.Limit-1]
			var among [][]table.Value
			for _, row := range rows {
				if by.Keys[0].Compare(row[key], last[key]) <= 0 {
					among = append(among, row)
				}
			}
			some := *n
			some.TopN = by
			at, list := 0, byAll(t, tab, &some)
			for _, row := range list {
				if at < len(among) && sameRow(row, among[at]) {
					at++
				}
			}
			if at < len(among) || key == 0 && dir.desc == dir.nullsFirst && len(list) > len(among) {
				t.Errorf("by %d, %+v: %d groups, of %d that may be the first %d", key, dir, len(list), len(among), at)
			}
		}
	}
}

// Where nothing is wanted, or all, no group is lost.
func TestFirstGroupsOfFew(t *testing.T) {
	tab := integers(t, 1000, 400, func(r int64) int64 { return r % 10 }, func(r int64) int64 { return r })
	for first, least := range map[int64]int{0: 0, 3: 3, 10: 10, 50: 10, -1: 10} {
		n := &plan.Aggregate{Keys: []expr.Expr{column(tab, 0)}, Aggs: []expr.Aggregate{{Kind: expr.Sum, Col: 1, Name: "b", Arg: tab.Fields[1].Type}},
			TopN: &plan.Sort{Limit: first, Keys: []expr.SortKey{{E: &expr.AggRef{Index: 1}, Desc: true}}}}
		rows := byAll(t, tab, n)
		if len(rows) < least {
			t.Errorf("first %d: %v", first, rows)
		}
	}
}
