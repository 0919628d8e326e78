package relational

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// foundGroups compares the groups that a device finds with others, as text. It is false where the device has too few
// images, of which columns with NULLs take two each.
func foundGroups(t *testing.T, what string, g *pass.GL, d compute.Profile, q *physical.Query, n *plan.Aggregate, want []string) bool {
	t.Helper()
	defer g.End()
	states, err := Groups(g, d, q)
	if plan.IsDeclined(err) && d.BlockLimit() <= 8 {
		return false
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := rowsOf(aggregation.GroupStates(context.Background(), q.Table, n, states))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s: %v\n%.2000s", what, err, diff)
	}
	return true
}

// rowsOf lists groups as text.
func rowsOf(groups iter.Seq2[aggregation.GroupRows, error]) (list []string, err error) {
	for rows, err := range aggregation.InValues(groups) {
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			list = append(list, fmt.Sprint(row))
		}
	}
	return list, nil
}

// Groups are those of cpu, at the ends of what a device takes. There are no rows, one group, a hot
// group, and as many slots as there may be, in shared memory and in the result. There are NULLs among
// keys and values, deleted rows, several chunks and windows.
func TestGroupsAreThoseOfCPU(t *testing.T) {
	small := &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 2, Name: "x", T: table.Type{Kind: table.BigInt}}, R: &expr.Const{V: table.Int(1 << 28)}}
	never := &expr.Compare{Op: expr.GT, L: small.L, R: &expr.Const{V: table.Int(1 << 40)}}
	deleted := gltest.GroupTable(20_000, 1, [2]int{40, 3}, true, false)
	gone, err := deleted.Chunks[0].Delete([]int{0, 1, 2, 8191, 8192, 19_999})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		memories := map[any]bool{}
		for _, c := range []struct {
			name  string
			tab   *table.Table
			where expr.Expr
			keys  []int
		}{
			{"one row", gltest.GroupTable(1, 1, [2]int{1, 1}, false, false), nil, []int{0}},
			{"one group", gltest.GroupTable(9000, 1, [2]int{1, 1}, false, false), small, []int{0, 1}},
			{"two groups", gltest.GroupTable(9000, 1, [2]int{2, 1}, false, false), nil, []int{0}},
			{"NULLs", gltest.GroupTable(9000, 1, [2]int{7, 1}, true, false), small, []int{0, 1}},
			{"nothing selected", gltest.GroupTable(9000, 1, [2]int{7, 5}, true, false), never, []int{0}},
			{"nothing selected of some", gltest.GroupTable(9000, 1, [2]int{7, 5}, true, false), &expr.And{Kids: []expr.Expr{small, &expr.Not{X: small}}}, []int{0}},
			{"chunks", gltest.GroupTable(50_000, 4, [2]int{1000, 9}, true, false), small, []int{0}},
			{"two keys", gltest.GroupTable(30_000, 2, [2]int{100, 9}, true, false), nil, []int{1, 0}},
			{"a hot group", gltest.GroupTable(40_000, 1, [2]int{300, 2}, false, true), nil, []int{0}},
			{"most slots", gltest.GroupTable(70_000, 1, [2]int{physical.MaxSlots, 1}, false, false), small, []int{0}},
			{"deleted rows", deleted.With(gone), nil, []int{0, 1}},
		} {
			q, n := gltest.GroupQuery(t, c.tab, c.where, c.keys...)
			want, err := rowsOf(aggregation.Group(ctx, c.tab, n, cpu.New(1).Rows(ctx, q)))
			if err != nil {
				t.Fatal(err)
			}
			for kind, d := range groupDevices(gl) {
				if !foundGroups(t, c.name+", "+kind, g, d, q, n, want) || d.SortGroups > 0 {
					continue
				}
				shown := &pass.Recorder{}
				if _, err := Groups(shown, d, q); err != nil {
					t.Fatal(err)
				}
				for _, p := range shown.Passes {
					if op, ok := p.Op.(compute.Group); ok {
						memories[op.In] = true
					}
				}
			}
		}
		if len(memories) < 4 {
			t.Errorf("slots lie %v", memories)
		}
	})
}

