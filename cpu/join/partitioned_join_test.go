package join_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// The pairs of the buckets of both sides are those of two loops over the rows. Sides are tables and lists of their rows, and
// comparisons are of all kinds.
func TestPairsOfDealtBucketsAreThoseOfLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := [2]table.Type{{Kind: table.BigInt}, {Kind: table.Varchar}}
		wide := rapid.Int64Range(0, 40).Draw(t, "shift")
		value := func(i int) (list [2]table.Value) {
			k := rapid.Int64Range(-3, 12).Draw(t, "key")
			if list = [2]table.Value{table.Int(k << wide), table.Str(string(rune('a' + k + 4)))}; k == 12 {
				list[i%2] = table.Null(types[i%2])
			}
			return list
		}
		q := &physical.JoinQuery{Cmp: rapid.SampledFrom([]expr.CmpOp{expr.EQ, expr.EQ, expr.LT, expr.LE, expr.NE, expr.GE, expr.GT}).Draw(t, "op"), Exists: rapid.Bool().Draw(t, "exists")}
		columns := 1
		if q.Cmp == expr.EQ {
			columns = rapid.IntRange(1, 2).Draw(t, "columns")
		}
		var rows [2][][2]table.Value // what the numbers in pairs stand for
		var where expr.Expr
		for i := range columns {
			c := &expr.Column{Index: i, Name: "k", T: types[i], P: -1}
			where = plan.Conjunction(append(plan.Conjuncts(where), &expr.IsNull{X: c, Not: true, P: -1}))
			q.Keys = append(q.Keys, physical.JoinKey{c, c})
		}
		for side := range rows {
			b := table.NewBuilder("t", []table.Field{{Name: "i", Type: types[0]}, {Name: "s", Type: types[1]}}, 64)
			for i := range rapid.IntRange(0, 150).Draw(t, "rows") {
				v := value(i)
				rows[side] = append(rows[side], v)
				b.Column(0).Value(v[0])
				b.Column(1).Value(v[1])
				if err := b.EndRow(); err != nil {
					t.Fatalf("%v", err)
				}
			}
			var err error
			if q.Sides[side], err = physical.NewQuery(b.Table(), &plan.Fragment{Table: "t", Where: where}); err != nil {
				t.Fatalf("%v", err)
			}
			if all := rows[side]; len(all) > 0 && rapid.Bool().Draw(t, "by a list") {
				rows[side], q.RowIDs[side].Rows = nil, []uint32{}
				for range rapid.IntRange(0, 99).Draw(t, "list") {
					row, v := uint32(rapid.IntRange(0, len(all)).Draw(t, "row")), [2]table.Value{table.Null(types[0]), table.Null(types[1])}
					if int(row) == len(all) {
						row = math.MaxUint32 // of no row
					} else {
						v = all[row]
					}
					rows[side], q.RowIDs[side].Rows = append(rows[side], v), append(q.RowIDs[side].Rows, row)
				}
			}
		}
		var want, got [][2]uint32
		for i, l := range rows[0] {
			for k, r := range rows[1] {
				is := true
				for c := range columns {
					order := 0
					if !l[c].Null && !r[c].Null {
						order = table.Compare(l[c], r[c])
					}
					is = is && !l[c].Null && !r[c].Null && [...]bool{order < 0, order <= 0, order == 0, order != 0, order >= 0, order > 0}[q.Cmp]
				}
				if is && q.Exists {
					want = append(want, [2]uint32{uint32(i)})
					break
				} else if is {
					want = append(want, [2]uint32{uint32(i), uint32(k)})
				}
			}
		}
		log := 0
		if q.Cmp == expr.EQ {
			log = rapid.IntRange(0, 5).Draw(t, "log")
		}
		if log == 0 {
			q.Algorithm = rapid.SampledFrom([]string{"loops", "hash"}).Draw(t, "way")
		}
		var sides [2][]physical.Bucket
		for i := range sides {
			var err error
			if sides[i], err = join.Partition(context.Background(), cpu.New(0), q, i, log); err != nil {
				t.Fatalf("%v", err)
			}
		}
		n := 0
		for i := range sides[0] {
			right := sides[1][i]
			if q.Cmp != expr.EQ || q.Algorithm == "loops" {
				right = join.SortBucket(right)
			}
			found := join.JoinBuckets(q, sides[0][i], right, true)
			if counted := join.JoinBuckets(q, sides[0][i], right, false); counted.N != found.N || counted.Rows[0] != nil {
				t.Fatalf("%d pairs are counted, %d are found", counted.N, found.N)
			}
			n += int(found.N)
			for k, row := range found.Rows[0] {
				pair := [2]uint32{row}
				if !q.Exists {
					pair[1] = found.Rows[1][k]
				}
				got = append(got, pair)
			}
		}
		slices.SortFunc(got, func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		if !slices.Equal(got, want) || n != len(want) {
			t.Fatalf("%v: %d pairs %v, loops find %v", q.Cmp, n, got, want)
		}
	})
}
