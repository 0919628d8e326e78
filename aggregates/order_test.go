package aggregates_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// sortedByHand are the selected rows of a table of one chunk in the order of keys.
func sortedByHand(t *rapid.T, q *physical.Query, keys []expr.SortKey) (rows []uint32) {
	for b, err := range cpu.New(0).Rows(context.Background(), q) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			rows = append(rows, uint32(b.Row(i)))
		}
	}
	segments := q.Table.Chunks[0].Segments
	slices.SortStableFunc(rows, func(a, b uint32) int {
		for _, k := range keys {
			x, y := segments[k.E.(*expr.Column).Index].Value(int(a)), segments[k.E.(*expr.Column).Index].Value(int(b))
			c := 0
			switch {
			case x.Null || y.Null:
				if c = map[bool]int{true: 1}[x.Null] - map[bool]int{true: 1}[y.Null]; k.NullsFirst {
					c = -c
				}
			case k.Desc:
				c = table.Compare(y, x)
			default:
				c = table.Compare(x, y)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// keysOf are the keys of rows in their order, alone.
func keysOf(tab *table.Table, key expr.SortKey, rows []uint32) (values []table.Value) {
	for _, row := range rows {
		values = append(values, tab.Chunks[0].Segments[key.E.(*expr.Column).Index].Value(int(row)))
	}
	return values
}

// The networks order rows, and values alone, as a sort on the host does. There are columns of every type, NULLs at
// both ends, conditions, deleted rows and limits.
func TestOrderAgreesWithASort(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		ordered, blended := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			knobs := plantest.Default()
			tab := plantest.Table(t, knobs)
			tab = tab.With(tab.Chunks[:min(1, len(tab.Chunks))]...)
			if len(tab.Chunks) == 0 {
				return
			}
			var keys []expr.SortKey
			for range rapid.IntRange(1, 3).Draw(t, "keys") {
				i := rapid.IntRange(0, len(tab.Fields)-1).Draw(t, "column")
				f := tab.Fields[i]
				keys = append(keys, expr.SortKey{E: &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1},
					Desc: rapid.Bool().Draw(t, "DESC"), NullsFirst: rapid.Bool().Draw(t, "NULLS FIRST")})
			}
			first := rapid.Int64Range(-1, 20).Draw(t, "LIMIT")
			f := &plan.Fragment{Table: tab.Name, Order: &plan.Sort{Keys: keys, Limit: first}, KeyOnly: len(keys) == 1 && rapid.Bool().Draw(t, "values alone")}
			if rapid.Bool().Draw(t, "WHERE") {
				f.Where = plantest.Where(t, tab, knobs)
			}
			q, err := physical.NewQuery(tab, f)
			if err != nil || len(q.Chunks[0].Checks) > 0 {
				return
			}
			got, err := aggregates.Order(g, predicates.LimitsOf(ctx.Caps()), q)
			g.End()
			if declined := (*plan.Declined)(nil); errors.As(err, &declined) { // keys of more than 96 bits
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := sortedByHand(t, q, keys)
			if first >= 0 {
				want = want[:min(len(want), int(first))]
			}
			if got.Keys != nil {
				blended++
				all := make([]uint32, got.Keys.Rows())
				for i := range all {
					all[i] = uint32(i)
				}
				alone := &table.Table{Chunks: []*table.Chunk{{Segments: []*table.Segment{got.Keys}}}}
				if got, want := fmt.Sprint(keysOf(alone, expr.SortKey{E: &expr.Column{}}, all)), fmt.Sprint(keysOf(tab, keys[0], want)); !f.KeyOnly || got != want { // NaN is not itself
					t.Fatalf("ORDER BY %v, %d rows: keys %s, want %s", keys, first, got, want)
				}
				return
			}
			if !slices.Equal(got.Rows, want) {
				t.Fatalf("ORDER BY %v, %d rows: %v, want %v", keys, first, got.Rows, want)
			}
			ordered++
		})
		if ordered == 0 || blended == 0 {
			t.Errorf("%d tables were ordered, and the values of %d alone", ordered, blended)
		}
	})
}

// Three words hold a key of 64 bits and one of 32 that may be NULL in part, but not two of 64.
func TestOrderHasThreeWordsForKeys(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		integer := table.Type{Kind: table.BigInt}
		b := table.NewBuilder("t", []table.Field{{Name: "a", Type: integer}, {Name: "b", Type: integer}, {Name: "c", Type: integer}}, 0)
		for i := range int64(10) {
			b.Column(0).Int((i - 5) << 60)
			b.Column(1).Int((5 - i) << 60)
			b.Column(2).Int(i << 28)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		for _, c := range []struct {
			columns  []int
			declined bool
		}{{[]int{0, 2}, false}, {[]int{2, 1}, false}, {[]int{0, 1}, true}, {[]int{2, 0, 2}, true}} {
			var keys []expr.SortKey
			for _, i := range c.columns {
				keys = append(keys, expr.SortKey{E: &expr.Column{Index: i, Name: "abc"[i : i+1], T: integer}})
			}
			q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Order: &plan.Sort{Keys: keys, Limit: -1}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := aggregates.Order(g, predicates.LimitsOf(ctx.Caps()), q)
			g.End()
			if plan.IsDeclined(err) != c.declined || !c.declined && (err != nil || len(got.Rows) != 10) {
				t.Errorf("ORDER BY %v: %v, %v", keys, got.Rows, err)
			}
		}
	})
}

// All numbers of records around powers of two, the network's sizes.
func TestOrderOfFewRecords(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for n := 1; n <= 130; n++ {
			b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 0)
			for i := range n {
				b.Column(0).Int(int64(i * 7919 % 31))
				if err := b.EndRow(); err != nil {
					t.Fatal(err)
				}
			}
			tab := b.Table()
			key := expr.SortKey{E: &expr.Column{Name: "a", T: table.Type{Kind: table.BigInt}}}
			order := func(alone bool) physical.SortedRun {
				q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Order: &plan.Sort{Limit: -1, Keys: []expr.SortKey{key}}, KeyOnly: alone})
				if err != nil {
					t.Fatal(err)
				}
				got, err := aggregates.Order(g, predicates.LimitsOf(ctx.Caps()), q)
				g.End()
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			rows, keys := order(false).Rows, order(true).Keys
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(a*7919%31, b*7919%31) })
			if !slices.Equal(rows, want) {
				t.Fatalf("%d records: %v, want %v", n, rows, want)
			}
			for i, v := range keysOf(tab, key, want) {
				if keys.Rows() != n || keys.Value(i) != v {
					t.Fatalf("%d records: key %d of %d is %v, want %v", n, i, keys.Rows(), keys.Value(i), v)
				}
			}
		}
	})
}