// Aggregates with a FILTER, of one group, of few and of many: of some records, of all and of none, beside those without.
func TestFilteredGroupsAreThoseOfCPU(t *testing.T) {
	bigint := table.Type{Kind: table.BigInt}
	column := func(i int) expr.Expr { return &expr.Column{Index: i, Name: "abxy"[i : i+1], T: bigint} }
	above := func(col int, v int64) expr.Expr {
		return &expr.Compare{Op: expr.GT, L: column(col), R: &expr.Const{V: table.Int(v)}}
	}
	product := &expr.Arith{Op: expr.Mul, L: column(2), R: column(3), T: bigint}
	n := plan.Aggregate{Aggs: []expr.Aggregate{
		{Kind: expr.Sum, Col: -1, X: product, Name: "x * y", Arg: bigint, Filter: above(3, 100)}, {Kind: expr.Sum, Col: -1, X: product, Name: "x * y", Arg: bigint},
		{Kind: expr.Max, Col: 2, Name: "x", Arg: bigint, Filter: above(3, 100)}, {Kind: expr.CountAll, Col: -1, Filter: above(3, 100)},
		{Kind: expr.Count, Col: 2, Name: "x", Arg: bigint, Filter: above(2, 1<<27)}, {Kind: expr.Min, Col: 2, Name: "x", Arg: bigint, Filter: above(3, 1<<40)},
		{Kind: expr.Avg, Col: 2, Name: "x", Arg: bigint, Filter: &expr.Not{X: above(3, 1<<40)}},
	}}
	deleted := gltest.GroupTable(20_000, 2, [2]int{3, 3}, false, false)
	gone, err := deleted.Chunks[0].Delete([]int{0, 1, 2, 8191, 8192, 9_999})
	if err != nil {
		t.Fatal(err)
	}
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		taken := 0
		for _, c := range []struct {
			name  string
			tab   *table.Table
			where expr.Expr
			keys  []int
		}{
			{"no keys", gltest.GroupTable(40_000, 3, [2]int{9, 2}, true, false), above(2, 1<<20), nil},
			{"no keys, no rows", gltest.GroupTable(9000, 1, [2]int{9, 2}, false, false), above(2, 1<<40), nil},
			{"few groups", gltest.GroupTable(70_000, 2, [2]int{3, 2}, true, false), above(2, 1<<28), []int{0, 1}},
			{"few groups, deleted rows", deleted.With(gone, deleted.Chunks[1]), nil, []int{0, 1}},
			{"groups", gltest.GroupTable(20_000, 1, [2]int{500, 2}, false, false), nil, []int{0}},
		} {
			n := n
			for _, k := range c.keys {
				n.Keys = append(n.Keys, column(k))
			}
			q := gltest.QueryOf(t, c.tab, c.where, &n)
			ctx := context.Background()
			want, err := rowsOf(aggregation.Group(ctx, c.tab, &n, cpu.New(1).Rows(ctx, q)))
			if err != nil {
				t.Fatal(err)
			}
			for kind, d := range compute.Variants(gl.Caps()) {
				if foundGroups(t, c.name+", "+kind, g, d, q, &n, want) {
					taken++
				}
			}
		}
		if taken < 8 {
			t.Errorf("%d were taken", taken)
		}
	})
}

// groupDevices are the devices, and each with the groups of all queries found by a sort.
func groupDevices(gl *glctx.Context) map[string]compute.Profile {
	all := map[string]compute.Profile{}
	for kind, d := range compute.Variants(gl.Caps()) {
		all[kind] = d
		d.SortGroups = 1
		all[kind+", sorted"] = d
	}
	return all
}

