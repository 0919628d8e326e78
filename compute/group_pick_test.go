package compute

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Groups that are picked on the device are all groups that the bound wants, and few others. Those that are left out are counted.
// Bounds are of counts, of counts of values, of sums and of sums of products, at the ends of their ranges and beyond. First
// groups are more than there are; there are NULLs, ties and one hot group.
func TestGroupsArePicked(t *testing.T) {
	ctx := context.Background()
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for _, tab := range []*table.Table{
			gltest.GroupTable(9000, 1, [2]int{4000, 1}, true, false),
			gltest.GroupTable(3000, 1, [2]int{40, 2}, false, true),
			gltest.GroupTable(200, 1, [2]int{200, 1}, true, false),
		} {
			q, n := gltest.GroupQuery(t, tab, nil, 0)
			n.Aggs = append(slices.Clone(n.Aggs[:2]), n.Aggs[5:7]...) // count(x), sum(x), count(*), sum(x * y)
			q.Groups = n
			all := allGroups(t, aggregation.Group(ctx, tab, n, cpu.New(1).Rows(ctx, q)))
			for _, agg := range []int{0, 1, 2, 3} {
				values := valuesOf(all, 1+agg)
				middle := values[len(values)/2]
				for _, b := range []plan.GroupBound{
					{Lo: middle, Hi: math.MaxInt64}, {Lo: math.MinInt64, Hi: middle}, {Lo: middle, Hi: middle}, {Lo: middle + 1, Hi: middle}, {Lo: math.MaxInt64, Hi: math.MaxInt64},
					{First: 1}, {First: 1, Desc: true}, {First: 7, Desc: true}, {First: len(values), Desc: true}, {First: 1000},
				} {
					b.Agg = agg
					for kind, d := range Variants(gl.Caps()) {
						if d.PickWords = 0; d.WindowRows > 0 {
							continue
						}
						what := fmt.Sprintf("%d rows, %s, %+v", tab.Rows(), kind, b)
						checkPicked(t, what, g, d, q.Bounded(&b), n, all)
					}
				}
			}
		}
	})
}

// checkPicked compares the groups that a device picks with all groups.
func checkPicked(t *testing.T, what string, g *pass.GL, d Profile, q *physical.Query, n *plan.Aggregate, all map[string][]table.Value) {
	t.Helper()
	defer g.End()
	c, err := d.compile(q)
	if err != nil {
		if d.BlockLimit() <= 8 {
			return
		}
		t.Fatalf("%s: %v", what, err)
	}
	p := c.picking(g)
	if p == nil {
		t.Fatalf("%s: the groups are not picked", what)
	}
	states, ok, err := p.groups(c)
	if err != nil || !ok {
		t.Fatalf("%s: %v, %v", what, ok, err)
	}
	b, at := q.Bound, 1+q.Bound.Agg
	got := allGroups(t, aggregation.GroupStates(context.Background(), q.Table, n, states))
	if len(got)+states[0].Omitted != len(all) {
		t.Errorf("%s: %d groups and %d that are left out, there are %d", what, len(got), states[0].Omitted, len(all))
	}
	wanted := func(v table.Value) bool { return !v.Null && b.Lo <= v.I && v.I <= b.Hi }
	if values := valuesOf(all, at); b.First > 0 {
		if b.Desc {
			slices.Reverse(values)
		}
		last := values[min(b.First, len(values))-1]
		wanted = func(v table.Value) bool { return v.Null || !b.Desc && v.I <= last || b.Desc && v.I >= last }
	}
	missing := []string{}
	for key, row := range all {
		if of, ok := got[key]; ok && fmt.Sprint(of) != fmt.Sprint(row) || !ok && wanted(row[at]) {
			missing = append(missing, fmt.Sprint(row, of))
		}
	}
	if len(missing) > 0 {
		t.Errorf("%s: %d groups are missing or different: %.500s", what, len(missing), strings.Join(missing, "\n"))
	}
	if extra := len(got) - len(all); b.First == 0 && extra >= 0 && b.Lo > b.Hi {
		t.Errorf("%s: all groups are picked", what)
	}
}

// valuesOf are the values of a column that are not NULL, in order.
func valuesOf(groups map[string][]table.Value, col int) (list []int64) {
	for _, row := range groups {
		if !row[col].Null {
			list = append(list, row[col].I)
		}
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

// allGroups are groups by their first key.
func allGroups(t *testing.T, groups func(func(aggregation.GroupRows, error) bool)) map[string][]table.Value {
	t.Helper()
	all := map[string][]table.Value{}
	for rows, err := range aggregation.InValues(groups) {
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			all[fmt.Sprint(row[0])] = slices.Clone(row)
		}
	}
	return all
}

// Sums that are too wide, groups of several windows, and queries with checks are read as a whole.
func TestGroupsThatAreNotPicked(t *testing.T) {
	tab := gltest.GroupTable(9000, 1, [2]int{4000, 1}, false, false)
	d := ProfileAs(&glctx.Caps{Software: true, MaxStorageBlock: 1 << 27, Limits: map[string]int64{"MAX_TEXTURE_BUFFER_SIZE": 1 << 27}}, true)
	d.PickWords = 0
	for agg, want := range map[int]bool{1: true, 6: true, 7: false} { // the last is the sum of three factors
		q, _ := gltest.GroupQuery(t, tab, nil, 0)
		q = q.Bounded(&plan.GroupBound{Agg: agg, First: 10})
		c, err := d.compile(q)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.picking(&pass.Recorder{}) != nil; got != want {
			t.Errorf("aggregate %d is picked: %v, want %v", agg, got, want)
		}
	}
	d.WindowRows = 4096
	q, _ := gltest.GroupQuery(t, tab, nil, 0)
	c, err := d.compile(q.Bounded(&plan.GroupBound{Agg: 1, First: 10}))
	if err != nil || c.picking(&pass.Recorder{}) != nil {
		t.Errorf("groups of windows are picked, %v", err)
	}
	twice := gltest.GroupTable(9000, 2, [2]int{40, 1}, false, false)
	if q, _ := gltest.GroupQuery(t, twice, nil, 0); q.Bounded(&plan.GroupBound{Agg: 1, First: 10}) != q {
		t.Error("groups of several chunks have a bound")
	}
}
