package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// GroupingSets is an [Aggregate] by each of several sets of keys, one set after the other. It gives the keys,
// those that are not in the set as NULL. Then it gives a number that has bit i set where key i is not in the
// set, and the values of the aggregates. It is the data cube's roll up and drill down.
type GroupingSets struct {
	Input Node
	Keys  []expr.Expr
	Aggs  []expr.Aggregate
	Sets  [][]int // the keys of each, by their places
}

// Inputs, With, Fields and String implement [Node].
func (g *GroupingSets) Inputs() []Node { return []Node{g.Input} }
func (g *GroupingSets) With(inputs ...Node) Node {
	return &GroupingSets{inputs[0], g.Keys, g.Aggs, g.Sets}
}

func (g *GroupingSets) Fields() []table.Field {
	list := g.whole().Fields()
	return slices.Insert(list, len(g.Keys), table.Field{Name: "grouping", Type: table.Type{Kind: table.BigInt}})
}

// whole is the aggregation by all keys.
func (g *GroupingSets) whole() *Aggregate {
	return &Aggregate{Input: g.Input, Keys: g.Keys, Aggs: g.Aggs}
}

// Set is the aggregation by the keys of a set.
func (g *GroupingSets) Set(i int) *Aggregate {
	a := &Aggregate{Input: g.Input, Aggs: g.Aggs}
	for _, k := range g.Sets[i] {
		a.Keys = append(a.Keys, g.Keys[k])
	}
	return a
}

// Finest is the first set that has all keys of the others, as those of ROLLUP and CUBE have; -1 where none has.
func (g *GroupingSets) Finest() int {
	return slices.IndexFunc(g.Sets, func(set []int) bool {
		return !slices.ContainsFunc(g.Sets, func(of []int) bool { return !Contains(set, of) })
	})
}

// Contains reports that a set of keys has all of another.
func Contains(set, of []int) bool {
	return !slices.ContainsFunc(of, func(k int) bool { return !slices.Contains(set, k) })
}

// Row is a row of the aggregation by a set as one of all of them.
func (g *GroupingSets) Row(i int, row []table.Value) []table.Value {
	set, absent := g.Sets[i], int64(0)
	out := make([]table.Value, len(g.Keys), len(g.Keys)+1+len(g.Aggs))
	for k, e := range g.Keys {
		if at := slices.Index(set, k); at >= 0 {
			out[k] = row[at]
		} else {
			out[k], absent = table.Null(e.Type()), absent|1<<k
		}
	}
	return append(append(out, table.Int(absent)), row[len(set):]...)
}

// Chunk is [GroupingSets.Row] of a chunk with a column for each value of these rows.
func (g *GroupingSets) Chunk(i int, c *table.Chunk) *table.Chunk {
	set, absent := g.Sets[i], int64(0)
	out := &table.Chunk{Rows: c.Rows}
	same := func(t table.Type, base uint64) *table.Segment {
		return &table.Segment{Type: t, Base: base, Codes: table.Codes{U8: make([]uint8, c.Rows)}}
	}
	for k, e := range g.Keys {
		if at := slices.Index(set, k); at >= 0 {
			out.Segments = append(out.Segments, c.Segments[at])
			continue
		}
		s := same(e.Type(), 0)
		s.Valid, s.Nulls = table.NewBitmap(c.Rows), c.Rows
		out.Segments, absent = append(out.Segments, s), absent|1<<k
	}
	out.Segments = append(out.Segments, same(table.Type{Kind: table.BigInt}, table.OrdinalInt(absent)))
	out.Segments = append(out.Segments, c.Segments[len(set):]...)
	return out
}

// InputColumns is [Aggregate.InputColumns] of all keys.
func (g *GroupingSets) InputColumns() []int { return g.whole().InputColumns() }

func (g *GroupingSets) String() string {
	sets := xslices.Map(g.Sets, func(set []int) string {
		return "(" + listed(set, func(k int) string { return g.Keys[k].String() }) + ")"
	})
	return "GroupingSets(" + strings.TrimSpace(listed(g.Aggs, expr.Aggregate.String)+" BY "+strings.Join(sets, ", ")) + ")"
}
