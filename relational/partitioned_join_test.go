package relational_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

var keyType = table.Type{Kind: table.BigInt}

// keyTable is a table of one column in chunks, some of whose rows are NULL.
func keyTable(t *rapid.T, name string, rows, distinct int, wide bool) *table.Table {
	b := table.NewBuilder(name, []table.Field{{Name: "k", Type: keyType}}, max(64, rows/2))
	hot := rapid.IntRange(0, 3).Draw(t, "hot key")
	for row := range rows {
		v := table.Int(int64(row * 7919 % distinct))
		switch {
		case row%13 == 5:
			v = table.Null(v.Type)
		case row%7 < hot:
			v = table.Int(1)
		}
		if wide && !v.Null {
			v.I = v.I<<40 - 1<<62
		}
		b.Column(0).Value(v)
		if err := b.EndRow(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return b.Table()
}

// Pairs that are found bucket by bucket, and half by half, are those of two loops.
func TestPairsInBucketsAreThoseOfLoops(t *testing.T) {
	gltest.Run(t, 16<<20, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		rapid.Check(t, func(t *rapid.T) {
			wide := rapid.Bool().Draw(t, "64 bits")
			distinct := rapid.SampledFrom([]int{3, 40, 1000}).Draw(t, "distinct keys")
			var q physical.JoinQuery
			var tables [2]*table.Table
			for i := range q.Sides {
				tables[i] = keyTable(t, fmt.Sprint("t", i), rapid.IntRange(0, 300).Draw(t, "rows"), distinct, wide)
				k := &expr.Column{Name: "k", T: tables[i].Fields[0].Type, P: -1}
				var err error
				if q.Sides[i], err = physical.NewQuery(tables[i], &plan.Fragment{Table: tables[i].Name, Where: &expr.IsNull{X: k, Not: true, P: -1}}); err != nil {
					t.Fatalf("%v", err)
				}
			}
			q.Keys = []physical.JoinKey{{&expr.Column{T: keyType}, &expr.Column{T: keyType}}}
			q.Cmp, q.Algorithm, q.Exists, q.Limit = expr.EQ, rapid.SampledFrom([]string{"perfect", "hash", "merge"}).Draw(t, "way"), rapid.Bool().Draw(t, "exists"), 1<<20
			want := loops(tables, q.Exists)
			if rapid.IntRange(0, 4).Draw(t, "few wanted") == 0 {
				q.Limit = uint64(len(want) / 2)
			}
			room := int64(rapid.SampledFrom([]int{1 << 20, 1 << 13}).Draw(t, "room"))
			var sides [2][]physical.Bucket
			for i := range sides {
				var err error
				if sides[i], err = join.Partition(context.Background(), cpu.New(0), &q, i, relational.BucketBits(&q, room)); err != nil {
					t.Fatalf("%v", err)
				}
			}
			got, err := relational.PairsInBuckets(g, d, &q, sides, room)
			g.End()
			if err != nil {
				t.Fatalf("%v", err)
			}
			if got.N != uint64(len(want)) {
				t.Fatalf("%d pairs, loops find %d", got.N, len(want))
			}
			if got.N > q.Limit || got.N == 0 {
				if got.Rows[0] != nil && got.N > 0 {
					t.Fatalf("%d pairs, of which %d are wanted", len(got.Rows[0]), q.Limit)
				}
				return
			}
			var list [][2]uint32
			for i, row := range got.Rows[0] {
				pair := [2]uint32{row}
				if !q.Exists {
					pair[1] = got.Rows[1][i]
				}
				list = append(list, pair)
			}
			slices.SortFunc(list, func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
			if !slices.Equal(list, want) {
				t.Fatalf("pairs %v, loops find %v", list, want)
			}
		})
	})
}

// loops are the pairs of rows with equal keys, in order; exists asks for the left rows alone, each once.
func loops(t [2]*table.Table, exists bool) (pairs [][2]uint32) {
	values := func(t *table.Table) (list []table.Value) {
		for _, c := range t.Chunks {
			for row := range c.Rows {
				list = append(list, c.Segments[0].Value(row))
			}
		}
		return list
	}
	right := values(t[1])
	for i, a := range values(t[0]) {
		for j, b := range right {
			if a.Null || b.Null || table.Compare(a, b) != 0 {
				continue
			}
			if exists {
				pairs = append(pairs, [2]uint32{uint32(i)})
				break
			}
			pairs = append(pairs, [2]uint32{uint32(i), uint32(j)})
		}
	}
	return pairs
}