// A sort finds groups by keys with more combinations of codes than a device has slots. There are keys of 64
// bits, several keys, NULLs, and each row a group of its own.
func TestManyGroupsAreThoseOfCPU(t *testing.T) {
	bigint := table.Type{Kind: table.BigInt}
	sparse := table.NewBuilder("t", []table.Field{{Name: "a", Type: bigint}, {Name: "b", Type: bigint}, {Name: "x", Type: bigint}, {Name: "y", Type: bigint}}, 10_000)
	rng := rand.New(rand.NewPCG(64, 64))
	for i := range 20_000 {
		n := rng.Int64N(3000)
		a := table.Int([]int64{math.MinInt64, math.MaxInt64, n * 0x1234567890ab, -n * 0x1234567890ab}[rng.IntN(4)])
		if rng.IntN(10) == 0 {
			a = table.Null(bigint)
		}
		for col, v := range []table.Value{a, table.Int(int64(rng.IntN(3)) << 40), table.Int(rng.Int64N(1 << 30)), table.Int(int64(i))} {
			sparse.Column(col).Value(v)
		}
		if err := sparse.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	wide := sparse.Table()
	small := &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 2, Name: "x", T: bigint}, R: &expr.Const{V: table.Int(1 << 28)}}
	ctx := context.Background()
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for _, c := range []struct {
			name  string
			tab   *table.Table
			where expr.Expr
			keys  []int
		}{
			{"64 bits", wide, nil, []int{0}},
			{"two wide keys", wide, small, []int{0, 1}},
			{"each row a group", wide, nil, []int{3}},
			{"more than slots", gltest.GroupTable(70_000, 1, [2]int{physical.MaxSlots + 1, 1}, false, false), small, []int{0}},
			{"two keys", gltest.GroupTable(70_000, 3, [2]int{5000, 300}, true, true), nil, []int{0, 1}},
		} {
			q, n := gltest.GroupQuery(t, c.tab, c.where, c.keys...)
			want, err := rowsOf(aggregation.Group(ctx, c.tab, n, cpu.New(1).Rows(ctx, q)))
			if err != nil {
				t.Fatal(err)
			}
			for kind, d := range compute.Variants(gl.Caps()) {
				d.SortGroups = 1
				foundGroups(t, c.name+", "+kind, g, d, q, n, want)
			}
		}
	})
}

// More combinations of codes than are read back have slots on the device where they are not many more than rows. The groups
// that there are are picked of these, of all records or of some, or of none. A sweep takes in a window of the slots.
func TestManyGroupsOfSlots(t *testing.T) {
	less := func(n int64) expr.Expr {
		return &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 2, Name: "x", T: table.Type{Kind: table.BigInt}}, R: &expr.Const{V: table.Int(n)}}
	}
	ctx := context.Background()
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for name, where := range map[string]expr.Expr{"all": nil, "some": less(1 << 28), "few": less(1 << 20), "none": less(math.MinInt64)} {
			tab := gltest.GroupTable(60_000, 1, [2]int{30_000, 2}, true, true)
			q, n := gltest.GroupQuery(t, tab, where, 0, 1)
			want, err := rowsOf(aggregation.Group(ctx, tab, n, cpu.New(1).Rows(ctx, q)))
			if err != nil {
				t.Fatal(err)
			}
			for kind, d := range compute.Variants(gl.Caps()) {
				d.SortGroups, d.SlotWindow = physical.MaxSlots+1, 1<<16
				_, ok, err := compute.PickedGroups(g, d, q.Bounded(&plan.GroupBound{All: true}))
				g.End()
				if err != nil || kind == "own" && ok != (name != "none") {
					t.Errorf("%s, %s: %v, %v", name, kind, ok, err)
				}
				states, err := ManyGroups(g, d, q)
				g.End()
				if err != nil {
					t.Fatalf("%s, %s: %v", name, kind, err)
				}
				if got, err := rowsOf(aggregation.GroupStates(ctx, tab, n, states)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %s: %d groups, want %d, %v", name, kind, len(got), len(want), err)
				}
			}
		}
	})
}

// What a device does not take is left to cpu, by name.
func TestGroupsThatAreDeclined(t *testing.T) {
	tab := gltest.GroupTable(70_000, 1, [2]int{physical.MaxSlots, 2}, false, false)
	d := compute.ProfileAs(&glctx.Caps{Software: true}, true)
	for _, c := range []struct {
		change func(n *plan.Aggregate)
		keys   []int
		want   string
	}{
		{func(*plan.Aggregate) {}, []int{0, 1}, "the codes of the keys have more than 65536 combinations"},
		{func(n *plan.Aggregate) { n.Aggs[1].Distinct = true }, []int{1}, "groups with SUM(DISTINCT x) are cpu's"},
		{func(n *plan.Aggregate) { n.Aggs[1].Kind = expr.StddevPop }, []int{1}, "groups with stddev_pop(x) are cpu's"},
	} {
		q, n := gltest.GroupQuery(t, tab, nil, c.keys...)
		n.Aggs = slices.Clone(n.Aggs)
		c.change(n)
		if _, err := compute.Groups(&pass.Recorder{}, d, q); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
